"""The linalg dialect: xDSL's `generic`, `index` and `yield`, and the named operations.

xDSL lacks most named operations. Those here are told by the tables of `optable/linalg.py`. Their
text is read in the generic form, with the body that MLIR writes there, and in the pretty form,
which has none; a body that was not read is not written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
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
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
)
from ttmlir.optable.linalg import (
    CONTRACTIONS,
    CONVOLUTIONS,
    DEPTHWISE,
    ELEMENTWISE,
    NAMED,
    POOLINGS,
)

# --- Linalg shapes --------------------------------------------------------------------------------
# Verifiers of linalg's operations: the shapes of operands must agree.
#
# A named operation walks over a space of loops; each dimension of an operand is that of one loop,
# or, in the image of a window, computed from two. The words are MLIR's.

Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Window:
    """A dimension of an image: the places of a window, and those inside of it."""

    place: str
    inside: str
    number: int
    """Which of the strides and dilations it has."""


_Dim = str | _Window
_Operand = tuple[_Dim, ...]

_ARITY = {"powf": 2, "select": 3, **dict.fromkeys(("add", "div", "max", "min", "mul", "sub"), 2)}


def _image(dims: str, features: str) -> _Operand:
    return tuple(
        _Window(f"place {dim}", f"inside {dim}", int(dim))
        if dim.isdigit()
        else features
        if dim == "f"
        else dim
        for dim in dims
    )


def _place(dims: str, features: str) -> tuple[str, ...]:
    letters = {"f": features}
    return tuple(f"place {dim}" if dim.isdigit() else letters.get(dim, dim) for dim in dims)


def _inside(dims: str) -> tuple[str, ...]:
    return tuple(f"inside {dim}" if dim.isdigit() else dim for dim in dims)


def _loops() -> dict[str, tuple[_Operand, ...]]:
    """The loops of each dimension of each operand of the named operations."""
    found: dict[str, tuple[_Operand, ...]] = {
        name: tuple(tuple(dims) for dims in letters) for name, letters in CONTRACTIONS.items()
    }
    for name, (image, weight) in CONVOLUTIONS.items():
        found[name] = (_image(image, "i"), _inside(weight), _place(image, "o"))
    for name, (image, weight) in DEPTHWISE.items():
        multiplied = ("m",) if "m" in weight else ()
        found[name] = (_image(image, "c"), _inside(weight), (*_place(image, "c"), *multiplied))
    for name, (image, _) in POOLINGS.items():
        window = "".join(dim for dim in image if dim.isdigit())
        found[name] = (_image(image, "f"), _inside(window), _place(image, "f"))
    return {f"linalg.{name}": operands for name, operands in found.items()}


_LOOPS = _loops()
_ELEMENTWISE = {f"linalg.{name}": _ARITY.get(name, 1) for name in ELEMENTWISE}


def _shape(type: Attribute) -> Shape | None:
    """The shape, None for what is no tensor or memory, or has unknown extents."""
    if not isinstance(type, (TensorType, MemRefType)):
        return None
    shape = cast("TensorType[Attribute]", type).get_shape()
    return None if DYNAMIC_INDEX in shape else shape


def check_named(op: Operation, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> None:
    """Check a named operation, or `fill`."""
    check_results(op, inputs, outputs)
    operands = _LOOPS.get(op.name)
    count = len(operands) - 1 if operands else _ELEMENTWISE.get(op.name, 1)
    if len(inputs) != count or len(outputs) != 1:
        refuse(f"expected {count} inputs and 1 output, but found {len(inputs)} and {len(outputs)}")
    values = (*inputs, *outputs)
    if operands is None:
        rank = len(_shape(outputs[0].type) or ())
        operands = ((tuple(map(str, range(rank)))),) * len(values)
    shapes = [_shape(value.type) for value in values]
    if any(shape is None and is_shaped(value) for shape, value in zip(shapes, values, strict=True)):
        return
    for index, (shape, dims) in enumerate(zip(shapes, operands, strict=True)):
        if shape is not None and len(shape) != len(dims):
            refuse(
                f"expected operand rank ({len(shape)}) to match the result rank of indexing_map "
                f"#{index} ({len(dims)})"
            )
    _check_extents(op, shapes, operands)


def is_shaped(value: SSAValue) -> bool:
    """True for tensors and memory."""
    return isinstance(value.type, (TensorType, MemRefType))


def check_count(op: Operation, count: int) -> None:
    """Count the operands."""
    if len(op.operands) != count:
        refuse(f"expected {count} operands, but found {len(op.operands)}")


def check_results(op: Operation, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> None:
    """Check that the results have the types of the tensors that they begin with."""
    tensors = [value for value in outputs if isinstance(value.type, TensorType)]
    if len(op.results) != len(tensors):
        refuse(
            f"expected the number of tensor results ({len(op.results)}) to be equal to the number "
            f"of output tensors ({len(tensors)})"
        )
    for index, (output, result) in enumerate(zip(tensors, op.results, strict=True)):
        if output.type != result.type:
            refuse(
                f"expected type of operand #{len(inputs) + index} ('{ods.text(output.type)}') to "
                f"match type of corresponding result ('{ods.text(result.type)}')"
            )


_MOST_NUMBERS = 1 << 10
"""Most numbers that are looked at; one that repeats may stand for any number of them."""


def window_numbers(op: Operation, name: str, count: int) -> Shape:
    """The strides or dilations of a window of so many dimensions; ones if they are not there."""
    attr = op.properties.get(name, op.attributes.get(name))
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return (1,) * count
    if (given := math.prod(attr.get_shape())) > _MOST_NUMBERS:
        refuse(f"expected {count} {name} of 1 or more, but found {given} numbers")
    values = tuple(int(value) for value in attr.get_values())
    values = values * count if len(values) == 1 else values
    if len(values) != count or min(values, default=1) < 1:
        refuse(f"expected {count} {name} of 1 or more, but found {list(values)}")
    return values


def _check_extents(
    op: Operation, shapes: Sequence[Shape | None], operands: Sequence[_Operand]
) -> None:
    extents: dict[str, int] = {}
    for shape, dims in zip(shapes, operands, strict=True):
        for extent, dim in zip(shape or (), dims, strict=shape is not None):
            if isinstance(dim, str):
                extents.setdefault(dim, extent)
    count = sum(isinstance(dim, _Window) for dim in operands[0])
    strides, dilations = (window_numbers(op, name, count) for name in ("strides", "dilations"))
    for index, (shape, dims) in enumerate(zip(shapes, operands, strict=True)):
        for place, (extent, dim) in enumerate(zip(shape or (), dims, strict=shape is not None)):
            start = f"inferred input/output operand #{index} has shape's dimension #{place} to be "
            if isinstance(dim, str):
                if extent != extents[dim]:
                    refuse(f"{start}{extents[dim]}, but found {extent}")
                continue
            last = (extents[dim.place] - 1) * strides[dim.number]
            least = last + (extents[dim.inside] - 1) * dilations[dim.number] + 1
            if extent < least:
                refuse(f"{start}greater than or equal to {least}, but found {extent}")


def check_transpose(op: Operation, permutation: Shape) -> None:
    """Check the order and the extents of a transposition."""
    check_results(op, op.operands[:1], op.operands[1:])
    source, result = (_shape(value.type) for value in op.operands)
    if source is None or result is None:
        return
    if sorted(permutation) != list(range(len(permutation))):
        refuse("permutation is not valid")
    if len(source) != len(result):
        refuse(f"input rank {len(source)} does not match init rank {len(result)}")
    if len(permutation) != len(source):
        refuse(
            f"size of permutation {len(permutation)} does not match the argument rank {len(source)}"
        )
    for dim, from_ in enumerate(permutation):
        if result[dim] != source[from_]:
            refuse(
                f"dim(result, {dim}) = {result[dim]} doesn't match dim(input, permutation[{dim}]) "
                f"= {source[from_]}"
            )


def check_broadcast(op: Operation, added: Shape) -> None:
    """Check the new dimensions and the extents of a repetition."""
    check_results(op, op.operands[:1], op.operands[1:])
    source, result = (_shape(value.type) for value in op.operands)
    if source is None or result is None:
        return
    if len(source) + len(added) != len(result):
        refuse(
            "input rank plus added dimensions does not match init rank. input rank: "
            f"{len(source)}, dimensions size: {len(added)}, init rank: {len(result)}"
        )
    for index, dim in enumerate(added):
        if not 0 <= dim < len(result):
            refuse(
                f"dimension {index} is out of range. expected range: [0, {len(result) - 1}], "
                f"got: {dim}"
            )
    kept = [dim for dim in range(len(result)) if dim not in added]
    for index, (extent, dim) in enumerate(zip(source, kept, strict=False)):
        if extent != result[dim]:
            refuse(
                f"input dim {index} should match init dim {dim}. input: {extent}, "
                f"init: {result[dim]}"
            )
    if len(kept) != len(source):
        refuse("dimensions must be different")


def check_reduce(op: Operation, dimensions: Shape) -> None:
    """Check the dimensions, the extents and the body of a reduction."""
    count = len(op.operands) // 2
    inputs, outputs = op.operands[:count], op.operands[count:]
    if count == 0 or len(outputs) != count:
        refuse("expects at least one input, and as many inputs as inits")
    check_results(op, inputs, outputs)
    shapes = [_shape(value.type) for value in (inputs[0], outputs[0])]
    source, result = shapes
    if source is None or result is None:
        return
    for values in (inputs, outputs):
        if any(_shape(value.type) != _shape(values[0].type) for value in values):
            refuse("expects all inputs to have the same shapes, and all inits")
    for dim in dimensions:
        if not 0 <= dim < len(source):
            refuse(f"dimensions for reduction should be in the range [0, {len(source) - 1}].")
    if len(set(dimensions)) != len(dimensions):
        refuse("reduction dimensions should be different")
    if len(source) - len(dimensions) != len(result):
        refuse(
            f"number of dimensions after reduction {len(source) - len(dimensions)} doesn't match "
            f"the init rank {len(result)}"
        )
    left = [extent for dim, extent in enumerate(source) if dim not in dimensions]
    if left != list(result):
        refuse(
            f"init dimensions {_join(result)} doesn't match input dimensions after reduction "
            f"{_join(left)}"
        )
    _check_body(op, (*inputs, *outputs))


def _join(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def check_map(op: Operation) -> None:
    """Check the extents and the body of a function of elements."""
    if not op.operands:
        refuse("expected an init")
    *inputs, output = op.operands
    check_results(op, inputs, [output])
    expected = _shape(output.type)
    for value in inputs:
        shape = _shape(value.type)
        if shape is not None and expected is not None and shape != expected:
            refuse(
                f"expected shape of input ({', '.join(map(str, shape))}) to match shape of output "
                f"({', '.join(map(str, expected))})"
            )
    _check_body(op, inputs)


def _check_body(op: Operation, values: Sequence[SSAValue]) -> None:
    """Check that the body takes the elements of tensors and gives something."""
    blocks = op.regions[0].blocks
    if len(blocks) != 1:
        refuse("expects a region with one block")
    if len(blocks[0].args) != len(values):
        refuse(
            f"expects number of operands to match the arity of its body, but got: {len(values)} "
            f"and {len(blocks[0].args)}"
        )
    for value, argument in zip(values, blocks[0].args, strict=True):
        element = cast("TensorType[Attribute]", value.type).element_type
        if argument.type != element:
            refuse(
                f"expected element type of an operand {ods.text(element)} to match its body's "
                f"argument {ods.text(argument.type)}"
            )
    last = blocks[0].last_op
    if last is None or last.name != "linalg.yield" or len(last.operands) != max(1, len(op.results)):
        refuse("expects a body that ends in linalg.yield with one operand for each result")


def check_softmax(op: Operation, dimension: int) -> None:
    """Check the dimension and the extents of a softmax."""
    check_results(op, op.operands[:1], op.operands[1:])
    source, result = (_shape(value.type) for value in op.operands)
    if source is None or result is None:
        return
    if source != result:
        refuse("incompatible output shape")
    if not 0 <= dimension < len(source):
        refuse("incorrect dimension specified")


# --- Linalg ---------------------------------------------------------------------------------------

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

    Syntax: `{attributes} ins(inputs : types) outs(outputs : types) -> types`. With a list or a body
    the attributes are written behind the list.
    """

    LISTED: ClassVar[str] = ""
    """The property that is written as a list after the operands, if there is one."""
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
        if cls.LISTED or cls.HAS_BODY:
            given, others = cls.parse_dict(parser, properties)
            properties, attributes = given, attributes | others
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
        attributes_lead = not (self.LISTED or self.HAS_BODY)
        if attributes_lead:
            printer.print_op_attributes(dict(sorted(entries.items())))
        count = len(self.operands) - self._output_count()
        for keyword, values in (("ins", self.operands[:count]), ("outs", self.operands[count:])):
            if values:
                printer.print_string(f" {keyword}(")
                printer.print_list(values, printer.print_operand)
                printer.print_string(" : ")
                printer.print_list([value.type for value in values], printer.print_attribute)
                printer.print_string(")")
        if self.LISTED:
            numbers = cast("DenseArrayBase[IntegerType]", self.properties[self.LISTED])
            printer.print_string(f" {self.LISTED} = {list(numbers.iter_values())}")
        if not attributes_lead:
            printer.print_op_attributes(dict(sorted(entries.items())))
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


