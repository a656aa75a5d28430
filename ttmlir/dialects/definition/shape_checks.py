"""Verifiers that ttir and ttnn share: shapes of operands, results and parameters.

Each function checks one operation and stops at the first violation. The order and the words of the
messages, misspellings included, are tt-mlir's (TTIROps.cpp and TTNNOps.cpp at 880154e3c2); what it
crashes on, or computes only nonsense of, is refused here with a message of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.ods import ODSOperation, refuse
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.optable.contraction import matrix_shape
from ttmlir.optable.creation import arange_shape
from ttmlir.optable.row import Family, Row

Shape = tuple[int, ...]
Check = Callable[[Operation], None]


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that has been checked to be a ranked tensor."""
    return cast("TensorType[Attribute]", value.type)


def shape_of(value: SSAValue) -> Shape:
    """The extents of a tensor; dynamic ones are `DYNAMIC_INDEX`."""
    return tensor_type(value).get_shape()


def is_static(shape: Sequence[int]) -> bool:
    """True if every extent is known."""
    return DYNAMIC_INDEX not in shape


def int_property(op: Operation, name: str) -> int:
    """The value of an integer property that has been checked."""
    return cast("IntegerAttr", op.properties[name]).value.data


def comma_separated(shape: Sequence[int]) -> str:
    """Extents as the messages show them: `(1, 2, 3)` without the parentheses."""
    return ", ".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in shape)


def _output_shape(op: Operation) -> Shape:
    return shape_of(cast("DestinationStyleOp", op).output)


def ruled_shape(op: Operation) -> Shape:
    """The shape that the row gives the result; its reason is the error where it gives none."""
    assert isinstance(op, RowOperation)
    assert isinstance(op, DestinationStyleOp)
    rule = op.ROW.result_shape
    assert rule is not None, f"{op.name} has no rule of its shape"
    try:
        return rule(*map(shape_of, op.inputs), **op.parameters())
    except ValueError as error:
        refuse(str(error))


def broadcast_pair(first: Shape, second: Shape) -> Shape | None:
    """Shape that two shapes broadcast to, None if they do not.

    A dynamic extent gives way to one greater than 1, as in MLIR's `getBroadcastedShape`.
    """
    rank = max(len(first), len(second))
    padded_first = (1,) * (rank - len(first)) + first
    padded_second = (1,) * (rank - len(second)) + second
    result: list[int] = []
    for a, b in zip(padded_first, padded_second, strict=True):
        if a == b or b == 1:
            result.append(a)
        elif a == 1:
            result.append(b)
        elif DYNAMIC_INDEX in (a, b):
            result.append(max(a, b))
        else:
            return None
    return tuple(result)


def check_elementwise(op: Operation) -> None:
    """Check the shapes of an elementwise operation.

    C1: all operands, outputs included, broadcast against each other as in NumPy.
    C2: the result has the shape they broadcast to.
    """
    if not op.results:
        # The check of the destination words it better, unless there is none.
        if not cast("DestinationStyleOp", op).inits:
            refuse("requires at least one output and one result")
        return
    shapes = [shape_of(operand) for operand in op.operands]
    folded: Shape = ()
    for count, shape in enumerate(shapes[1:], start=1):
        pair = broadcast_pair(shapes[0] if count == 1 else folded, shape)
        if pair is None:
            refuse("Operands are not broadcast compatible")
        folded = pair
    if folded != shape_of(op.results[0]):
        refuse("Result shape must match operand shapes after broadcasting")


def check_bits(op: Operation) -> None:
    """Check the numbers of an operation on bits.

    C1: the inputs are integers.
    """
    for value in cast("DestinationStyleOp", op).inputs:
        if isinstance(element := tensor_type(value).element_type, AnyFloat | ComplexType):
            refuse(f"takes integers, but an input has elements of {element}; convert it first")


def check_elementwise_bits(op: Operation) -> None:
    """Check shapes and numbers of an elementwise operation on bits.

    C1: all operands, outputs included, broadcast against each other as in NumPy.
    C2: the result has the shape they broadcast to.
    C3: the inputs are integers.
    """
    check_elementwise(op)
    check_bits(op)


def check_embedding(op: Operation) -> None:
    """Check the ranks of a lookup.

    C1: the table has two dimensions.
    C2: the output has one dimension more than the row numbers.
    """
    if len(_output_shape(op)) != len(ruled_shape(op)):
        refuse("Output must have one dimension more than input")


def check_softmax(op: Operation) -> None:
    """Check shapes and dimension of a softmax.

    C1: input and output have the same shape.
    C2: the dimension is one of the input's; negative ones count from the end.
    """
    if _output_shape(op) != ruled_shape(op):
        refuse("Input and output shapes must be the same")


