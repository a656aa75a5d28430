"""Wrap operations that have a region form into `ttir.generic`.

Before:

    #t = #tt.operand_constraint<any_device_tile>
    func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.add"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
          operand_constraints = [#t, #t, #t]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #tt.iterator_type<parallel>
    module {
      func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.generic"(%arg0, %arg1, %0) <{grid = #tt.grid<1x1>,
            indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel],
            operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device_tile,
            #any_device_tile, #any_device_tile]}> ({
        ^bb0(%arg2: tensor<33x70xf32>, %arg3: tensor<33x70xf32>, %arg4: tensor<33x70xf32>):
          %2 = arith.addf %arg2, %arg3 : tensor<33x70xf32>
          "ttir.yield"(%2) : (tensor<33x70xf32>) -> ()
        }) : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: every `ttir.add` and `ttir.multiply` on operands of one shape is a `ttir.generic`, whose
operands accept tiles in device memory, with operations of `arith` in its body.
Options: `elementwise` wraps every elementwise operation with one result; other operations than
those above stand in the bodies as they are, on what a core has. Constants whose elements are all
equal become scalars in the bodies. Operands that broadcast are smaller than the output, and the
maps say so; where their rows have to be repeated in groups, a `ttir.broadcast` of rows does it.
Not done here: operations that are not elementwise stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ttmlir.dialects import tt, ttir
from ttmlir.dialects.definition.ods import SEGMENTS
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.rewriting import clean_up, erase, insert_before, replace
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.layout.enums import IteratorType, OperandConstraint
from ttmlir.mlir.attributes import Elements, elements_attr, splat_bytes
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


# --- Generics -------------------------------------------------------------------------------------
# Making `ttir.generic` operations.


def is_inside_generic(op: Operation) -> bool:
    """True for an operation directly in the body of a `ttir.generic`."""
    return isinstance(op.parent_op(), ttir.GenericOp)


def wrap(
    op: Operation,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    body: Callable[[Block], Sequence[SSAValue]],
    *,
    indexing_maps: Sequence[AffineMap],
    iterator_types: Sequence[IteratorType],
    constraint: OperandConstraint,
) -> ttir.GenericOp:
    """Put a generic on one core in front of an operation, whose work it does.

    `body` fills a block whose arguments are like the inputs and outputs and returns what it yields;
    every operand gets the same constraint.
    """
    operands = (*inputs, *outputs)
    block = Block(arg_types=[value.type for value in operands])
    yielded = ttir.YieldOp.create(operands=body(block), location=op.location)
    block.add_op(yielded)
    generic = ttir.GenericOp.create(
        operands=operands,
        result_types=[output.type for output in outputs],
        properties={
            "grid": tt.GridAttr.get((1, 1)),
            "indexing_maps": ArrayAttr([AffineMapAttr(map_) for map_ in indexing_maps]),
            "iterator_types": ArrayAttr([tt.IteratorTypeAttr(kind) for kind in iterator_types]),
            SEGMENTS: ttir.GenericOp.segments(len(inputs), len(outputs)),
            "operand_constraints": ArrayAttr(
                [tt.OperandConstraintAttr.of(constraint)] * len(operands)
            ),
        },
        regions=[Region(block)],
        location=op.location,
    )
    insert_before(op, generic)
    return generic


# --- Ttir generic ---------------------------------------------------------------------------------

Shape = tuple[int, ...]
BodyBuilder = Callable[[Block], Sequence[SSAValue]]

_FLOAT_OPS = {"add": arith.AddfOp, "multiply": arith.MulfOp}
_INTEGER_OPS = {"add": arith.AddiOp, "multiply": arith.MuliOp}
_ROWS = (
    OperandConstraint.L1,
    OperandConstraint.SCALAR,
    OperandConstraint.NONE,
)
_CONSTRAINT = OperandConstraint.ANY_DEVICE_TILE


@dataclass(frozen=True)
class TTIRGenericPass(ModulePass):
    """Wrap operations that have a region form into `ttir.generic`."""

    name = "ttir-generic"
    title = "TTIRGenericRegion"
    elementwise: bool = option(
        False, "Wrap all elementwise operations, and the constants and broadcasts that they use"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Wrap the operations of the module that have a region form."""
        ops = [op for op in module.walk() if not is_inside_generic(op)]
        if self.elementwise:
            _wrap_all(ops)
        else:
            _wrap_sums_and_products(ops)
        clean_up(module)


