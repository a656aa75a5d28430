"""What the operations of tosa have in common: constraints, and signatures that changed in time.

MLIR 19 gives shapes, permutations and zero points as attributes, later versions as operands. An
operation is held to the form that its operands and properties fit, which `TosaOp.FORMS` lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.traits import Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import FunctionalOp
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
)
from ttmlir.dialects.tosa.attrs import MODES, ShapeType, ZeroPointsAttr
from ttmlir.mlir.xdsl_internals import operands_of


def element_type_of(type: Attribute) -> Attribute | None:
    """The element type of a tensor, None for other types."""
    if isinstance(type, (TensorType, UnrankedTensorType)):
        return cast("TensorType[Attribute]", type).element_type
    return None


def _is_number(type: Attribute) -> bool:
    element = element_type_of(type)
    return element is not None and (
        isinstance(element, IntegerType) or element.name.startswith(("f", "bf", "tf", "!quant"))
    )


def _is_of(element: Attribute, type: Attribute) -> bool:
    return element_type_of(type) == element


def _is_ranked(type: Attribute) -> bool:
    return _is_number(type) and isinstance(type, TensorType)


def _of_rank(rank: int, type: Attribute) -> bool:
    if not _is_ranked(type):
        return _is_number(type)
    return cast("TensorType[Attribute]", type).get_num_dims() == rank


def _is_extents(type: Attribute) -> bool:
    return isinstance(type, ShapeType) or element_type_of(type) in (
        IntegerType(32),
        IntegerType(64),
    )


def rank(number: int) -> TypeConstraint:
    """A tensor of numbers with so many dimensions, if it tells how many it has."""
    return TypeConstraint(f"{number}-d tensor", lambda type: _of_rank(number, type))


NUMBERS = TypeConstraint("tensor of number values", _is_number)
RANKED = TypeConstraint("ranked tensor of number values", _is_ranked)
BOOLEANS = TypeConstraint("tensor of 1-bit signless integer values", lambda type: _is_of(i1, type))
INT32 = TypeConstraint(
    "tensor of 32-bit signless integer values", lambda type: _is_of(IntegerType(32), type)
)
EXTENTS = TypeConstraint(
    "tensor of 32-bit signless integer or 64-bit signless integer values", _is_extents
)
SHAPE = TypeConstraint("shape type", lambda type: isinstance(type, ShapeType))
ANY = TypeConstraint("any type", ods.always)

I8 = ods.integer_attr(8, Signedness.SIGNLESS)
TYPE = AttrConstraint("type attribute", ods.is_type, ods.always)
NAN_MODE = AttrConstraint(
    "mode", lambda attr: isinstance(attr, (StringAttr, *MODES.values())), ods.always
)
QUANTIZATION = AttrConstraint(
    "zero points", lambda attr: isinstance(attr, ZeroPointsAttr), ods.always
)


def dense_i64(count: int) -> AttrConstraint:
    """`array<i64: ...>` of so many numbers."""
    return AttrConstraint(
        f"i64 dense array attribute with exactly {count} elements",
        ods.DENSE_I64.storage,
        lambda attr: len(cast("ods.DenseArrayBase[IntegerType]", attr)) == count,
    )


def _merge(forms: tuple[Signature, ...]) -> Signature:
    """What is known before the form is: all properties, any operands."""
    by_name: dict[str, Property] = {}
    for form in forms:
        for prop in form.properties:
            by_name.setdefault(prop.name, Property(prop.name, prop.constraint, optional=True))
    return Signature(
        operands=(ValueGroup("operands", ANY, variadic=True),),
        results=forms[0].results,
        properties=tuple(by_name.values()),
        regions=forms[0].regions,
    )


class FormedOp(ODSOperation):
    """An operation of one or several forms."""

    FORMS: ClassVar[tuple[Signature, ...]]
    """Signatures: that of MLIR 19 and, if it changed, the later ones."""
    traits = traits_def(Pure())

    def __init_subclass__(cls) -> None:
        """Let the signature be the only form or what all forms allow."""
        if "FORMS" in cls.__dict__:
            cls.SIGNATURE = cls.FORMS[0] if len(cls.FORMS) == 1 else _merge(cls.FORMS)
        super().__init_subclass__()

    def form(self) -> Signature:
        """The first form that has the operation's properties and number of operands."""
        fitting = (form for form in self.FORMS if self._fits(form))
        return next(fitting, self.FORMS[0])

    def _fits(self, form: Signature) -> bool:
        required = sum(value.is_single for value in form.operands)
        exact = required == len(form.operands)
        count = len(operands_of(self))
        return (count == required if exact else count >= required) and all(
            name in form.by_name for name in self.properties
        )


class TosaOp(FormedOp, FunctionalOp):
    """An operation of tosa, written as a function of its operands."""

    @classmethod
    def parse_dict(
        cls, parser: Parser, spelled: dict[str, Attribute]
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Read the attribute dictionary, in which modes may be bare words."""
        if not any(name in cls.SIGNATURE.by_name for name in MODES):
            return super().parse_dict(parser, spelled)
        position = parser.pos
        attributes: dict[str, Attribute] = {}

        def entry() -> None:
            name = parser.parse_identifier_or_str_literal()
            if parser.parse_optional_punctuation("=") is None:
                attributes[name] = UnitAttr()
                return
            mode = MODES.get(name)
            word = mode and parser.parse_optional_keyword_in(mode.WORDS)
            attributes[name] = mode(word) if mode and word else parser.parse_attribute()

        parser.parse_optional_comma_separated_list(Parser.Delimiter.BRACES, entry)
        return cls.split_dict(parser, spelled, attributes, position)


def op_class(
    base: type[TosaOp], mnemonic: str, *forms: Signature, **contents: object
) -> type[TosaOp]:
    """The class of `tosa.<mnemonic>`, which differs from others in nothing but its signature."""
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    body: dict[str, object] = {"name": f"tosa.{mnemonic}", "FORMS": forms, **contents}
    body["__doc__"] = f"`tosa.{mnemonic}`."
    body["__module__"] = __name__
    return cast("type[TosaOp]", type(name, (base,), body))


def op_classes(forms: Mapping[str, tuple[Signature, ...]]) -> tuple[type[TosaOp], ...]:
    """The classes of operations by their forms."""
    return tuple(op_class(TosaOp, mnemonic, *each) for mnemonic, each in forms.items())


def values(constraint: TypeConstraint, *names: str) -> tuple[ValueGroup, ...]:
    """Operands that are held to the same constraint."""
    return tuple(ValueGroup(name, constraint) for name in names)


def optional(name: str, constraint: AttrConstraint) -> Property:
    """A property that may be left out."""
    return Property(name, constraint, optional=True)


def signature(
    operands: Sequence[ValueGroup],
    *properties: Property,
    result: TypeConstraint = NUMBERS,
    results: int = 1,
) -> Signature:
    """A form with results of one kind."""
    return Signature(
        operands=tuple(operands),
        results=tuple(ValueGroup("output", result) for _ in range(results)),
        properties=properties,
    )


AXIS = Property("axis", ods.I32)
NAN = optional("nan_mode", NAN_MODE)
QUANTIZED = optional("quantization_info", QUANTIZATION)
