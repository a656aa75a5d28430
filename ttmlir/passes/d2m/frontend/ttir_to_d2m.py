"""Turn operations of ttir into loops over tiles: one `d2m.generic` each, on a grid of one core.

Before:

    func.func @f(%x: tensor<33x70xf32>, %y: tensor<1x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.add"(%x, %y, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints =
          [#tt.operand_constraint<any_device>, #tt.operand_constraint<any_device>,
          #tt.operand_constraint<any_device>]}>
          : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
        %1 = d2m.to_layout %arg0, %0 : tensor<33x70xf32> into ...
        %3 = d2m.to_layout %arg1, %2 : tensor<1x70xf32> into ...
        %5 = d2m.generic {block_factors = [1, 1], d2m.reference = {outputs = [{buffer = 2 : i64,
            layout = #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume =
            6144>, value = 3 : i64}], rows = [{mnemonic = "add", operands = [0, 1], type =
            tensor<33x70xf32>}]}, grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map1, #map],
            iterator_types = [#parallel, #parallel], threads =
            [#d2m.thread<compute>]}
            ins(%1, %3 : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>,
            tensor<1x1x1x3x!ttcore.tile<32x32, f32>, #layout1>)
            outs(%4 : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>) {
        ^compute0(...):
          ...
          %11 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel",
              "parallel"]} ins(%8, %9 : ...) outs(%10 : ...) {
          ^bb0(%in: !ttcore.tile<32x32, f32>, %in_0: !ttcore.tile<32x32, f32>, ...):
            %12 = "d2m.tile_bcast"(%in_0) <{bcast_type = #d2m<tile_bcast_type row>}> ...
            %13 = "d2m.tile_add"(%in, %12) ...
            linalg.yield %13 : !ttcore.tile<32x32, f32>
          } -> tensor<2x3x!ttcore.tile<32x32, f32>>
          d2m.yield %11 : (tensor<2x3x!ttcore.tile<32x32, f32>>)
        } : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>
        %6 = tensor.empty() : tensor<33x70xf32>
        %7 = d2m.to_layout %5, %6 : ... into tensor<33x70xf32> hostInfo = #layout -> ...
        return %7 : tensor<33x70xf32>
      }
    }

Requires: static shapes of at most 2**31 - 1 elements along a dimension and 2**48 in all; tensors
without layout, or, in ttnn mode, with one of ttnn.
Ensures: no operation of ttir is left but casts of ttnn's layouts; functions take and return what
they did. Equal operations on equal values of a block are computed once. Tensors are tiles of 32x32
numbers of full rank, two dimensions at least. The maps of a `linalg.generic` take its iterators to
tiles; an iterator goes over all of the dimensions that it indexes alone. Layouts are spelled as in
the year of the module: without a value of the padding in 2026. Moves are maps of
`d2m.view_layout` for whole tiles and of `d2m.view_elements` for parts of them; only a part of an
output that is written is a map with an offset. With reduction iterators an output starts from the
identity of what combines, whatever is in it. What tiles hold beyond the shape of a tensor is
undefined; a reduction of it masks it first.
Options: memory of arguments and of results, whether to merge dimensions, whether tensors with a
layout of ttnn are cast instead of moved, in how many bits numbers are summed, and the format of
weights: of second factors of products that are arguments or constants of the host, moved at most.
Not done here: numbers beyond the shapes of tensors, which `d2m-mask-padding` takes out of loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir import optable
from ttmlir.dialects import ttir
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.dialects.definition.ods import DestinationStyleOp
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.constants import identity_of, number_of_elements
from ttmlir.ir.kernel_builder import UNSIGNED, is_float
from ttmlir.ir.rewriting import erase, erase_unused, refuse, refuse_foreign, refuse_to_legalize
from ttmlir.ir.tensor_types import element_type, is_boolean, value_shape
from ttmlir.layout.enums import DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes import Elements, splat_bytes
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.core.base import ModulePass, option
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    Accumulation,
    D2MBuilder,
    DeviceTensor,
    Operand,
    Placement,
    Splat,
    matrix_shape,
    scalar_of,
)
from ttmlir.passes.d2m.frontend.unified_form import write_unified
from ttmlir.passes.placement.layout_overrides import WEIGHT_DTYPE

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_FOREIGN = ("chlo", "linalg", "math", "ml_program", "stablehlo", "tosa")
"""Dialects that become ttir before."""
OTHER_PIPELINE = "use target='ttnn' (ttir-to-ttnn-backend-pipeline)"
"""What computes all operations."""
_COMPOSITE = {
    **{
        f"ttir.{name}": "ttir-composite-decomposition"
        for name in (
            *("softmax", "batch_norm_inference", "sort", "topk"),
            *(each for each in optable.DEFINITIONS if each.startswith("scatter")),
        )
    },
    **dict.fromkeys(("ttir.convolution", "ttir.pooling"), "ttir-window-decomposition"),
}
"""Operations of which a pass that runs before, in pipelines, makes others."""


class Conversion:
    """What the values of a function have become."""

    def __init__(self, placement: Placement) -> None:
        """Begin a function."""
        self.placement = placement
        self._converted: dict[SSAValue, Operand] = {}
        self._made: dict[tuple[object, ...], SSAValue] = {}
        self._narrowed: dict[Operation, None] = {}
        self._first: dict[tuple[object, ...], SSAValue] = {}
        self._same: dict[SSAValue, SSAValue] = {}
        self._released: dict[SSAValue, SSAValue] = {}
        self.builder: D2MBuilder

    def start(self, op: Operation) -> None:
        """Build in front of an operation from now on."""
        self.builder = D2MBuilder.before(op)
        self.builder.placement = self.placement
        self.builder.made = self._made
        self.builder.narrowed = self._narrowed

    def finish(self) -> None:
        """Drop loads of weights that all products read in another format."""
        destinations = [load.operands[1].owner for load in self._narrowed]
        erase_unused(self._narrowed)
        erase_unused(each for each in destinations if isinstance(each, Operation))

    def operand(self, value: SSAValue) -> Operand:
        """A tensor as tiles, or as the one number that it holds."""
        known = self._converted.get(value)
        if known is None:
            known = self._converted[value] = self.builder.load(value)
        return known

    def known(self, value: SSAValue) -> Operand | None:
        """What the value has become, if that took no move from the host."""
        return self._converted.get(value)

    def tensor(self, value: SSAValue) -> DeviceTensor:
        """A tensor as tiles."""
        operand = self.operand(value)
        if isinstance(operand, DeviceTensor):
            return operand
        return self.builder.materialize(operand)

    def define(self, value: SSAValue, operand: Operand) -> None:
        """Let tiles stand for a value from now on."""
        self._converted[value] = operand

    def is_known(self, op: Operation) -> bool:
        """True if the block has an equal operation on equal values, whose result this one has."""
        if len(op.results) != 1:
            return False
        destinations = op.inits if isinstance(op, DestinationStyleOp) else ()
        inputs = tuple(
            self._same.get(each, each) for each in op.operands if each not in destinations
        )
        written = (frozenset(each.items()) for each in (op.properties, op.attributes))
        result = op.results[0]
        first = self._first.setdefault((op.parent, op.name, inputs, *written, result.type), result)
        if first is result:
            return False
        self._same[result] = first
        self._converted[result] = self._converted[first]
        return True

    def release(self, value: SSAValue) -> SSAValue:
        """The value for operations that are not converted: on the host, or as it is."""
        if value not in self._converted or not _is_converted(value.owner):
            return value
        tensor = self.builder.settle(self.tensor(value))
        # Tensors of ttnn are deallocated one by one.
        if (
            self.placement.ttnn_mode
            and self._released.setdefault(tensor.buffer, value) is not value
        ):
            tensor = self.builder.copy(tensor)
        return self.builder.unload(tensor, value.type)


def _is_converted(owner: object) -> bool:
    return isinstance(owner, Operation) and owner.name.startswith("ttir.")


ConversionRule = Callable[[Conversion, Operation], DeviceTensor]
"""Builds what becomes of the result of an operation; LayoutError for what is not supported."""
RuleTable = Mapping[str, ConversionRule]


@dataclass(frozen=True)
class TTIRToD2MPass(ModulePass):
    """Turn operations of ttir into loops over tiles."""

    name = "ttir-to-d2m"
    title = "TTIRToD2M"
    default_input_memspace: MemorySpace = option(
        MemorySpace.DEVICE_L1, "Memory of the tensors that functions take: l1 or dram"
    )
    default_output_memspace: MemorySpace = option(
        MemorySpace.DEVICE_L1, "Memory of the results of operations: l1 or dram"
    )
    collapse_tensors_2d: bool = option(
        True, "Merge all dimensions but the last where all operations of a function allow it"
    )
    ttnn_mode: bool = option(
        False, "Take tensors with a layout where ttnn has them, by ttir.ttnn_metal_layout_cast"
    )
    fp32_dest_acc_en: Accumulation = option(
        Accumulation.AUTO, "Sum 16-bit numbers in 32 bits: where sums are long, always, or never"
    )

    experimental_weight_dtype: DataType | None = option(
        None, "Format of the weights of products", type=WEIGHT_DTYPE
    )
    unified_threads: bool = option(
        True, "Let generics of a module of 2026 load and store blocks, as there"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function."""
        self._convert(module, None)

    def find_refused(self, module: ModuleOp) -> list[DiagnosticError]:
        """What the pass refuses of a module, which is of no use afterwards: all of it at once."""
        refused: list[DiagnosticError] = []
        self._convert(module, refused)
        return refused

    def _convert(self, module: ModuleOp, refused: list[DiagnosticError] | None) -> None:
        from ttmlir.passes.general.convert_spelling import decompose_late, is_late

        self._check_options()
        placement = Placement(
            self.default_input_memspace,
            self.default_output_memspace,
            collapse_pairs=self.collapse_tensors_2d,
            ttnn_mode=self.ttnn_mode,
            accumulation=self.fp32_dest_acc_en,
            weight_dtype=self.experimental_weight_dtype,
            late=is_late(module),
            single_steps=is_late(module) and self.unified_threads,
        )
        if placement.late:
            decompose_late(module)
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            if self.ttnn_mode:
                _check_ttnn_function(function)
            collapses = self.collapse_tensors_2d and _may_collapse(function)
            _convert_function(function, replace(placement, collapse_all=collapses), refused)
        if placement.late and self.unified_threads:
            write_unified(module)

    def _check_options(self) -> None:
        for spelled, space in (
            ("default-input-memspace", self.default_input_memspace),
            ("default-output-memspace", self.default_output_memspace),
        ):
            if space not in (MemorySpace.DEVICE_L1, MemorySpace.DEVICE_DRAM):
                raise OptionError(
                    f"for the --{spelled} option: expected l1 or dram, got {space.keyword}"
                )