def _parse_group(parser: Parser, keyword: str) -> list[SSAValue]:
    """Read `ins(%a, %b : type, type)`, possibly nothing."""
    if parser.parse_optional_keyword(keyword) is None:
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
        "SIGNATURE": Signature(_GROUPS, _RESULTS, _WINDOW, regions=None),
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
        _OPERANDS, _RESULTS, properties(permutation=ods.DENSE_I64), regions=None
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
        _OPERANDS, _RESULTS, properties(dimensions=ods.DENSE_I64), regions=None
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
        _OPERANDS, _RESULTS, properties(dimensions=ods.DENSE_I64), regions=1
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
    SIGNATURE: ClassVar = Signature(_OPERANDS, _RESULTS, regions=1)

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_map(self)


class SoftmaxOp(StructuredOp):
    """Exponentials along a dimension, scaled to the sum 1."""

    name = "linalg.softmax"
    SIGNATURE: ClassVar = Signature(_OPERANDS, _RESULTS, properties(dimension=ods.I64))

    def verify_op(self) -> None:
        """Compare the shapes."""
        check_count(self, 2)
        check_softmax(self, cast("IntegerAttr", self.properties["dimension"]).value.data)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        given, attributes = cls.parse_dict(parser, {})
        parser.parse_keyword("dimension")
        parser.parse_punctuation("(")
        dimension = parser.parse_integer()
        parser.parse_punctuation(")")
        operands = [*_parse_group(parser, "ins"), *_parse_group(parser, "outs")]
        parser.parse_punctuation("->")
        return cls.create(
            operands=operands,
            result_types=[parser.parse_type()],
            properties={"dimension": IntegerAttr(dimension, i64), **given},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        dimension = cast("IntegerAttr", self.properties["dimension"]).value.data
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" dimension({dimension})")
        for keyword, value in zip(("ins", "outs"), self.operands, strict=True):
            printer.print_string(f" {keyword}(")
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