def _wrap_sums_and_products(ops: Sequence[Operation]) -> None:
    for op in ops:
        if isinstance(op, ttir.GenericRegionOp) and isinstance(op, ttir.ElementwiseOp):
            if _have_one_shape(op):
                _wrap_elementwise(op, op.inputs, [None] * len(op.inputs))


def _have_one_shape(op: Operation) -> bool:
    return len({value_shape(value) for value in op.operands}) == 1


def _wrap_all(ops: Sequence[Operation]) -> None:
    """Wrap elementwise operations, then the broadcasts and constants that are left."""
    for op in ops:
        if isinstance(op, ttir.ElementwiseOp) and _is_wrappable(op):
            inputs = [_without_broadcast(value) for value in op.inputs]
            _wrap_elementwise(op, inputs, [_splat(value) for value in inputs])
    for op in ops:
        if op.name == "ttir.broadcast" and _is_aligned(op):
            _wrap_broadcast(op)
    for op in ops:
        if isinstance(op, ttir.ConstantOp):
            _finish_constant(op)


def _is_wrappable(op: ttir.ElementwiseOp) -> bool:
    """True for one result of known extents; checks of layouts refuse the others."""
    return len(op.inits) == 1 and all(
        DYNAMIC_INDEX not in value_shape(value) for value in op.operands
    )


# --- Elementwise operations ----------------------------------------------------------------------


def _wrap_elementwise(
    op: ttir.ElementwiseOp, inputs: Sequence[SSAValue], constants: Sequence[Elements | None]
) -> None:
    """Replace an operation by a generic; inputs that are constants become part of its body."""
    tensors = [
        _expand(value, value_shape(op.output), op)
        for value, constant in zip(inputs, constants, strict=True)
        if constant is None
    ]

    def body(block: Block) -> Sequence[SSAValue]:
        arguments = iter(block.args)
        values = [
            next(arguments) if constant is None else _scalar(constant, block, op)
            for constant in constants
        ]
        if _has_arith_form(op, values):
            return (_arith(op, values, block),)
        output = block.args[-1]
        builder = Builder(block, op.location)
        inner = builder.create_op(type(op), values, (output.type,), op.properties, inits=(output,))
        return inner.results

    replace(op, *_generic(op, tensors, op.output, body).results)


def _generic(
    op: Operation, inputs: Sequence[SSAValue], output: SSAValue, body: BodyBuilder
) -> ttir.GenericOp:
    """A generic in front of an operation that computes one tensor."""
    shape = value_shape(output)
    maps = [_indexing_map(value_shape(value), shape) for value in (*inputs, output)]
    return wrap(
        op,
        inputs,
        (output,),
        body,
        indexing_maps=maps,
        iterator_types=[IteratorType.PARALLEL] * len(shape),
        constraint=_CONSTRAINT,
    )


def _indexing_map(shape: Shape, output: Shape) -> AffineMap:
    """Where an operand has the element for a position of the output: at 0 where it broadcasts."""
    first = len(output) - len(shape)
    results: list[AffineExpr] = [
        AffineExpr.dimension(first + number)
        if extent == output[first + number]
        else AffineConstantExpr(0)
        for number, extent in enumerate(shape)
    ]
    return AffineMap(len(output), 0, tuple(results))


def _has_arith_form(op: ttir.ElementwiseOp, values: Sequence[SSAValue]) -> bool:
    """True for sums and products of tensors of the same type as the output."""
    return op.DEFINITION.mnemonic in _FLOAT_OPS and all(v.type == op.output.type for v in values)