def _may_collapse(function: FuncOp) -> bool:
    """True if all operations of a function are elementwise, on tensors of one shape each."""
    return all(
        isinstance(op, ttir.ConstantOp)
        or not op.name.startswith("ttir.")
        or (
            isinstance(op, ttir.ElementwiseOp)
            and all(value_shape(v) == value_shape(op.results[0]) for v in op.operands)
        )
        for op in function.walk()
    )


def _check_ttnn_function(function: FuncOp) -> None:
    """Refuse tensors of the host: kernels are called with what ttnn has on the device."""
    type_ = function.function_type
    for what, types in (("argument", type_.inputs), ("result", type_.outputs)):
        for number, each in enumerate(types):
            tensor = cast("TensorType[Attribute]", each)
            if isinstance(each, TensorType) and tensor.encoding.name == "none":
                refuse(
                    function,
                    f"has {each} as its {what} {number}, a tensor of the host; with ttnn-mode "
                    "arguments and results have a #ttnn.ttnn_layout in device memory, as ttnn_jit "
                    "gives them. Leave ttnn-mode out for tensors of the host",
                )


def _convert_function(
    function: FuncOp, placement: Placement, refused: list[DiagnosticError] | None
) -> None:
    """Convert the operations of a function; without a list for what is refused that ends it."""
    conversion = Conversion(placement)
    converted: list[Operation] = []
    for block in function.body.blocks:
        for op in tuple(block.ops):
            conversion.start(op)
            if op.name.startswith("ttir.") and op.name != TTNNMetalLayoutCastOp.name:
                try:
                    _convert(conversion, op)
                except DiagnosticError as error:
                    if refused is None:
                        raise
                    refused.append(error)
                    continue
                converted.append(op)
            elif op.name.partition(".")[0] in _FOREIGN:
                refuse_foreign(op, "ttir-to-d2m takes ttir, func and tensor.empty operations")
            else:
                _release_operands(conversion, op)
    destinations = [
        value.owner
        for op in converted
        if isinstance(op, DestinationStyleOp)
        for value in op.inits
        if isinstance(value.owner, EmptyOp)
    ]
    for op in reversed(converted):
        erase(op)
    erase_unused(dict.fromkeys(destinations))
    conversion.finish()