def check_transpose(op: Operation) -> None:
    """Check shapes and dimensions of a transposition.

    C1: the input has at least two dimensions.
    C2: the output has as many.
    C3: both dimensions are the input's; negative ones count from the end.
    C4: the output has their extents exchanged.
    """
    source, output = shape_of(op.operands[0]), _output_shape(op)
    if len(source) < 2:
        refuse("Input must be at least a 2D tensor")
    if len(output) != len(source):
        refuse("Input must have the same rank as output")
    expected = ruled_shape(op)
    dims = (int_property(op, "dim0"), int_property(op, "dim1"))
    if any(output[dim] != expected[dim] for dim in dims):
        refuse("Input-output transpose dimension mismatch.")


def check_concat(op: Operation) -> None:
    """Check shapes and dimension of a concatenation.

    C1: there is an input.
    C2: the dimension is one of the first input's; negative ones count from the end.
    C3: all inputs have the same rank.
    C4: their extents agree, except along the dimension.
    """
    ruled_shape(op)


def check_reshape(op: Operation) -> None:
    """Check shapes and parameter of a reshape.

    C1: the parameter has an entry for each dimension of the output.
    C2: the shapes are static.
    C3: input and output have the same number of elements.
    C4: the entries are the output's extents, or once -1 for an extent that follows from the rest.
    """
    source, output = shape_of(op.operands[0]), _output_shape(op)
    shape = cast("Shape", cast("RowOperation", op).parameters()["shape"])
    if len(shape) != len(output):
        refuse("Shape attribute size must match output tensor rank")
    if not (is_static(source) and is_static(output)):
        refuse("Input and output tensors must have static shapes")
    if math.prod(ruled_shape(op)) != math.prod(output):
        refuse("Input and output tensors must have the same number of elements")
    if any(extent not in (-1, there) for extent, there in zip(shape, output, strict=True)):
        refuse("Shape attribute must match the output tensor shape for dimensions that are not -1")


def check_squeeze(op: Operation) -> None:
    """Check shapes and dimension of a squeeze.

    C1: the dimension is one of the input's; negative ones count from the end.
    C2: its extent is 1.
    C3: the output has the other dimensions, one at least.
    """
    output, expected = _output_shape(op), ruled_shape(op)
    if not output:
        refuse("Output tensor must have at least one dimension.")
    if len(output) != len(expected):
        refuse("Output tensor rank must be one less than the input tensor rank.")
    if output != expected:
        dim = int_property(op, "dim") % (len(expected) + 1)
        refuse(
            "Dimensions of the output tensor must be the same as the input tensor except for "
            f"dimension {dim}."
        )


def check_unsqueeze(op: Operation) -> None:
    """Check shapes and dimension of an unsqueeze.

    C1: the dimension is one of the output's; negative ones count from the end.
    C2: the output has one dimension more than the input.
    C3: the extent of the new dimension is 1.
    C4: the others are the input's.
    """
    output, expected = _output_shape(op), ruled_shape(op)
    if len(output) != len(expected):
        refuse("Output tensor must have one more dimension than the input tensor")
    if output[int_property(op, "dim")] != 1:
        refuse("Dimension added must be of size 1")
    if output != expected:
        refuse(
            "All dimensions of the input tensor must be the same as the output tensor except for "
            "the dimension added"
        )


def check_matmul(op: Operation) -> None:
    """Check the shapes of a matrix product.

    C1: both inputs have at least two dimensions, and they and the output as many.
    C2: the columns of `a` are the rows of `b`.
    C3: the output has the rows of `a` and the columns of `b`.
    """
    a, b, output = shape_of(op.operands[0]), shape_of(op.operands[1]), _output_shape(op)
    try:
        rows, columns = matrix_shape(a, b)
    except ValueError as error:
        refuse(str(error))
    if len(a) != len(b):
        refuse("Input A and B must have the same rank")
    if len(output) != len(a):
        refuse("Input A and B must have the same rank as the output")
    if output[-2] != rows:
        refuse("Output must have the same number of rows as input A")
    if output[-1] != columns:
        refuse("Output must have the same number of columns as input B")


def check_conv2d(op: Operation) -> None:
    """Check the ranks of a convolution.

    C1: the input has at least three dimensions.
    C2: the weight has four.
    C3: the bias, if present, has four.
    """
    if len(shape_of(op.operands[0])) < 3:
        refuse("Input must be at least a 3D tensor")
    if len(shape_of(op.operands[1])) != 4:
        refuse("Weight must be a 4D tensor")
    bias = cast("ODSOperation", op).group("bias")
    if bias and len(shape_of(bias[0])) != 4:
        refuse("Bias must be a 4D tensor")


