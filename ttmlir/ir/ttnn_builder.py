"""The builder of ttnn operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttnn
from ttmlir.dialects.ttnn.families import DEVICE_OPERAND
from ttmlir.ir.op_builder import DestinationBuilder

if TYPE_CHECKING:
    from typing import Self

    from ttmlir.dialects.definition.row_ops import ParameterValue


def takes_device(cls: type[Operation]) -> bool:
    """True for operations whose last operand is the device that they run on."""
    if not issubclass(cls, ttnn.TTNNOp):
        return False
    operands = cls.SIGNATURE.operands
    return bool(operands) and operands[-1] is DEVICE_OPERAND


class TTNNBuilder(DestinationBuilder):
    """Creates ttnn operations at one place, whose tensors are on one device."""

    device: SSAValue
    """What `ttnn.get_device` returned."""

    @classmethod
    def on(cls, device: SSAValue, op: Operation) -> Self:
        """A builder before `op`."""
        builder = cls.before(op)
        builder.device = device
        return builder

    def create_empty(self, type_: Attribute, **properties: Attribute) -> SSAValue:
        """A tensor on the device whose elements are undefined; `properties` repeat its type."""
        new = ttnn.EmptyOp.make(self.device, type_, location=self.location)
        new.properties.update(properties)
        return self.insert(new).results[0]

    def create(
        self,
        mnemonic: str,
        inputs: Sequence[SSAValue],
        result_type: Attribute,
        *,
        output: SSAValue | None = None,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An operation by its mnemonic, whose row names the parameters.

        It writes to `output` if that is given.
        """
        cls = cast("type[ttnn.TTNNRowOp]", ttnn.op_class(mnemonic))
        properties = self.properties_of(cls, parameters)
        new = self.create_op(
            cls,
            inputs,
            (result_type,),
            properties,
            inits=None if output is None else (output,),
            device=self.device if takes_device(cls) else None,
        )
        return new.results[0]
