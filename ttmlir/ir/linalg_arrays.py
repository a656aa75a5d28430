"""Arrays that are tensors of linalg, arith and math: algorithms become operations of a block.

carrier = LinalgCarrier.before(op)
x = carrier.wrap(value)
root = (x * x).sum(-1).sqrt().value
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.arrays.array import TRUTH, Array, Number, Scalar, Shape
from ttmlir.arrays.namespace import ARRAYS
from ttmlir.composites.bits import width_of
from ttmlir.dialects.linalg import OPERATIONS as LINALG_OPERATIONS
from ttmlir.errors import ArgumentError
from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import dtype_of, element_of, element_type, value_shape
from ttmlir.mlir.attributes import elements_of
from ttmlir.mlir.context import make_context
from ttmlir.optable import DEFINITIONS, named_in
from ttmlir.optable.contraction import DotDimensions

if TYPE_CHECKING:
    from ttmlir.mlir.attributes import ElementsType
    from ttmlir.optable.op_definition import OpDefinition

# --- Names ----------------------------------------------------------------------------------------

_OF_INTEGERS = frozenset(("absi", "ctlz", "ctpop", "ipowi"))
"""Operations of math on integers; those of arith end in `f` on floating-point numbers alone."""
_FLOAT_PREDICATES = {"EQ": 1, "GT": 2, "GE": 3, "LT": 4, "LE": 5, "NE": 13}
_INTEGER_PREDICATES = {"EQ": 0, "NE": 1, "LT": 2, "LE": 3, "GT": 4, "GE": 5}
"""The numbers of the predicates of `arith.cmpf` (`ne` holds for NaN) and `arith.cmpi`."""
_COMBINERS: Mapping[str, tuple[str, str, float]] = {
    "sum": ("addf", "addi", 0),
    "prod": ("mulf", "muli", 1),
    "max": ("maximumf", "maxsi", -math.inf),
    "min": ("minimumf", "minsi", math.inf),
    "reduce_or": ("", "ori", False),
    "reduce_and": ("", "andi", True),
}
"""What reductions repeat on floating-point numbers and on integers, and what they begin with."""


@cache
def _named() -> Mapping[str, str]:
    """The operations of linalg by the mnemonics of definitions."""
    return {definition.mnemonic: name for name, definition in named_in("linalg").items()}


@cache
def _on_numbers(of_floats: bool) -> Mapping[str, str]:
    """The operations of math and arith by the mnemonics of definitions."""
    found: dict[str, str] = {}
    for dialect in ("math", "arith"):
        for name, definition in named_in(dialect).items():
            short = name.partition(".")[2]
            is_float = short.endswith("f") if dialect == "arith" else short not in _OF_INTEGERS
            if is_float == of_floats:
                found.setdefault(definition.mnemonic, name)
    return found


@cache
def _classes() -> Mapping[str, type[Operation]]:
    return {cls.name: cls for cls in LINALG_OPERATIONS}


@cache
def _class_of(name: str) -> type[Operation]:
    from ttmlir.dialects import DIALECTS

    return make_context(DIALECTS).get_op(name)


def _clamp(x: Array, **limits: Any) -> Array:
    low, high = limits["min"], limits["max"]
    return x.maximum(low if x.is_real else int(low)).minimum(high if x.is_real else int(high))


def _slope(x: Array, **parameters: Any) -> Array:
    return (x > 0).where(x, x * parameters["parameter"])


_OF_ONE: Mapping[str, Callable[[Array], Array]] = {
    "bitwise_not": lambda x: x ^ -1,
    "erfc": lambda x: 1 - x.erf(),
    "gelu": lambda x: x * 0.5 * ((x * math.sqrt(0.5)).erf() + 1),
    "isfinite": lambda x: x.abs() < math.inf if x.is_real else x.eq(x),
    "logical_not": lambda x: x ^ True if x.dtype == TRUTH else x.eq(0),
    "neg": lambda x: 0 - x,
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: x.maximum(0),
    "sign": lambda x: x.is_nan().where(x, (x > 0).cast(x.dtype) - (x < 0).cast(x.dtype)),
    "sigmoid": lambda x: 1 / ((-x).exp() + 1),
    "silu": lambda x: x / ((-x).exp() + 1),
    "square": lambda x: x * x,
}
_MADE_OF_OTHERS: Mapping[str, Callable[..., Array]] = {
    **_OF_ONE,
    "clamp": _clamp,
    "leaky_relu": _slope,
}
"""Operations without a name in linalg, math and arith, or on some elements only."""


class LinalgCarrier:
    """Creates operations where a builder does."""

    holds_numbers = False

    def __init__(self, build: Builder) -> None:
        """Create them where the builder does."""
        self._build = build

    @classmethod
    def before(cls, op: Operation) -> LinalgCarrier:
        """In front of an operation, at its location."""
        return cls(Builder.before(op))

    def wrap(self, value: SSAValue) -> Array:
        """A tensor as an array."""
        return Array(self, value, value_shape(value), dtype_of(element_type(value)))

    def add(self, op: Operation) -> SSAValue:
        """Put an operation there; its result."""
        for each in op.walk():
            each.location = self._build.location
        return self._build.insert(op).results[0]

    # --- Any operation --------------------------------------------------------------------------

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """What computes a definition; ArgumentError for one that nothing here does."""
        if definition.family.is_elementwise:
            return self._compute(definition, operands, shape, dtype, parameters).value
        arrays = [self._spread(each, each.shape) for each in operands]
        rule = _RULES.get(definition.mnemonic)
        if rule is None:
            raise ArgumentError(
                "there is nothing in linalg for it; supported are elementwise operations, "
                f"{', '.join(sorted(_RULES))}, and what is made of these"
            )
        return rule(self, arrays, shape, parameters).cast(dtype).value

    def fill(self, number: Number, shape: Shape, dtype: str) -> SSAValue:
        """A constant of one number."""
        if "f" not in dtype:
            limit = (1 << (width_of(dtype) - 1)) - 1
            number = int(number) if math.isfinite(number) else limit if number > 0 else ~limit
        return self._constant(TensorType(element_of(dtype), shape), [number])

    def constant(self, numbers: Any, dtype: str) -> SSAValue:
        """A constant of the numbers of an array of NumPy."""
        type_ = TensorType(element_of(dtype), numbers.shape)
        return self._constant(type_, numbers.ravel().tolist())

    def _constant(self, type_: TensorType[Attribute], numbers: Sequence[float]) -> SSAValue:
        elements = elements_of(cast("ElementsType", type_), numbers)
        return self.add(
            arith.ConstantOp.create(result_types=[type_], properties={"value": elements})
        )

    # --- Elements -------------------------------------------------------------------------------

    def _compute(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Array:
        mnemonic = definition.mnemonic
        arrays = [self._spread(each, shape) for each in operands]
        match mnemonic:
            case "typecast":
                return self._convert(arrays[0], dtype)
            case "bitcast_convert":
                return self._call("arith.bitcast", arrays, dtype)
            case "where":
                condition = self._as_truth(arrays[0])
                chosen = [each.cast(dtype) for each in arrays[1:]]
                return self._call("arith.select", [condition, *chosen], dtype)
            case _:
                pass
        if definition.direction:
            return self._compare(definition.direction, arrays).cast(dtype)
        if mnemonic.startswith("logical_") and "shift" not in mnemonic:
            arrays = [self._as_truth(each) for each in arrays]
        if arrays[0].dtype == TRUTH and definition.on_truth and mnemonic not in _LOGIC:
            return self._compute(DEFINITIONS[definition.on_truth], operands, shape, dtype, {})
        return self._name(definition, arrays, parameters).cast(dtype)

    def _name(
        self, definition: OpDefinition, arrays: Sequence[Array], parameters: dict[str, Any]
    ) -> Array:
        """A named operation, one of math or arith, or several of them."""
        mnemonic, own, is_float = definition.mnemonic, arrays[0].dtype, arrays[0].is_real
        if mnemonic in _LOGIC:
            return self._call(_LOGIC[mnemonic], arrays, TRUTH)
        if own != TRUTH and mnemonic in _named() and (is_float or mnemonic in _ARITHMETIC):
            into = self.empty(arrays[-1].shape, arrays[-1].dtype)
            return self.write(_named()[mnemonic], arrays, into)
        if own != TRUTH and mnemonic in _on_numbers(is_float):
            return self._call(_on_numbers(is_float)[mnemonic], arrays, own)
        if mnemonic in _MADE_OF_OTHERS:
            return _MADE_OF_OTHERS[mnemonic](*arrays, **parameters)
        return self._expand(definition, arrays, parameters)

    @staticmethod
    def _expand(
        definition: OpDefinition, arrays: Sequence[Array], parameters: dict[str, Any]
    ) -> Array:
        """The reference function of a definition, which computes with other ones."""
        try:
            return definition.reference(ARRAYS, *arrays, **parameters)
        except (AttributeError, TypeError) as error:
            raise ArgumentError(
                f"there is nothing in linalg, math or arith for it on {arrays[0].dtype}"
            ) from error

    def _spread(self, operand: Array | Scalar, shape: Shape) -> Array:
        if isinstance(operand, Scalar):
            value = self.fill(operand.number, shape, operand.dtype)
            return Array(self, value, shape, operand.dtype)
        if operand.carrier.holds_numbers:
            value = self.constant(operand.value, operand.dtype)
            operand = Array(self, value, operand.shape, operand.dtype)
        return operand.broadcast(shape) if operand.shape != tuple(shape) else operand

    def _call(self, name: str, arrays: Sequence[Array], dtype: str, **properties: Any) -> Array:
        """An operation of arith or math on tensors of one shape."""
        shape = arrays[0].shape
        op = _class_of(name).create(
            operands=[each.value for each in arrays],
            result_types=[TensorType(element_of(dtype), shape)],
            properties=properties,
        )
        return Array(self, self.add(op), shape, dtype)

    def write(
        self, name: str, arrays: Sequence[Array], into: Array, **properties: Attribute
    ) -> Array:
        """An operation of linalg that writes to a tensor."""
        cls = _classes()[name]
        segments: Mapping[str, Attribute] = {}
        if cast("Any", cls).SIGNATURE.has_segments:
            segments = {"operandSegmentSizes": cast("Any", cls).segments(len(arrays), 1)}
        op = cls.create(
            operands=[*(each.value for each in arrays), into.value],
            result_types=[into.value.type],
            properties={**properties, **segments},
        )
        return Array(self, self.add(op), into.shape, into.dtype)

    def empty(self, shape: Shape, dtype: str) -> Array:
        """A tensor without values, to write to."""
        value = self._build.create_empty(TensorType(element_of(dtype), shape))
        return Array(self, value, shape, dtype)

    def _compare(self, direction: str, arrays: Sequence[Array]) -> Array:
        is_float = arrays[0].is_real
        predicates = _FLOAT_PREDICATES if is_float else _INTEGER_PREDICATES
        number = predicates[direction]
        if arrays[0].dtype == TRUTH and direction not in ("EQ", "NE"):
            number += 4  # True is 1, not -1.
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(number, i64)}
        if is_float:
            properties["fastmath"] = arith.FastMathFlagsAttr("none")
        name = "arith.cmpf" if is_float else "arith.cmpi"
        return self._call(name, arrays, TRUTH, **properties)

    def _as_truth(self, array: Array) -> Array:
        return array if array.dtype == TRUTH else array.ne(0)

    def _convert(self, array: Array, dtype: str) -> Array:
        """Numbers of another type; of truth values 0 and 1."""
        if array.dtype == dtype:
            return array
        if dtype == TRUTH:
            return array.ne(0)
        here, there = width_of(array.dtype), width_of(dtype)
        if array.is_real and "f" in dtype:
            if here == there:
                return self._convert(self._convert(array, "f32"), dtype)
            name = "arith.extf" if here < there else "arith.truncf"
        elif array.is_real:
            name = "arith.fptosi"
        elif "f" in dtype:
            name = "arith.uitofp" if array.dtype == TRUTH else "arith.sitofp"
        elif array.dtype == TRUTH:
            name = "arith.extui"
        else:
            name = "arith.extsi" if here < there else "arith.trunci"
        return self._call(name, [array], dtype)

    # --- Movement -------------------------------------------------------------------------------

    def regroup(self, array: Array, shape: Shape) -> Array:
        """The same elements in order, with other dimensions: merged ones, then divided ones."""
        if array.shape == tuple(shape):
            return array
        if not array.shape:
            return self.broadcast(array, shape)
        groups = _groups(array.shape, shape)
        merged = tuple(math.prod(array.shape[n] for n in each) for each, _ in groups)
        value = array.value
        element = element_of(array.dtype)
        for name, result, places in (
            ("tensor.collapse_shape", merged, [each for each, _ in groups]),
            ("tensor.expand_shape", tuple(shape), [each for _, each in groups]),
        ):
            if value_shape(value) == tuple(result):
                continue
            properties: dict[str, Attribute] = {
                "reassociation": ArrayAttr(
                    ArrayAttr(IntegerAttr(n, i64) for n in each) for each in places
                )
            }
            if name == "tensor.expand_shape":
                properties["static_output_shape"] = DenseArrayBase.from_list(i64, list(result))
            value = self.add(
                _class_of(name).create(
                    operands=[value],
                    result_types=[TensorType(element, result)],
                    properties=properties,
                )
            )
        return Array(self, value, shape, array.dtype)

    def permute(self, array: Array, order: Sequence[int]) -> Array:
        """The dimensions in another order."""
        if list(order) == list(range(array.rank)):
            return array
        into = self.empty(tuple(array.shape[dim] for dim in order), array.dtype)
        listed = DenseArrayBase.from_list(i64, list(order))
        return self.write("linalg.transpose", [array], into, permutation=listed)

    def broadcast(self, array: Array, shape: Shape) -> Array:
        """Dimensions of extent 1 are dropped, and made again with more elements."""
        more = len(shape) - array.rank
        own = (*(0,) * more, *array.shape)
        new = [dim for dim, extent in enumerate(own) if extent != shape[dim]]
        kept = tuple(extent for dim, extent in enumerate(own) if dim not in new)
        dropped = self.regroup(array, kept)
        if not new:
            return dropped
        listed = DenseArrayBase.from_list(i64, new)
        into = self.empty(shape, array.dtype)
        return self.write("linalg.broadcast", [dropped], into, dimensions=listed)

    def cut(self, array: Array, begins: Shape, sizes: Shape, steps: Shape) -> Array:
        """A part of a tensor."""
        type_ = TensorType(element_of(array.dtype), sizes)
        op = tensor.ExtractSliceOp.from_static_parameters(array.value, begins, sizes, steps)
        assert op.results[0].type == type_, "a static slice has the sizes"
        return Array(self, self.add(op), sizes, array.dtype)

    def put(self, part: Array, into: Array, begins: Shape) -> Array:
        """A tensor with a part in place of what was there."""
        op = tensor.InsertSliceOp.from_static_parameters(
            part.value, into.value, begins, part.shape, (1,) * part.rank
        )
        return Array(self, self.add(op), into.shape, into.dtype)

    # --- Reductions and products ----------------------------------------------------------------

    def reduce(self, mnemonic: str, array: Array, dims: Shape) -> Array:
        """Combined along dimensions, which are gone; short floats are added in 32 bits."""
        of_floats, of_integers, first = _COMBINERS[mnemonic]
        if not of_floats:
            array = self._as_truth(array)
        own = array.dtype
        if mnemonic in ("sum", "prod") and array.is_real and width_of(own) < _WIDE:
            array = array.cast("f32")
        name = of_floats if array.is_real else of_integers
        shape = tuple(extent for dim, extent in enumerate(array.shape) if dim not in dims)
        into = Array(self, self.fill(first, shape, array.dtype), shape, array.dtype)
        element = element_of(array.dtype)
        body = Block(arg_types=[element, element])
        inner = _class_of(f"arith.{name}").create(
            operands=list(reversed(body.args)), result_types=[element]
        )
        body.add_ops((inner, YieldOp(inner.results[0])))
        op = _classes()["linalg.reduce"].create(
            operands=[array.value, into.value],
            result_types=[into.value.type],
            properties={"dimensions": DenseArrayBase.from_list(i64, list(dims))},
            regions=[Region(body)],
        )
        return Array(self, self.add(op), shape, array.dtype).cast(own)

    def fold(self, mnemonic: str, x: Array, dim_arg: Sequence[int] | None) -> Array:
        """A reduction along dimensions, or along all; a mean is a sum over the count."""
        dims = tuple(sorted(dim % x.rank for dim in dim_arg or range(x.rank)))
        if mnemonic != "mean":
            return self.reduce(mnemonic, x, dims)
        total = self.reduce("sum", x.cast("f32") if width_of(x.dtype) < _WIDE else x, dims)
        return (total / math.prod(x.shape[dim] for dim in dims)).cast(x.dtype)

    def find_largest(self, x: Array, dim_arg: Sequence[int] | None) -> Array:
        """The least position of an element that is the largest, or NaN."""
        dims = tuple(sorted(dim % x.rank for dim in dim_arg or range(x.rank)))
        extents = tuple(n if dim in dims else 1 for dim, n in enumerate(x.shape))
        count = math.prod(extents)
        kept = tuple(1 if dim in dims else n for dim, n in enumerate(x.shape))
        largest = self.regroup(self.reduce("max", x, dims), kept)
        found = x.eq(largest) | x.is_nan()
        numbers = np.arange(count, dtype=np.int32).reshape(extents)
        places = Array(self, self.constant(numbers, "i32"), extents, "i32")
        return self.reduce("min", found.where(places, count), dims)

    def add_running(self, x: Array, dim: int) -> Array:
        """Sums of 2, 4, 8 ... elements up to each one."""
        own = x.dtype
        total = x.cast("f32") if x.is_real and width_of(own) < _WIDE else x
        distance = 1
        while distance < x.shape[dim]:
            before = total.cut(dim, 0, x.shape[dim] - distance)
            margins = [(distance if each == dim else 0, 0) for each in range(x.rank)]
            total = total + before.pad(margins, 0)
            distance *= 2
        return total.cast(own)

    def multiply(self, left: Array, right: Array) -> Array:
        """Products of batches of matrices; short floats are added in 32 bits."""
        own = left.dtype
        wide = "f32" if left.is_real and width_of(own) < _WIDE else own
        *batch, rows, _ = left.shape
        shape = (*batch, rows, right.shape[-1])
        zeros = Array(self, self.fill(0, shape, wide), shape, wide)
        name = "linalg.batch_matmul" if batch else "linalg.matmul"
        return self.write(name, [left, right], zeros).cast(own)

    def contract(self, left: Array, right: Array, shape: Shape, given: Mapping[str, Any]) -> Array:
        """Dimensions in order of batches, rows and terms: a product of matrices."""
        dims = [
            DotDimensions.of(x.rank, given[f"batch_dims_{side}"], given[f"contract_dims_{side}"])
            for x, side in ((left, "lhs"), (right, "rhs"))
        ]
        orders = [
            (*dims[0].batch, *dims[0].free, *dims[0].contract),
            (*dims[1].batch, *dims[1].contract, *dims[1].free),
        ]
        batch, rows, terms, columns = (
            math.prod(x.shape[dim] for dim in each)
            for x, each in (
                (left, dims[0].batch),
                (left, dims[0].free),
                (left, dims[0].contract),
                (right, dims[1].free),
            )
        )
        outer = (batch,) if dims[0].batch else ()
        a = self.regroup(self.permute(left, orders[0]), (*outer, rows, terms))
        b = self.regroup(self.permute(right, orders[1]), (*outer, terms, columns))
        return self.regroup(self.multiply(a, b), shape)

    # --- Windows --------------------------------------------------------------------------------

    def _surround(self, x: Array, shape: Shape, given: Mapping[str, Any], number: float) -> Array:
        """An image with all elements that windows see, of which `shape` says how many there are."""
        margins = [(0, 0)]
        for dim, (axis, low, high) in enumerate(_AXES, 1):
            reach = (shape[dim] - 1) * given[f"stride_{axis}"] + _reach(given, axis)
            below = given[f"padding_{low}"]
            margins.append((below, max(reach - x.shape[dim] - below, given[f"padding_{high}"])))
        margins.append((0, 0))
        return x.pad(margins, number) if any(map(any, margins)) else x

    def _slide(
        self, name: str, arrays: Sequence[Array], into: Array, given: Mapping[str, Any]
    ) -> Array:
        pair = TensorType(i64, (2,))
        steps: dict[str, Attribute] = {
            word: elements_of(
                cast("ElementsType", pair), [given[f"{key}_{axis}"] for axis, _, _ in _AXES]
            )
            for word, key in (("strides", "stride"), ("dilations", "dilation"))
        }
        return self.write(f"linalg.{name}", arrays, into, **steps)

    def convolve(self, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]) -> Array:
        """An image and the windows of a weight, and a bias."""
        x, weight, *biases = arrays
        if given["groups"] != 1:
            raise ArgumentError(f"convolutions have one group here, got {given['groups']}")
        own = x.dtype
        wide = "f32" if x.is_real and width_of(own) < _WIDE else own
        kernel = dict(zip(("kernel_height", "kernel_width"), weight.shape[2:], strict=True))
        image = self._surround(x, shape, {**given, **kernel}, 0)
        zeros = Array(self, self.fill(0, shape, wide), shape, wide)
        window = self.permute(weight, (2, 3, 1, 0))
        found = self._slide("conv_2d_nhwc_hwcf", [image, window], zeros, given).cast(own)
        return found + biases[0] if biases else found

    def pool(self, x: Array, shape: Shape, given: Mapping[str, Any], *, is_max: bool) -> Array:
        """The largest elements, or the means, of windows of an image."""
        own = x.dtype
        wide = x if is_max or width_of(own) >= _WIDE else x.cast("f32")
        number = -math.inf if is_max else 0
        image = self._surround(wide, shape, given, number)
        into = Array(self, self.fill(number, shape, wide.dtype), shape, wide.dtype)
        window = self.empty((given["kernel_height"], given["kernel_width"]), wide.dtype)
        name = "pooling_nhwc_max" if is_max else "pooling_nhwc_sum"
        found = self._slide(name, [image, window], into, given)
        if not is_max:
            counts = [
                _count_elements(x.shape[dim], shape[dim], axes, given)
                for dim, axes in enumerate(_AXES, 1)
            ]
            numbers = np.multiply.outer(*counts)[None, :, :, None].astype(np.float32)
            counted = Array(self, self.constant(numbers, found.dtype), numbers.shape, found.dtype)
            found = found / counted
        return found.cast(own)

    # --- Others ---------------------------------------------------------------------------------

    def count(self, shape: Shape, given: Mapping[str, Any]) -> Array:
        """Numbers from a start on, along a dimension."""
        dim: int = given["arange_dimension"]
        extents = tuple(n if each == dim else 1 for each, n in enumerate(shape))
        numbers = np.arange(shape[dim], dtype=np.int32) * given["step"] + given["start"]
        value = self.constant(numbers.reshape(extents), "i32")
        return Array(self, value, extents, "i32").broadcast(shape)

    def join(self, arrays: Sequence[Array], shape: Shape, dim: int) -> Array:
        """Tensors one after the other along a dimension."""
        op = _class_of("tensor.concat").create(
            operands=[each.value for each in arrays],
            result_types=[TensorType(element_of(arrays[0].dtype), shape)],
            properties={"dim": IntegerAttr(dim, i64)},
        )
        return Array(self, self.add(op), shape, arrays[0].dtype)


_AXES = (("height", "top", "bottom"), ("width", "left", "right"))
"""The dimensions of images in names of parameters, and the sides of their padding."""


def _reach(given: Mapping[str, Any], axis: str) -> int:
    """Elements from the first to the last one that a window sees."""
    return (given[f"kernel_{axis}"] - 1) * given[f"dilation_{axis}"] + 1


def _count_elements(
    extent: int, windows: int, axes: tuple[str, str, str], given: Mapping[str, Any]
) -> Any:
    """How many elements each window is the mean of."""
    axis, low, high = axes
    below, above = given[f"padding_{low}"], given[f"padding_{high}"]
    kernel: int = given[f"kernel_{axis}"]
    starts = np.arange(windows)[:, None] * int(given[f"stride_{axis}"]) - int(below)
    seen = starts + np.arange(kernel) * int(given[f"dilation_{axis}"])
    first, last = (-below, extent + above) if given["count_include_pad"] else (0, extent)
    return ((seen >= first) & (seen < last)).sum(1)


def _normalize(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    dimension: int,
    epsilon: float,
) -> Array:
    """Channels moved and scaled by their statistics."""
    extents = [x.shape[dimension] if dim == dimension else 1 for dim in range(x.rank)]
    factor = ((variance + epsilon).rsqrt() * scale).reshape(extents)
    return (x - mean.reshape(extents)) * factor + offset.reshape(extents)


def _as_batch(x: Array) -> Array:
    """Matrices of several dimensions as one batch."""
    if x.rank <= _OF_BATCHES:
        return x
    return x.reshape((math.prod(x.shape[:-2]), *x.shape[-2:]))


_OF_BATCHES = 3
"""Dimensions of a batch of matrices."""
_WIDE = 32
"""Bits of the numbers in which sums are made."""
_ARITHMETIC = ("add", "subtract", "multiply", "div", "maximum", "minimum")
"""Named operations of linalg that take integers, too, with their sign."""
_LOGIC = {
    "logical_and": "arith.andi",
    "logical_or": "arith.ori",
    "logical_xor": "arith.xori",
}


def _groups(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of dimensions of two shapes that hold the same elements."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    if 0 in source:
        return [(list(range(len(source))), list(range(len(target))))] if source and target else []
    while i < len(source) and j < len(target):
        ours, theirs = [i], [j]
        a, b = source[i], target[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a *= source[i]
                ours.append(i)
                i += 1
            else:
                b *= target[j]
                theirs.append(j)
                j += 1
        found.append((ours, theirs))
    if found:
        # Extents of 1 that are left over.
        found[-1][0].extend(range(i, len(source)))
        found[-1][1].extend(range(j, len(target)))
    return found


# --- Rules ----------------------------------------------------------------------------------------

_Rule = Callable[[LinalgCarrier, Sequence[Array], Shape, Mapping[str, Any]], Array]


def _reduction(mnemonic: str) -> _Rule:
    def reduce(
        carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
    ) -> Array:
        return carrier.regroup(carrier.fold(mnemonic, arrays[0], given.get("dim_arg")), shape)

    return reduce


def _find_places(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    return carrier.regroup(carrier.find_largest(arrays[0], given.get("dim_arg")), shape)


def _regroup(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    return carrier.regroup(arrays[0], shape)


def _multiply(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    factors = [
        _as_batch(each.broadcast((*shape[:-2], *each.shape[-2:])))
        if each.shape[:-2] != shape[:-2]
        else _as_batch(each)
        for each in arrays
    ]
    return carrier.regroup(carrier.multiply(*factors), shape)


def _transpose(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    order = list(range(len(shape)))
    a, b = given["dim0"] % len(shape), given["dim1"] % len(shape)
    order[a], order[b] = order[b], order[a]
    return carrier.permute(arrays[0], order)


def _repeat(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    (x,) = arrays
    apart = tuple(n for extent in x.shape for n in (1, extent))
    spread = tuple(
        n for extent, own in zip(shape, x.shape, strict=True) for n in (extent // own, own)
    )
    return carrier.regroup(carrier.broadcast(carrier.regroup(x, apart), spread), shape)


def _pad(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    (x,) = arrays
    into = x.fill(given["value"], shape)
    return carrier.put(x, into, tuple(given["padding"][::2]))


def _softmax(
    carrier: LinalgCarrier, arrays: Sequence[Array], shape: Shape, given: Mapping[str, Any]
) -> Array:
    (x,) = arrays
    dimension = IntegerAttr(given["dimension"] % x.rank, i64)
    into = carrier.empty(shape, x.dtype)
    return carrier.write("linalg.softmax", [x], into, dimension=dimension)


_RULES: Mapping[str, _Rule] = {
    **{name: _reduction(name) for name in (*_COMBINERS, "mean")},
    **dict.fromkeys(("reshape", "squeeze", "unsqueeze"), _regroup),
    "arange": lambda carrier, arrays, shape, given: carrier.count(shape, given),
    "argmax": _find_places,
    "avg_pool2d": lambda carrier, arrays, shape, given: carrier.pool(
        arrays[0], shape, given, is_max=False
    ),
    "batch_norm_inference": lambda carrier, arrays, shape, given: _normalize(*arrays, **given),
    "broadcast": lambda carrier, arrays, shape, given: carrier.broadcast(arrays[0], shape),
    "concat": lambda carrier, arrays, shape, given: carrier.join(
        arrays, shape, given["dim"] % len(shape)
    ),
    "conv2d": lambda carrier, arrays, shape, given: carrier.convolve(arrays, shape, given),
    "cumsum": lambda carrier, arrays, shape, given: carrier.add_running(
        arrays[0], given["dim"] % len(shape)
    ),
    "dot_general": lambda carrier, arrays, shape, given: carrier.contract(
        arrays[0], arrays[1], shape, given
    ),
    "matmul": _multiply,
    "max_pool2d": lambda carrier, arrays, shape, given: carrier.pool(
        arrays[0], shape, given, is_max=True
    ),
    "pad": _pad,
    "permute": lambda carrier, arrays, shape, given: carrier.permute(
        arrays[0], given["permutation"]
    ),
    "repeat": _repeat,
    "slice": lambda carrier, arrays, shape, given: carrier.cut(
        arrays[0],
        tuple(
            begin + extent if begin < 0 else begin
            for begin, extent in zip(given["begins"], arrays[0].shape, strict=True)
        ),
        shape,
        tuple(given.get("step") or (1,) * len(shape)),
    ),
    "softmax": _softmax,
    "transpose": _transpose,
}
"""What is not elementwise, by the mnemonics of definitions."""
