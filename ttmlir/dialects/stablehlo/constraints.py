"""Element types, shapes and attributes that StableHLO accepts, in its own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import NoReturn, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    TupleType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import AttrConstraint, TypeConstraint, always, refuse, text
from ttmlir.dialects.quant import UniformType, uniform_of


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """Orders effects: `!stablehlo.token`."""

    name = "stablehlo.token"


@irdl_attr_definition
class FutureType(ParametrizedAttribute, TypeAttribute):
    """What an operation that was started will have computed: `!stablehlo.future<tensor<2xf32>>`."""

    name = "stablehlo.future"
    types: ArrayAttr[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<types>`."""
        types = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_type)
        return [ArrayAttr[Attribute](types)]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<types>`."""
        with printer.in_angle_brackets():
            printer.print_list(self.types.data, printer.print_attribute)


# ---------------------------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------------------------

_BOOL_WIDTH = 1
_WIDTHS = (2, 4, 8, 16, 32, 64)


def _width_of(type: Attribute) -> tuple[int, Signedness]:
    """Width and signedness; width 0 for what is no integer type."""
    if not isinstance(type, IntegerType):
        return 0, Signedness.SIGNLESS
    integer = cast("IntegerType", type)
    return integer.width.data, integer.signedness.data


def width_of(type: Attribute) -> int:
    """Bits of an integer; 0 for what is no integer type."""
    return _width_of(type)[0]


def _is_bool(type: Attribute) -> bool:
    return _width_of(type) == (_BOOL_WIDTH, Signedness.SIGNLESS)


def _is_integer(type: Attribute) -> bool:
    width, signedness = _width_of(type)
    return width in _WIDTHS and signedness is not Signedness.SIGNED


def _is_signless(type: Attribute) -> bool:
    return _is_integer(type) and _width_of(type)[1] is Signedness.SIGNLESS


def _is_float(type: Attribute) -> bool:
    return isinstance(type, AnyFloat)


def _is_complex(type: Attribute) -> bool:
    return isinstance(type, ComplexType) and isinstance(
        cast("ComplexType", type).element_type, (Float32Type, Float64Type)
    )


def _is_quantized(type: Attribute) -> bool:
    return isinstance(type, UniformType) and type.data.axis is None


def _is_quantized_by_axis(type: Attribute) -> bool:
    return isinstance(type, UniformType) and type.data.axis is not None


Element = tuple[str, Callable[[Attribute], bool]]
"""A kind of element types: what messages call it, and the test."""

FLOAT: Element = ("4/6/8/16/32/64-bit float", _is_float)
BOOL: Element = ("bool", _is_bool)
INTEGER: Element = ("2/4/8/16/32/64-bit integer", _is_integer)
SIGNLESS: Element = ("2/4/8/16/32/64-bit signless integer", _is_signless)
COMPLEX: Element = ("complex type with 32/64-bit float elements", _is_complex)
QUANTIZED: Element = ("per-tensor integer quantized", _is_quantized)
PER_AXIS: Element = ("per-axis integer quantized", _is_quantized_by_axis)
INDEX: Element = ("index", lambda type: isinstance(type, IndexType))
WIDE_FLOAT: Element = ("32/64-bit float", lambda type: isinstance(type, (Float32Type, Float64Type)))
SIGNLESS_32: Element = (
    "32-bit signless integer",
    lambda type: _width_of(type) == (32, Signedness.SIGNLESS),
)
UNSIGNED_32: Element = (
    "32-bit unsigned integer",
    lambda type: type == IntegerType(32, Signedness.UNSIGNED),
)
ANY_INTEGER: Element = ("integer", lambda type: isinstance(type, IntegerType))

ANY_ELEMENTS = (FLOAT, BOOL, INTEGER, COMPLEX, QUANTIZED)
ANY_OR_PER_AXIS = (*ANY_ELEMENTS, PER_AXIS)


def _element_type(type: Attribute) -> Attribute | None:
    if isinstance(type, (TensorType, UnrankedTensorType)):
        return cast("TensorType[Attribute]", type).element_type
    return None


def _tensor(shape: str, elements: tuple[Element, ...], fits: ods.Test) -> TypeConstraint:
    words = " or ".join(words for words, _ in elements)
    tests = tuple(test for _, test in elements)

    @cache
    def holds(type: Attribute) -> bool:
        element = _element_type(type)
        return element is not None and fits(type) and any(test(element) for test in tests)

    return TypeConstraint(f"{shape} of {words} values", holds)


def _is_ranked(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def _has_rank(rank: int) -> ods.Test:
    return lambda type: isinstance(type, TensorType) and len(type.shape.data) == rank


def _is_static(type: Attribute) -> bool:
    return isinstance(type, TensorType) and type.has_static_shape()


def _is_static_or_bounded(type: Attribute) -> bool:
    if not isinstance(type, TensorType):
        return False
    unknown = sum(extent < 0 for extent in type.get_shape())
    bounded = cast("TensorType[Attribute]", type).encoding.name == "stablehlo.bounds"
    return unknown == 0 or (unknown == 1 and bounded)


@cache
def ranked(*elements: Element) -> TypeConstraint:
    """A tensor with a rank."""
    return _tensor("ranked tensor", elements, _is_ranked)


@cache
def tensor(*elements: Element) -> TypeConstraint:
    """A tensor with or without a rank."""
    return _tensor("tensor", elements, always)


@cache
def static(*elements: Element) -> TypeConstraint:
    """A tensor of known extents."""
    return _tensor("statically shaped tensor", elements, _is_static)


@cache
def of_rank(rank: int, *elements: Element) -> TypeConstraint:
    """A tensor of this rank."""
    return _tensor(f"{rank}D tensor", elements, _has_rank(rank))


@cache
def static_of_rank(rank: int, words: str, *elements: Element) -> TypeConstraint:
    """A tensor of this rank and of known extents."""
    return _tensor(
        f"statically shaped {rank}-dimensional {words}",
        elements,
        lambda type: _is_static(type) and _has_rank(rank)(type),
    )


ANY = ranked(*ANY_ELEMENTS)
ANY_AXIS = ranked(*ANY_OR_PER_AXIS)
STATIC_OR_BOUNDED = _tensor(
    "statically shaped or single bounded dimension tensor", ANY_OR_PER_AXIS, _is_static_or_bounded
)
PREDICATE = ranked(BOOL)
SHAPE = static_of_rank(1, "tensor", INDEX, INTEGER)
TOKEN = TypeConstraint("token", lambda type: isinstance(type, TokenType))
ANY_OR_TOKEN = TypeConstraint(
    f"{ANY.summary} or token", lambda type: ANY.holds(type) or TOKEN.holds(type)
)
CARRIED = TypeConstraint(
    f"{ANY.summary} or {ranked(PER_AXIS).summary} or token",
    lambda type: ANY.holds(type) or TOKEN.holds(type) or isinstance(type, MemRefType),
)
"""What regions hand on."""


@lru_cache(maxsize=1024)
def _is_foreign(type: Attribute) -> bool:
    if isinstance(type, TupleType):
        return all(map(_is_foreign, type.types.data))
    return tensor(*ANY_OR_PER_AXIS).holds(type) or isinstance(type, (TokenType, MemRefType))


FOREIGN = TypeConstraint(
    f"{tensor(*ANY_OR_PER_AXIS).summary} or token or nested tuple of such values", _is_foreign
)
"""What a call of foreign code takes and gives."""
TUPLE = TypeConstraint(
    "nested tuple of tensors, memrefs or tokens",
    lambda type: isinstance(type, TupleType) and _is_foreign(type),
)
ANYTHING = TypeConstraint("any type", always)

# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


def _non_negative(base: AttrConstraint) -> AttrConstraint:
    return AttrConstraint(
        f"{base.summary} whose value is non-negative",
        base.storage,
        lambda attr: base.holds(attr) and cast("IntegerAttr", attr).value.data >= 0,
    )


def _positive(base: AttrConstraint) -> AttrConstraint:
    return AttrConstraint(
        f"{base.summary} whose value is positive",
        base.storage,
        lambda attr: base.holds(attr) and cast("IntegerAttr", attr).value.data > 0,
    )


def _is_elements_of(width: int) -> ods.Test:
    return lambda attr: (
        isinstance(attr, DenseIntOrFPElementsAttr)
        and cast("TensorType[Attribute]", attr.get_type()).element_type == IntegerType(width)
    )


def _is_dense_bool(attr: Attribute) -> bool:
    return attr.name == "array" and str(getattr(attr, "elt_type", "")) == "i1"


DIMENSION = _non_negative(ods.I64)
TUPLE_INDEX = _non_negative(ods.I32)
POSITIVE_I64 = _positive(ods.I64)
POSITIVE_I32 = _positive(ods.I32)
NON_NEGATIVE_I32 = _non_negative(ods.I32)
DIMENSIONS = ods.DENSE_I64
FLAGS = AttrConstraint("i1 dense array attribute", _is_dense_bool, always)
FLOAT_32 = AttrConstraint(
    "32-bit float attribute", lambda attr: isinstance(attr, FloatAttr), ods.F32.holds
)
PADDING = AttrConstraint(
    "64-bit signless integer elements attribute",
    lambda attr: isinstance(attr, DenseIntOrFPElementsAttr),
    _is_elements_of(64),
)
GROUPS = AttrConstraint(
    "64-bit signless integer elements attribute or mesh and axes based replica groups "
    "representation.",
    always,
    lambda attr: _is_elements_of(64)(attr) or attr.name == "stablehlo.replica_group_mesh_axes",
)
DICTIONARY = AttrConstraint(
    "dictionary of named attribute values", lambda attr: isinstance(attr, DictionaryAttr), always
)
ANY_ATTR = AttrConstraint("any attribute", always, always)
CONSTANT = AttrConstraint("constant vector/tensor attribute", ods.ELEMENTS.storage, always)


def enum(name: str) -> AttrConstraint:
    """A member of the enumeration with this name."""
    return ods.named_attr(name, f"{name} attribute")


def enum_array(name: str) -> AttrConstraint:
    """A list of members of an enumeration."""
    return ods.array_attr(f"{name} attribute array", lambda item: item.name == name)


# --- Shapes ---------------------------------------------------------------------------------------
# Checks of shapes and element types that many operations of StableHLO have in common.

Shape = tuple[int, ...]
DYNAMIC = DYNAMIC_INDEX


def shaped(type: Attribute) -> TensorType[Attribute]:
    """A type that the constraints have found to be a tensor."""
    return cast("TensorType[Attribute]", type)


def shape_of(type: Attribute) -> Shape:
    """The extents of a tensor."""
    return shaped(type).get_shape()


def element_of(type: Attribute) -> Attribute:
    """The element type of a tensor."""
    return shaped(type).element_type


def elements_agree(a: Attribute, b: Attribute) -> bool:
    """True for equal element types, and for quantized ones that differ in scales alone."""
    if a == b:
        return True
    first, second = uniform_of(a), uniform_of(b)
    return first is not None and second is not None and first.kind == second.kind


def extents_agree(a: Shape, b: Shape) -> bool:
    """True if the shapes are equal as far as their extents are known."""
    return len(a) == len(b) and all(x == y or DYNAMIC in (x, y) for x, y in zip(a, b, strict=True))


def shape_text(shape: Sequence[int]) -> str:
    """`[2, 3]` with `?` for an unknown extent."""
    return "[" + ", ".join("?" if extent == DYNAMIC else str(extent) for extent in shape) + "]"


SAME_SHAPE = "requires the same shape for all operands and results"


def check_shapes_agree(types: Sequence[Attribute], words: str = SAME_SHAPE) -> None:
    """Refuse tensors of different shapes."""
    first = shape_of(types[0])
    if not all(extents_agree(first, shape_of(type)) for type in types[1:]):
        refuse(words)


def check_compatible(
    types: Sequence[Attribute],
    words: str = "requires compatible types for all operands and results",
) -> None:
    """Refuse tensors of different shapes or element types."""
    first = types[0]
    for type in types[1:]:
        if type is first:
            continue
        same = elements_agree(element_of(type), element_of(first))
        if not same or not extents_agree(shape_of(type), shape_of(first)):
            refuse(words)


def refuse_inferred(op: Operation, inferred: Sequence[Attribute]) -> NoReturn:
    """Refuse result types that are not those that the operands determine."""
    expected = ", ".join(f"'{text(type)}'" for type in inferred)
    got = ", ".join(f"'{text(result.type)}'" for result in op.results)
    refuse(f"inferred type(s) {expected} are incompatible with return type(s) of operation {got}")


_INFERRED: ContextVar[list[Attribute] | None] = ContextVar("_INFERRED", default=None)
"""Where checks leave the types that they find, instead of comparing them with the results."""


def infer_types(check: Callable[[], None]) -> Sequence[Attribute]:
    """The types of results that the check of an operation finds from its operands.

    None at all if the check compares no types. Raises what the check raises.
    """
    found: list[Attribute] = []
    token = _INFERRED.set(found)
    try:
        check()
    finally:
        _INFERRED.reset(token)
    return found


def leave_inferred(*inferred: Attribute) -> bool:
    """True if the types are asked for, and not to be compared."""
    wanted = _INFERRED.get()
    if wanted is not None:
        wanted += inferred
    return wanted is not None


def check_inferred(op: Operation, *inferred: Attribute) -> None:
    """Compare the results with the types that the operands determine."""
    if leave_inferred(*inferred):
        return
    for result, type in zip(op.results, inferred, strict=True):
        got = result.type
        if got == type:
            continue
        same = elements_agree(element_of(got), element_of(type))
        if not same or not extents_agree(shape_of(got), shape_of(type)):
            refuse_inferred(op, inferred)