def _release_operands(conversion: Conversion, op: Operation) -> None:
    for number, value in enumerate(op.operands):
        op.operands[number] = conversion.release(value)


def _convert(conversion: Conversion, op: Operation) -> None:
    if _is_nothing(op):
        return
    _check_types(op)
    rule = _rule_of(op)
    if _is_read_for_signs(op) or conversion.is_known(op):
        return
    try:
        if isinstance(op, ttir.ConstantOp):
            conversion.define(op.results[0], _convert_constant(conversion, op))
        else:
            known = _simplify(conversion, op)
            conversion.define(op.results[0], known or rule(conversion, op))
    except LayoutError as error:
        refuse_to_legalize(op, str(error))


_MOVING_NUMBERS = frozenset(
    f"ttir.{name}"
    for name in (
        *("broadcast", "permute", "repeat", "reshape", "reverse", "slice", "squeeze", "transpose"),
        "unsqueeze",
    )
)
"""Operations that leave a tensor of one number one."""
_EXACT_IDENTITIES = ("maximum", "minimum", "multiply")
"""Elementwise operations that give back every number unchanged that meets their identity."""


def _simplify(conversion: Conversion, op: Operation) -> Operand | None:
    """What an operation gives where that takes no loop: of one number, or of an identity."""
    first = conversion.known(op.operands[0]) if op.operands else None
    result = op.results[0]
    shape, element = matrix_shape(value_shape(result)), element_type(result)
    if op.name in _MOVING_NUMBERS and isinstance(first, Splat):
        return Splat(first.number, first.element, shape)
    if not isinstance(op, ttir.ElementwiseOp) or op.DEFINITION.mnemonic not in _EXACT_IDENTITIES:
        return None
    identity = identity_of(op.DEFINITION, element)
    values = [conversion.known(value) for value in op.inputs]
    for value, other, operand in zip(values, reversed(values), reversed(op.inputs), strict=True):
        is_whole = matrix_shape(value_shape(operand)) == shape and element_type(operand) == element
        if isinstance(value, Splat) and value.number == identity and is_whole:
            return other or conversion.operand(operand)
    return None