def check_window_fits(op: Operation, height: int, width: int) -> None:
    """Refuse a window that is larger than the image."""
    for name, extent in (("height", height), ("width", width)):
        kernel = int_property(op, f"kernel_{name}")
        if kernel > extent != DYNAMIC_INDEX:
            refuse(
                f"Kernel {name} {kernel} is greater than input {name} {extent}. "
                "This MaxPool2d configuration is invalid."
            )


def check_pool_rank(op: Operation) -> Shape:
    """The shape of the image, which has four dimensions."""
    shape = shape_of(op.operands[0])
    if len(shape) != 4:
        refuse(
            f"Input tensor rank must be 4. Recieved input with rank {len(shape)}. "
            f"Shape: ({comma_separated(shape)})."
        )
    return shape


def check_image(op: Operation) -> tuple[int, int, int, int]:
    """The shape of the image, which has four dimensions."""
    shape = shape_of(op.operands[0])
    if len(shape) != 4:
        refuse(f"Input must be a 4D tensor, but its shape is ({comma_separated(shape)}).")
    batch, height, width, channels = shape
    return batch, height, width, channels


def check_output(op: Operation, expected: Shape) -> None:
    """Refuse an output of another shape; dynamic shapes are not compared."""
    output = _output_shape(op)
    if is_static(expected) and is_static(output) and expected != output:
        refuse(f"Output shape ({comma_separated(output)}) must be ({comma_separated(expected)}).")


def check_row_shape(op: Operation) -> None:
    """Check the shape of the output.

    C1: the operation is defined on these shapes and parameters.
    C2: the output has the shape that follows from them; dynamic shapes are not compared.
    """
    assert isinstance(op, DestinationStyleOp)
    if all(is_static(shape_of(value)) for value in (*op.inputs, op.output)):
        check_output(op, ruled_shape(op))


def check_ordering(op: Operation) -> None:
    """Check shapes and elements of an operation that puts numbers in order.

    C1: there are two results: the numbers, and their places.
    C2: the operation is defined on this shape and these parameters.
    C3: both results have the shape that follows from them; dynamic shapes are not compared.
    C4: the numbers have the elements of the input, and the places are integers.
    """
    if len(op.results) != 2:
        refuse(f"makes two results, the numbers and their places, but found {len(op.results)}")
    assert isinstance(op, DestinationStyleOp)
    numbers, places = op.results
    if all(is_static(shape_of(value)) for value in (*op.inputs, numbers, places)):
        expected = ruled_shape(op)
        for result in op.results:
            if shape_of(result) != expected:
                refuse(
                    f"Output shape ({comma_separated(shape_of(result))}) must be "
                    f"({comma_separated(expected)})."
                )
    before, after = (tensor_type(value).element_type for value in (op.inputs[0], numbers))
    if before != after:
        refuse(f"the numbers are of {before}, and the first result of {after}; they are the same")
    if not isinstance(element := tensor_type(places).element_type, IntegerType):
        refuse(f"the second result has elements of {element}; places are integers")


def check_constant(op: Operation) -> None:
    """Refuse a value of another shape than the result."""
    # Dense resources have the same field.
    value = cast("DenseIntOrFPElementsAttr", op.properties["value"])
    if value.type.get_shape() != shape_of(op.results[0]):
        refuse("failed to verify that all of {value, result} have same shape")


def check_arange(op: Operation) -> None:
    """Check step, dimension and the extent that follows from the bounds."""
    parameters = cast("dict[str, int]", cast("RowOperation", op).parameters())
    shape = shape_of(op.results[0])
    try:
        expected = arange_shape(shape=shape, **parameters)
    except ValueError as error:
        refuse(str(error))
    dim = parameters["arange_dimension"]
    if shape[dim] not in (expected[dim], DYNAMIC_INDEX):
        refuse(
            f"Extent {shape[dim]} of dimension {dim} must be {expected[dim]}, the number of values."
        )


SHARED_CHECKS: dict[str, Check] = {
    "embedding": check_embedding,
    "softmax": check_softmax,
    "transpose": check_transpose,
    "concat": check_concat,
    "reshape": check_reshape,
    "squeeze": check_squeeze,
    "unsqueeze": check_unsqueeze,
    "matmul": check_matmul,
}
"""Checks by mnemonic, where both dialects check the same."""


def check_of(row: Row, own: Mapping[str, Check]) -> Check | None:
    """The verifier of a row's operation: the dialect's own, the shared one, or the shape rule.

    Operations of the reference without a verifier have none here, so that what it accepts is
    accepted.
    """
    named = own.get(row.mnemonic) or SHARED_CHECKS.get(row.mnemonic)
    if named is not None:
        return named
    if row.family is Family.ORDERING:
        return check_ordering
    return check_row_shape if row.extends_reference and row.result_shape is not None else None
