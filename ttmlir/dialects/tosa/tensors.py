"""The operations of tosa on whole tensors: constants, movement, reductions, products, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasFolder, Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, TypeConstraint, ValueGroup, refuse
from ttmlir.dialects.tosa.attrs import ShapeType
from ttmlir.dialects.tosa.forms import (
    EXTENTS,
    NAN_MODE,
    NUMBERS,
    QUANTIZATION,
    RANKED,
    SHAPE,
    TYPE,
    FormedOp,
    TosaOp,
    dense_i64,
    op_class,
    rank,
)


class _ConstantFolds(HasFolder):
    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute]:
        return (cast("ConstOp", op).value,)


class ConstOp(FormedOp):
    """A constant tensor, which MLIR writes in the generic form.

    C1: value and result have the same shape.
    """

    name = "tosa.const"
    FORMS: ClassVar = tuple(
        Signature(
            results=(ValueGroup("output", NUMBERS),), properties=(Property(name, ods.ELEMENTS),)
        )
        for name in ("value", "values")
    )
    traits = traits_def(Pure(), ConstantLike(), _ConstantFolds())

    @property
    def value(self) -> Attribute:
        """The elements."""
        return next(iter(self.properties.values()))

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        value = cast("DenseIntOrFPElementsAttr", self.value)
        result = cast("TensorType[Attribute]", self.results[0].type)
        if value.type.get_shape() != result.get_shape():
            refuse("failed to verify that all of {value, output} have same shape")


class ConstShapeOp(TosaOp):
    """Numbers that are known when the program is compiled: extents, paddings, multiples.

    C1: as many numbers as the type says; a shape of rank 0 is written as one number.
    """

    name = "tosa.const_shape"
    FORMS: ClassVar = (
        Signature(
            results=(ValueGroup("output", SHAPE),), properties=(Property("values", ods.ELEMENTS),)
        ),
    )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    def verify_op(self) -> None:
        """Count the numbers (C1)."""
        count = cast("DenseIntOrFPElementsAttr", self.properties["values"]).type.get_shape()[0]
        expected = cast("ShapeType", self.results[0].type).rank.data
        if count != max(1, expected):
            refuse(
                f"expect number of elements in attribute values ({count}) to be equal to the "
                f"rank ({expected}) for the result shape type"
            )


_AXIS = Property("axis", ods.I32)
_NAN = Property("nan_mode", NAN_MODE, optional=True)


def _values(constraint: TypeConstraint, *names: str) -> tuple[ValueGroup, ...]:
    return tuple(ValueGroup(name, constraint) for name in names)


def _signature(
    operands: Sequence[ValueGroup],
    *properties: Property,
    result: TypeConstraint = NUMBERS,
    results: int = 1,
    regions: int = 0,
) -> Signature:
    return Signature(
        operands=tuple(operands),
        results=tuple(ValueGroup("output", result) for _ in range(results)),
        properties=properties,
        regions=regions,
    )


def _quantization() -> Property:
    return Property("quantization_info", QUANTIZATION, optional=True)


def _optional(name: str, constraint: ods.AttrConstraint) -> Property:
    return Property(name, constraint, optional=True)


def _convolution(
    weight: str, rank_: int, *spatial: Property, quantized: bool = True
) -> tuple[Signature, Signature]:
    image, kernel, bias = rank(rank_), rank(rank_), rank(1)
    operands = (ValueGroup("input", image), ValueGroup(weight, kernel), ValueGroup("bias", bias))
    shared = (*spatial, _optional("acc_type", TYPE), _optional("local_bound", ods.BOOL))
    return (
        _signature(operands, *shared, _quantization(), result=image),
        _signature((*operands, *_values(NUMBERS, "input_zp", "weight_zp")), *shared, result=image),
    )


def _image(rank_: int) -> tuple[Property, ...]:
    return (
        Property("pad", dense_i64(2 * rank_)),
        Property("stride", dense_i64(rank_)),
        Property("dilation", dense_i64(rank_)),
    )


_POOL = (
    Property("kernel", dense_i64(2)),
    Property("stride", dense_i64(2)),
    Property("pad", dense_i64(4)),
)
_IMAGE = rank(4)
_INPUT = _values(NUMBERS, "input1")
_RESCALED = (Property("scale32", ods.BOOL), Property("per_channel", ods.BOOL))
_UNSIGNED = (_optional("input_unsigned", ods.BOOL), _optional("output_unsigned", ods.BOOL))
_OUT_PAD = (Property("out_pad", dense_i64(4)), Property("stride", dense_i64(2)))

_FORMS: dict[str, tuple[Signature, ...]] = {
    "argmax": (_signature(_values(NUMBERS, "input"), _AXIS, _NAN),),
    **dict.fromkeys(
        ("reduce_all", "reduce_any", "reduce_prod", "reduce_product", "reduce_sum"),
        (_signature(_values(NUMBERS, "input"), _AXIS),),
    ),
    **dict.fromkeys(
        ("reduce_max", "reduce_min"), (_signature(_values(NUMBERS, "input"), _AXIS, _NAN),)
    ),
    "reverse": (_signature(_INPUT, _AXIS),),
    "concat": (_signature((ValueGroup("input1", NUMBERS, variadic=True),), _AXIS),),
    "pad": (
        _signature(
            (
                ValueGroup("input1", RANKED),
                ValueGroup("padding", EXTENTS),
                ValueGroup("pad_const", NUMBERS, optional=True),
            ),
            _quantization(),
        ),
    ),
    "reshape": (
        _signature(_INPUT, Property("new_shape", ods.DENSE_I64), result=RANKED),
        _signature((*_INPUT, ValueGroup("shape", SHAPE)), result=RANKED),
    ),
    "slice": (
        _signature(_INPUT, Property("start", ods.DENSE_I64), Property("size", ods.DENSE_I64)),
        _signature((*_INPUT, *_values(SHAPE, "start", "size"))),
    ),
    "tile": (
        _signature(_INPUT, Property("multiples", ods.DENSE_I64)),
        _signature((*_INPUT, ValueGroup("multiples", SHAPE))),
    ),
    "transpose": (
        _signature((*_INPUT, ValueGroup("perms", EXTENTS))),
        _signature(_INPUT, Property("perms", ods.DENSE_I32)),
    ),
    "gather": (
        _signature((ValueGroup("values", rank(3)), ValueGroup("indices", rank(2))), result=rank(3)),
    ),
    "scatter": (
        _signature(
            (
                ValueGroup("values_in", rank(3)),
                ValueGroup("indices", rank(2)),
                ValueGroup("input", rank(3)),
            ),
            result=rank(3),
        ),
    ),
    "table": (_signature((ValueGroup("input", NUMBERS), ValueGroup("table", rank(1)))),),
    "matmul": (
        _signature(_values(rank(3), "a", "b"), _quantization(), result=rank(3)),
        _signature((*_values(rank(3), "a", "b"), *_values(NUMBERS, "a_zp", "b_zp"))),
    ),
    "fully_connected": (
        _signature(
            (*_values(rank(2), "input", "weight"), ValueGroup("bias", rank(1))),
            _quantization(),
            result=rank(2),
        ),
    ),
    "conv2d": _convolution("weight", 4, *_image(2)),
    "conv3d": _convolution("weight", 5, *_image(3)),
    "depthwise_conv2d": _convolution("weight", 4, *_image(2)),
    "transpose_conv2d": _convolution(
        "filter", 4, *_OUT_PAD, Property("out_shape", dense_i64(4), optional=True)
    ),
    "max_pool2d": (_signature((ValueGroup("input", _IMAGE),), *_POOL, _NAN, result=_IMAGE),),
    "avg_pool2d": (
        _signature(
            (ValueGroup("input", _IMAGE),),
            *_POOL,
            Property("acc_type", TYPE),
            _quantization(),
            result=_IMAGE,
        ),
        _signature(
            (ValueGroup("input", _IMAGE), *_values(NUMBERS, "input_zp", "output_zp")),
            *_POOL,
            Property("acc_type", TYPE),
            result=_IMAGE,
        ),
    ),
    "resize": (
        _signature(
            (ValueGroup("input", _IMAGE),),
            Property("scale", dense_i64(4)),
            Property("offset", dense_i64(2)),
            Property("border", dense_i64(2)),
            Property("mode", NAN_MODE),
            result=_IMAGE,
        ),
        _signature(
            (ValueGroup("input", _IMAGE), *_values(SHAPE, "scale", "offset", "border")),
            Property("mode", NAN_MODE),
            result=_IMAGE,
        ),
    ),
    "rescale": (
        _signature(
            _values(NUMBERS, "input"),
            Property("input_zp", ods.I32),
            Property("output_zp", ods.I32),
            Property("multiplier", ods.DENSE_I32),
            Property("shift", ods.dense_array_attr(8)),
            Property("double_round", ods.BOOL),
            *_RESCALED,
            *_UNSIGNED,
        ),
        _signature(
            _values(NUMBERS, "input", "multiplier", "shift", "input_zp", "output_zp"),
            Property("rounding_mode", NAN_MODE),
            *_RESCALED,
            *_UNSIGNED,
        ),
    ),
    "fft2d": (
        _signature(
            _values(rank(3), "input_real", "input_imag"),
            Property("inverse", ods.BOOL),
            _optional("local_bound", ods.BOOL),
            result=rank(3),
            results=2,
        ),
    ),
    "rfft2d": (
        _signature(
            _values(rank(3), "input"),
            _optional("local_bound", ods.BOOL),
            result=rank(3),
            results=2,
        ),
    ),
    "custom": (
        Signature(
            operands=(ValueGroup("inputs", NUMBERS, variadic=True),),
            results=(ValueGroup("outputs", NUMBERS, variadic=True),),
            properties=tuple(
                Property(name, ods.STRING)
                for name in ("operator_name", "domain_name", "implementation_attrs")
            ),
        ),
    ),
}

OPERATIONS: Sequence[type[FormedOp]] = (
    ConstOp,
    ConstShapeOp,
    *(op_class(TosaOp, mnemonic, *forms) for mnemonic, forms in _FORMS.items()),
)
"""The operations of this module."""