def _is_nothing(op: Operation) -> bool:
    """True if the results have no elements, and nothing that has some is computed from them."""
    users = (use.operation for result in op.results for use in result.uses)
    has_none = [isinstance(each.type, TensorType) and 0 in value_shape(each) for each in op.results]
    return (
        any(has_none)
        and all(has_none)
        and all(user.name.startswith("ttir.") and _is_nothing(user) for user in users)
    )


def _check_types(op: Operation) -> None:
    for value in (*op.operands, *op.results):
        type_: Attribute = value.type
        if not isinstance(type_, TensorType):
            continue
        shape = cast("TensorType[Attribute]", type_).get_shape()
        if min(shape, default=1) < 1:
            what = "no elements" if 0 in shape else "a shape that is not known"
            refuse_to_legalize(
                op, f"{type_} has {what}; tiles hold tensors of at least one element each"
            )
        if max(shape, default=1) > _MAX_EXTENT or math.prod(shape) > _MAX_ELEMENTS:
            refuse_to_legalize(
                op,
                f"{type_} is too large: a dimension has at most {_MAX_EXTENT} and a tensor at most "
                f"{_MAX_ELEMENTS} elements; use several smaller tensors",
            )


_MAX_EXTENT = (1 << 31) - 1
"""Most elements along a dimension: the parameter of a reshape has 32 bits."""
_MAX_ELEMENTS = 1 << 48
"""More than any memory holds; addresses and strides of whole tiles of them still have 64 bits."""