def _arith(op: ttir.ElementwiseOp, values: Sequence[SSAValue], block: Block) -> SSAValue:
    element_type = cast("TensorType[Attribute]", op.output.type).element_type
    ops = _FLOAT_OPS if isinstance(element_type, AnyFloat) else _INTEGER_OPS

    def combine(lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        combined = ops[op.DEFINITION.mnemonic](lhs, rhs)
        combined.location = op.location
        block.add_op(combined)
        return combined.result

    return reduce(combine, values)


# --- Constants -----------------------------------------------------------------------------------


def _splat(value: SSAValue) -> Elements | None:
    """The elements of a constant all of which are equal."""
    elements = constant_elements(value)
    return None if elements is None or splat_bytes(elements) is None else elements


def _scalar(elements: Elements, block: Block, op: Operation) -> SSAValue:
    """The one value of a constant in the body of a generic, for all positions."""
    splat = splat_bytes(elements)
    assert splat is not None, "constants with several values are operands"
    element_type = elements.get_element_type()
    constant = ttir.ConstantOp.create(
        result_types=[TensorType(element_type, [])],
        properties={"value": elements_attr(TensorType(element_type, []), splat)},
        location=op.location,
    )
    block.add_op(constant)
    return constant.results[0]


def _finish_constant(op: ttir.ConstantOp) -> None:
    """Let a generic make a constant of one value, unless nobody uses it."""
    elements = _splat(op.results[0])
    if op.results[0].first_use is None:
        erase(op)
    elif elements is not None:
        output = Builder.before(op).create_empty(op.results[0].type)
        generic = _generic(
            op, (), output, lambda block: (_copy(_scalar(elements, block, op), block, op),)
        )
        replace(op, *generic.results)


def _copy(value: SSAValue, block: Block, op: Operation) -> SSAValue:
    """A value at every position of the output, in its element type."""
    cls = cast("type[ttir.TTIRTableOp]", ttir.op_class("typecast"))
    output, builder = block.args[-1], Builder(block, op.location)
    properties = {"operand_constraints": _constraints(2, _CONSTRAINT)}
    copy = builder.create_op(cls, (value,), (output.type,), properties, inits=(output,))
    return copy.results[0]


# --- Broadcasts ----------------------------------------------------------------------------------


def _wrap_broadcast(op: Operation) -> None:
    if op.results[0].first_use is None:
        erase(op)
    else:
        replace(op, _expand(op.operands[0], value_shape(op.results[0]), op))


def _without_broadcast(value: SSAValue) -> SSAValue:
    """What is broadcast, where the users of a broadcast do the same by themselves."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "ttir.broadcast" and _is_aligned(owner):
        return owner.operands[0]
    return value


def _is_aligned(op: Operation) -> bool:
    """True for a broadcast whose dimensions go to the last ones of the result, in order."""
    shape, output = value_shape(op.operands[0]), value_shape(op.results[0])
    missing = len(output) - len(shape)
    attr = cast("ArrayAttr[IntegerAttr]", op.properties["dimension"])
    dimensions = [item.value.data for item in attr]
    in_order = list(range(missing, len(output)))
    return not missing or len(dimensions) != len(shape) or dimensions == in_order


def _expand(value: SSAValue, output: Shape, user: Operation) -> SSAValue:
    """The operand itself, or all of a broadcast of it.

    The matrix unit spreads a row, a column or a number over the tiles of a floating-point tensor.
    All dimensions but the last become the rows of a tensor in memory; where these broadcast in
    groups, and for integers, a kernel that copies rows does it.
    """
    shape = value_shape(value)
    if shape == output:
        return value
    rows = (1,) * (len(output) - len(shape)) + shape
    if not _is_float(value):
        return _broadcast_rows(value, output, user)
    if rows[:-1] != output[:-1] and math.prod(rows[:-1]) > 1:
        value = _broadcast_rows(value, (*output[:-1], rows[-1]), user)
    if value_shape(value) == output:
        return value
    generic = _generic(
        user,
        (value,),
        Builder.before(user).create_empty(tensor_like(value, output)),
        lambda block: (_copy(block.args[0], block, user),),
    )
    return generic.results[0]


def _is_float(value: SSAValue) -> bool:
    element_type = cast("TensorType[Attribute]", value.type).element_type
    return isinstance(element_type, AnyFloat) or element_type == i1


def _broadcast_rows(value: SSAValue, output: Shape, user: Operation) -> SSAValue:
    """A broadcast of rows of numbers, which a kernel makes by copying."""
    type_ = tensor_like(value, output)
    dimensions = range(len(output) - len(value_shape(value)), len(output))
    properties = {
        "dimension": ArrayAttr([IntegerAttr(number, i64) for number in dimensions]),
        "operand_constraints": _constraints(2, *_ROWS),
    }
    cls = cast("type[ttir.TTIRTableOp]", ttir.op_class("broadcast"))
    return Builder.before(user).create_op(cls, (value,), (type_,), properties).results[0]


def _constraints(count: int, *constraints: OperandConstraint) -> ArrayAttr[Attribute]:
    return ArrayAttr([tt.OperandConstraintAttr.of(*constraints)] * count)
