"""The body of a function under construction, with what torch adds to it."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.frontend import body
from ttmlir.frontend.body import Shape
from ttmlir.frontend.torch.elements import elements_of_tensor, numbers_of_tensor
from ttmlir.frontend.torch.packing import pack

__all__ = ["BodyBuilder", "Shape"]


class BodyBuilder(body.BodyBuilder):
    """Appends operations to a block, at the location that was set last."""

    def __init__(self, block: Block) -> None:
        """Build in an empty block."""
        super().__init__(block)
        self.complex_views: dict[SSAValue, SSAValue] = {}
        """Complex tensors by the pairs of real ones that `view_as_real` gave of them."""

    def array_of_known(self, tensor: Any, constant: SSAValue) -> Array:
        """A torch tensor as an array of numbers, which is this constant where a value is needed."""
        if tensor.is_complex():
            return self.array(constant)
        numbers = array_of(numbers_of_tensor(tensor))
        self.carrier.remember(numbers, constant)
        return numbers

    def create_tensor(self, tensor: object) -> SSAValue:
        """A constant of the numbers of a torch tensor; weights of few bits are kept packed."""
        packed = pack(tensor)
        elements = elements_of_tensor(tensor if packed is None else packed.bytes)
        constant = self.create_constant(elements, elements.type)
        return constant if packed is None else self.value_of(packed.unpack(self.array(constant)))
