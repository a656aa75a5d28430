"""The ttir operations that are written out: structure, memory and constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import ConstantLike, HasFolder, IsTerminator, Pure, ReturnLike

from ttmlir.dialects.alloc import AllocatingOp
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.layout_checks import check_to_layout
from ttmlir.dialects.definition.ods import ODSOperation, Property, Signature, ValueGroup, refuse
from ttmlir.dialects.definition.row_ops import RowOperation, properties_of
from ttmlir.dialects.definition.shape_checks import check_arange, check_constant
from ttmlir.dialects.definition.traits import KeepsConstants
from ttmlir.dialects.ttir.families import OPERAND_CONSTRAINTS, TTIROp
from ttmlir.dialects.ttir.metal_cast import TTNNMetalLayoutCastOp
from ttmlir.optable import row

if TYPE_CHECKING:
    from ttmlir.program.custom_kernel import CustomKernel

_TENSORS_IN_AND_OUT = (ValueGroup("inputs", variadic=True), ValueGroup("outputs", variadic=True))
_RESULT = (ValueGroup("result"),)


class GenericOp(TTIROp):
    """Work that a grid of cores does on the shards of its operands.

    The region is what one core computes; its block arguments correspond to the operands, inputs
    first. As in `linalg.generic`, `indexing_maps` map the iteration space, whose dimensions
    `iterator_types` describes, to the shards of each operand. The body ends in `ttir.yield`.

    C1: as many block arguments as operands.

    Example:
        %r = "ttir.generic"(%a, %b, %o) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map],
            iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}> ({
          ^bb0(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>):
            %s = arith.addf %x, %y : tensor<4x8xf32>
            "ttir.yield"(%s) : (tensor<4x8xf32>) -> ()
        }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    name = "ttir.generic"
    SIGNATURE: ClassVar = Signature(
        operands=_TENSORS_IN_AND_OUT,
        results=(ValueGroup("results", variadic=True),),
        properties=(
            Property("grid", ods.named_attr("tt.grid")),
            Property("indexing_maps", ods.MAP_ARRAY),
            Property(
                "iterator_types",
                ods.array_attr("", lambda item: item.name == "tt.iterator_type"),
            ),
            OPERAND_CONSTRAINTS,
        ),
        regions=1,
        init="outputs",
    )
    # What a core computes is compiled by itself, its constants included.
    traits = traits_def(KeepsConstants())

    @property
    def body(self) -> Region:
        """What one core computes."""
        return self.regions[0]

    @property
    def output_argument(self) -> BlockArgument[Attribute]:
        """What the body has for the init of an operation that has one."""
        return self.body.block.args[self.init_range[0]]

    def verify_op(self) -> None:
        """Compare the number of block arguments with the number of operands (C1)."""
        first = self.body.first_block
        arguments = 0 if first is None else len(first.args)
        if arguments != len(self.operands):
            refuse("The number of op operands and region/block operands must match")


class ToLayoutOp(TTIROp):
    """A tensor in another layout: memory, grid, tiling, sharding or element type.

    C1, C2: input and output carry a `#tt.layout`. C3: equal shapes.

    Example:
        %1 = "ttir.to_layout"(%0, %out) :
            (tensor<64x128xf32, #layout>, tensor<64x128xf32, #layout1>)
            -> tensor<64x128xf32, #layout1>
    """

    name = "ttir.to_layout"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("input"), ValueGroup("output")), results=_RESULT, init="output"
    )

    def verify_op(self) -> None:
        """Check the layouts (C1, C2) and shapes (C3)."""
        check_to_layout(self)


class AllocOp(AllocatingOp):
    """Memory at a fixed address for a tensor."""

    name = "ttir.alloc"


class DeallocOp(ODSOperation):
    """The end of the life of a tensor's memory."""

    name = "ttir.dealloc"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("result"),))


