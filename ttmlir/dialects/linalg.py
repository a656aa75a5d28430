"""The linalg dialect: xDSL's `generic`, `index` and `yield`, and the named operations.

xDSL lacks most named operations. Those here are told by the tables of `optable/linalg.py`. Their
text is read in the generic form, with the body that MLIR writes there, and in the pretty form,
which has none; a body that was not read is not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp as UpstreamGenericOp
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp
from ttmlir.dialects.definition.ods import SEGMENTS, Property, Signature, TypeConstraint, ValueGroup
from ttmlir.dialects.linalg_shapes import (
    check_broadcast,
    check_count,
    check_map,
    check_named,
    check_reduce,
    check_softmax,
    check_transpose,
)
from ttmlir.optable.linalg import NAMED

_ANY = TypeConstraint("any type", ods.always)
_SHAPED = TypeConstraint(
    "shaped of any type values", lambda type: isinstance(type, (TensorType, MemRefType))
)
_RESULTS = (ValueGroup("results", _SHAPED, variadic=True),)
_GROUPS = (ValueGroup("inputs", _ANY, variadic=True), ValueGroup("outputs", _SHAPED, variadic=True))
_OPERANDS = (ValueGroup("operands", _ANY, variadic=True),)


_WINDOW = tuple(Property(name, ods.ELEMENTS, optional=True) for name in ("strides", "dilations"))


class StructuredOp(AssemblyOp):
    """An operation that reads its inputs and gives what its outputs begin with, changed.

    Syntax: `{attributes} ins(inputs : types) outs(outputs : types) -> types`.
    """

    LISTED: ClassVar[str] = ""
    """The property that is written as a list behind the operands, if there is one."""
    HAS_BODY: ClassVar[bool] = False
    """True where the body is part of the text."""
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        short = cls._parse_short_body(parser) if cls.HAS_BODY else None
        properties, attributes = cls.parse_dict(parser, {})
        inputs = _parse_group(parser, "ins")
        outputs = _parse_group(parser, "outs")
        if cls.LISTED:
            parser.parse_keyword(cls.LISTED)
            parser.parse_punctuation("=")
            numbers = parser.parse_comma_separated_list(
                Parser.Delimiter.SQUARE, parser.parse_integer
            )
            properties[cls.LISTED] = DenseArrayBase.from_list(i64, numbers)
        regions = [cls._parse_body(parser, short, inputs)] if cls.HAS_BODY else []
        if cls.SIGNATURE.has_segments:
            properties[SEGMENTS] = cls.segments(len(inputs), len(outputs))
        results: Sequence[Attribute] = []
        if cls.LISTED or cls.HAS_BODY:
            # These write no types of results: there is one for each tensor.
            results = [each.type for each in outputs if not isinstance(each.type, MemRefType)]
        if parser.parse_optional_punctuation("->") is not None:
            given = parser.parse_optional_comma_separated_list(
                Parser.Delimiter.PAREN, parser.parse_type
            )
            results = [parser.parse_type()] if given is None else given
        return cls.create(
            operands=[*inputs, *outputs],
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    @classmethod
    def _parse_short_body(cls, parser: Parser) -> str | None:
        """Read `{ operation }`, the only one of a body that takes all numbers."""
        if parser.parse_optional_punctuation("{") is None:
            return None
        name = parser.parse_identifier()
        parser.parse_punctuation("}")
        return name

    @classmethod
    def _parse_body(cls, parser: Parser, short: str | None, inputs: Sequence[SSAValue]) -> Region:
        if short is None:
            arguments = parser.parse_comma_separated_list(
                Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=True)
            )
            return parser.parse_region(arguments)
        op_type = parser.ctx.get_op(short)
        elements = [cast("TensorType[Attribute]", value.type).element_type for value in inputs]
        if cls.LISTED:
            elements = elements * 2
        block = Block(arg_types=elements)
        # The accumulated number comes first where there is one.
        operands = list(reversed(block.args)) if cls.LISTED else list(block.args)
        inner = op_type.create(operands=operands, result_types=[elements[0]])
        block.add_op(inner)
        block.add_op(parser.ctx.get_op("linalg.yield").create(operands=inner.results))
        return Region(block)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        hidden = (*self.SPELLED, SEGMENTS, self.LISTED)
        entries = {k: v for k, v in self.properties.items() if k not in hidden}
        entries |= {k: v for k, v in self.attributes.items() if not k.startswith("linalg.")}
        printer.print_op_attributes(dict(sorted(entries.items())))
        count = len(self.operands) - self._output_count()
        for word, values in (("ins", self.operands[:count]), ("outs", self.operands[count:])):
            if values:
                printer.print_string(f" {word}(")
                printer.print_list(values, printer.print_operand)
                printer.print_string(" : ")
                printer.print_list([value.type for value in values], printer.print_attribute)
                printer.print_string(")")
        if self.LISTED:
            numbers = cast("DenseArrayBase[IntegerType]", self.properties[self.LISTED])
            printer.print_string(f" {self.LISTED} = {list(numbers.iter_values())}")
        if self.HAS_BODY:
            self._print_body(printer)
        elif self.results and not self.LISTED:
            printer.print_string(" -> ")
            printer.print_list(self.result_types, printer.print_attribute)

    def _print_body(self, printer: Printer) -> None:
        (body,) = self.regions
        printer.print_string(" (")
        printer.print_list(body.block.args, printer.print_block_argument)
        printer.print_string(") ")
        printer.print_region(body, print_entry_block_args=False)

    def verify_op(self) -> None:
        """Compare the shapes of a named operation."""
        if self.SIGNATURE.has_segments:
            check_named(self, self.group("inputs"), self.group("outputs"))

    def _listed(self) -> tuple[int, ...]:
        attr = cast("DenseArrayBase[IntegerType]", self.properties[self.LISTED])
        return tuple(attr.iter_values())

    def _output_count(self) -> int:
        if self.SIGNATURE.has_segments:
            return self.group_sizes()[1]
        return len(self.results) or len(self.operands) // 2


def _parse_group(parser: Parser, word: str) -> list[SSAValue]:
    """Read `ins(%a, %b : type, type)`, possibly nothing."""
    if parser.parse_optional_keyword(word) is None:
        return []
    parser.parse_punctuation("(")
    operands: list[UnresolvedOperand] = parser.parse_comma_separated_list(
        Parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    position = parser.pos
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return list(parser.resolve_operands(operands, types, position))


def _named(mnemonic: str) -> type[StructuredOp]:
    words = mnemonic.split("_")
    contents: dict[str, object] = {
        "name": f"linalg.{mnemonic}",
        "SIGNATURE": Signature(
            operands=_GROUPS, results=_RESULTS, properties=_WINDOW, regions=None
        ),
        "__doc__": f"`linalg.{mnemonic}`.",
        "__module__": __name__,
    }
    name = "".join(word.capitalize() for word in words) + "Op"
    return cast("type[StructuredOp]", type(name, (StructuredOp,), contents))


class TransposeOp(StructuredOp):
    """The input with its dimensions in another order."""

    name = "linalg.transpose"
    LISTED: ClassVar = "permutation"
    SIGNATURE: ClassVar = Signature(
        operands=_OPERANDS,
        results=_RESULTS,
        properties=(Property("permutation", ods.DENSE_I64),),
        regions=None,
    )

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_count(self, 2)
        check_transpose(self, self._listed())


class BroadcastOp(StructuredOp):
    """The input repeated along new dimensions."""

    name = "linalg.broadcast"
    LISTED: ClassVar = "dimensions"
    SIGNATURE: ClassVar = Signature(
        operands=_OPERANDS,
        results=_RESULTS,
        properties=(Property("dimensions", ods.DENSE_I64),),
        regions=None,
    )

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_count(self, 2)
        check_broadcast(self, self._listed())


class ReduceOp(StructuredOp):
    """The inputs combined along dimensions by a body."""

    name = "linalg.reduce"
    LISTED: ClassVar = "dimensions"
    HAS_BODY: ClassVar = True
    SIGNATURE: ClassVar = Signature(
        operands=_OPERANDS,
        results=_RESULTS,
        properties=(Property("dimensions", ods.DENSE_I64),),
        regions=1,
    )

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_reduce(self, self._listed())

    @property
    def inits(self) -> Sequence[SSAValue]:
        """What the results begin with, one for each input."""
        return self.operands[len(self.operands) // 2 :]


class MapOp(StructuredOp):
    """What a body makes of every place of the inputs."""

    name = "linalg.map"
    HAS_BODY: ClassVar = True
    SIGNATURE: ClassVar = Signature(operands=_OPERANDS, results=_RESULTS, regions=1)

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_map(self)


class SoftmaxOp(StructuredOp):
    """Exponentials along a dimension, scaled to the sum 1."""

    name = "linalg.softmax"
    SIGNATURE: ClassVar = Signature(
        operands=_OPERANDS, results=_RESULTS, properties=(Property("dimension", ods.I64),)
    )

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_count(self, 2)
        check_softmax(self, cast("IntegerAttr", self.properties["dimension"]).value.data)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        _, attributes = cls.parse_dict(parser, {})
        parser.parse_keyword("dimension")
        parser.parse_punctuation("(")
        dimension = parser.parse_integer()
        parser.parse_punctuation(")")
        operands = [*_parse_group(parser, "ins"), *_parse_group(parser, "outs")]
        parser.parse_punctuation("->")
        return cls.create(
            operands=operands,
            result_types=[parser.parse_type()],
            properties={"dimension": IntegerAttr(dimension, i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        dimension = cast("IntegerAttr", self.properties["dimension"]).value.data
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" dimension({dimension})")
        for word, value in zip(("ins", "outs"), self.operands, strict=True):
            printer.print_string(f" {word}(")
            printer.print_operand(value)
            printer.print_string(" : ")
            printer.print_attribute(value.type)
            printer.print_string(")")
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)


class GenericOp(UpstreamGenericOp):
    """A body that runs for every place of a space; xDSL reads one result only."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {}
        for name in ("indexing_maps", "iterator_types"):
            if name not in attributes:
                parser.raise_error(f"expected {name}", position)
            properties[name] = attributes.pop(name)
        for name in ("doc", "library_call"):
            if name in attributes:
                properties[name] = attributes.pop(name)
        kinds = cast("ArrayAttr[Attribute]", properties["iterator_types"])
        properties["iterator_types"] = ArrayAttr(
            IteratorTypeAttr(IteratorType(kind.data)) if isinstance(kind, StringAttr) else kind
            for kind in kinds.data
        )
        inputs = _parse_group(parser, "ins")
        outputs = _parse_group(parser, "outs")
        properties[SEGMENTS] = ods.segments_attr((len(inputs), len(outputs)))
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            attributes |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        results: Sequence[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            given = parser.parse_optional_comma_separated_list(
                Parser.Delimiter.PAREN, parser.parse_type
            )
            results = [parser.parse_type()] if given is None else given
        return cls.create(
            operands=[*inputs, *outputs],
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=[body],
        )


OPERATIONS: Sequence[type[Operation]] = (
    *(_named(mnemonic) for mnemonic in (*NAMED, "fill")),
    TransposeOp,
    BroadcastOp,
    ReduceOp,
    MapOp,
    SoftmaxOp,
    GenericOp,
)
"""The operations that are defined here."""
_OWN = {op.name for op in OPERATIONS}

LINALG = Dialect(
    "linalg",
    [*OPERATIONS, *(op for op in Linalg.operations if op.name not in _OWN)],
    list(Linalg.attributes),
)
"""The dialect, for an xDSL context."""