def _convert_constant(conversion: Conversion, op: ttir.ConstantOp) -> Operand:
    """One number for all elements; else a constant of the host, which is loaded."""
    elements = cast("Elements", op.value)
    element = element_type(op.results[0])
    number = number_of_elements(elements) if _is_splat(elements) else None
    if number is not None:
        exact = number if not is_boolean(element) else float(bool(number))
        return Splat(exact, element, matrix_shape(value_shape(op.results[0])))
    constant = conversion.builder.add(
        ConstantOp.create(result_types=[op.results[0].type], properties={"value": op.value})
    )
    return conversion.builder.load(constant)


def _is_splat(elements: Attribute) -> bool:
    return elements.name == "dense" and splat_bytes(cast("Elements", elements)) is not None


def _is_read_for_signs(op: Operation) -> bool:
    """True for bits of floating-point numbers that are only asked whether they are below 0."""
    return op.name == "ttir.bitcast_convert" and all(
        _source_of_signs(use.operation) is op.operands[0] for use in op.results[0].uses
    )


def _source_of_signs(op: Operation) -> SSAValue | None:
    """The floating-point numbers whose signs the operation asks for, by their bits."""
    if op.name != "ttir.lt" or not isinstance(bits := op.operands[0].owner, Operation):
        return None
    zero = op.operands[1].owner
    is_zero = (
        isinstance(zero, ttir.ConstantOp)
        and _is_splat(zero.value)
        and number_of_elements(cast("Elements", zero.value)) == 0
    )
    if not is_zero or bits.name != "ttir.bitcast_convert":
        return None
    numbers, own = bits.operands[0], scalar_of(element_type(bits.results[0]))
    has_sign = not is_float(own) and own.keyword not in UNSIGNED
    return numbers if has_sign and is_float(scalar_of(element_type(numbers))) else None


def _convert_elementwise(conversion: Conversion, op: Operation) -> DeviceTensor:
    from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import SIGNBIT, compute_elementwise

    assert isinstance(op, ttir.ElementwiseOp)
    result = op.results[0]
    numbers = _source_of_signs(op)
    if numbers is not None:
        signs, shape = [conversion.operand(numbers)], matrix_shape(value_shape(result))
        return compute_elementwise(conversion.builder, SIGNBIT, signs, element_type(result), shape)
    return compute_elementwise(
        conversion.builder,
        op.DEFINITION.mnemonic,
        [conversion.operand(value) for value in op.inputs],
        element_type(result),
        matrix_shape(value_shape(result)),
        op.parameters(),
    )


_FAMILIES = ("contraction", "creation", "indexing", "movement", "reduction")


def _rule_of(op: Operation) -> ConversionRule:
    if isinstance(op, ttir.ElementwiseOp):
        return _convert_elementwise
    for family in _FAMILIES:
        rules: RuleTable = import_module(f"ttmlir.passes.d2m.frontend.ttir_to_d2m_{family}").RULES
        if op.name in rules:
            return rules[op.name]
    return _refuse


def _refuse(conversion: Conversion, op: Operation) -> DeviceTensor:
    if isinstance(op, ControlOp):
        raise LayoutError(
            "kernels have no loops or branches of the host around them; give max-trip-count=N to "
            "unroll loops of at most N iterations, choose with a select (jnp.where, torch.where) "
            f"where data decides, or {OTHER_PIPELINE}"
        )
    before = _COMPOSITE.get(op.name)
    advice = f"run {before} before, or {OTHER_PIPELINE}" if before else OTHER_PIPELINE
    raise LayoutError(f"there are no kernels for it; {advice}")