class _ConstantFolds(HasFolder):
    """A constant folds to its value."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute]:
        """The value of the constant."""
        return (op.properties["value"],)


class ConstantOp(RowOperation):
    """A tensor whose elements stand in the program.

    The element type of the value may differ from the result's. Equal constants are merged by passes
    that fold; an unused one stays.

    C1: value and result have the same shape.

    Example:
        %0 = "ttir.constant"() <{value = dense<[0.2, 1.3]> : tensor<2xf32>}> : () -> tensor<2xf32>
    """

    name = "ttir.constant"
    ROW: ClassVar = row("constant")
    PARAMETERS: ClassVar = ROW.ttir_signature
    SIGNATURE: ClassVar = Signature(results=_RESULT, properties=properties_of(PARAMETERS))
    CHECK = staticmethod(check_constant)
    traits = traits_def(ConstantLike(), _ConstantFolds())

    @property
    def value(self) -> Attribute:
        """The elements."""
        return self.properties["value"]


class ArangeOp(RowOperation):
    """Evenly spaced numbers along a dimension, the same along all others.

    C1: the step is not 0. C2: the dimension is one of the result's. C3: the result's extent there
    is the number of values from `start` to below `end`.

    Example:
        %0 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 10 : si64, start = 0 : si64,
            step = 2 : si64}> : () -> tensor<3x5xf32>
    """

    name = "ttir.arange"
    ROW: ClassVar = row("arange")
    PARAMETERS: ClassVar = ROW.ttir_signature
    SIGNATURE: ClassVar = Signature(results=_RESULT, properties=properties_of(PARAMETERS))
    CHECK = staticmethod(check_arange)


class KernelOp(TTIROp):
    """Call of a kernel that the backend knows by name.

    Operands and results are tensors or memrefs of rank 1 or more; only tensors take part in the
    destination-passing style.
    """

    name = "ttir.kernel"
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("inputs", ods.TENSOR_OR_MEMREF, variadic=True),
            ValueGroup("outputs", ods.TENSOR_OR_MEMREF, variadic=True),
        ),
        results=(ValueGroup("results", ods.TENSOR_OR_MEMREF, variadic=True),),
        properties=(
            Property("op", ods.FLAT_SYMBOL),
            Property("kind", ods.FLAT_SYMBOL),
            OPERAND_CONSTRAINTS,
        ),
        init="outputs",
    )


class CustomKernelOp(TTIROp):
    """Kernels of the user's: a program in C++ that comes with the tensors that it is for.

    `config` is the text of the program, the `backend_config` of a custom call of `tt.kernel`
    (docs/bridge.md). It reads the inputs and makes the outputs.

    C1: the text is a program. C2: operands and results are the tensors that it is for.

    Example:
        %1 = "ttir.custom_kernel"(%x, %out) <{config = "{...}", operandSegmentSizes =
            array<i32: 1, 1>, operand_constraints = [#dram_tile, #dram_tile]}> :
            (tensor<5x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
    """

    name = "ttir.custom_kernel"
    SIGNATURE: ClassVar = Signature(
        operands=_TENSORS_IN_AND_OUT,
        results=(ValueGroup("results", variadic=True),),
        properties=(Property("config", ods.STRING), OPERAND_CONSTRAINTS),
        init="outputs",
    )

    @property
    def kernel(self) -> CustomKernel:
        """The program, and the tensors that it is for; DescriptionError if the text is none."""
        from ttmlir.program.custom_kernel_text import read_custom_kernel

        return read_custom_kernel(cast("StringAttr", self.properties["config"]).data)

    def verify_op(self) -> None:
        """Check the text (C1) and the types (C2)."""
        from ttmlir.program.description import DescriptionError

        try:
            kernel = self.kernel
        except DescriptionError as error:
            refuse(f"config: {error}")
        difference = kernel.difference(
            [tensor_text(value.type) for value in self.inputs],
            [tensor_text(result.type) for result in self.results],
        )
        if difference is not None:
            refuse(difference)


def tensor_text(type_: Attribute) -> str:
    """A tensor type without its layout, as `CustomKernel.difference` takes it."""
    if not isinstance(type_, TensorType):
        return str(type_)
    tensor = cast("TensorType[Attribute]", type_)
    return f"tensor<{'x'.join(map(str, (*tensor.get_shape(), tensor.element_type)))}>"


class YieldOp(ODSOperation):
    """The end of the body of a `ttir.generic`: the values that a core computed.

    C1: it is the last operation of its block.
    """

    name = "ttir.yield"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("values", ods.TENSOR_OR_MEMREF, variadic=True),)
    )
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())

    def verify_op(self) -> None:
        """Check the place in the block (C1)."""
        if self.parent is not None and self.next_op is not None:
            refuse("must be the last operation in the parent block")


STRUCTURE_OPS = cast(
    "tuple[type[ODSOperation], ...]",
    (
        GenericOp,
        ToLayoutOp,
        AllocOp,
        DeallocOp,
        ConstantOp,
        ArangeOp,
        KernelOp,
        CustomKernelOp,
        TTNNMetalLayoutCastOp,
        YieldOp,
    ),
)
"""Every operation of this module."""
