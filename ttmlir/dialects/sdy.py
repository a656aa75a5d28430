"""The sdy dialect (Shardy): how JAX says on which devices the parts of a tensor lie.

Attributes are kept as their text. A program for one device has no use for them; what needs several
devices is refused when it is compiled.

Source: https://openxla.org/shardy/sdy_dialect
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Data,
    Dialect,
    OpaqueSyntaxAttribute,
    Operation,
    SSAValue,
)
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, FormatOp, parameter_of, word_of
from ttmlir.dialects.definition.ods import (
    KeepsConstants,
    Property,
    Signature,
    ValueGroup,
    properties,
    values,
)
from ttmlir.dialects.definition.syntax import expect, expect_keyword
from ttmlir.dialects.stablehlo.constraints import ANYTHING
from ttmlir.mlir.verifier import CHECKS_OF_ATTRIBUTES
from ttmlir.mlir.xdsl_internals import resume_from

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|->|[<(\[{>)\]}]')
"""Brackets, and what is none: arrows and strings, the last of which may have no end."""


def checks() -> Any:
    """The checks, which most programs have no use for."""
    return import_module("ttmlir.dialects.sdy_checks")


def _balanced_end(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`, or -1; strings do not count."""
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        if match[0] in "<([{":
            depth += 1
        elif match[0] in ">)]}":
            depth -= 1
            if not depth:
                return match.end()
    return -1


# Blanks are taken as a whole (`*+`): shared between two parts, many took quadratic time.
_OF_AXES = r'"[^"]*"(?::\(\d+\)\d+)?'
_AXES = rf"{_OF_AXES}(?:\s*+,\s*+{_OF_AXES})*"
_IDS = r"\s*+,\s*+device_ids\s*+=\s*+\[\s*+-?\d+(?:\s*+,\s*+-?\d+)*\s*+\]"
_MESH = (
    r'<\[\s*+(?:"[^"]*"\s*+=\s*+-?\d+(?:\s*+,\s*+"[^"]*"\s*+=\s*+-?\d+)*)?\s*+\]'
    + rf"(?:{_IDS})?\s*+>"
)
_DIM = rf"\{{\s*+(?:{_AXES}(?:\s*+,\s*+\?)?|\?)?\s*+\}}(?:p\d+)?"
_FORM_OF_SHARDING = (
    rf'<\s*+(?:@(?:"[^"]*"|[\w.$-]+)|mesh{_MESH})\s*+,\s*+\[\s*+(?:{_DIM}(?:\s*+,\s*+{_DIM})*)?\s*+\]'
    rf"(?:\s*+,\s*+(?:replicated|unreduced)\s*+=\s*+\{{\s*+{_AXES}\s*+\}})*\s*+>"
)
FACTOR = r"(?:z_\d{1,9}|[i-z])"
"""How rules spell factors: 18 letters, then `z_1` and so on."""
_MAPPING = rf"\[\s*+(?:{FACTOR}+(?:\s*+,\s*+{FACTOR}+)*)?\s*+\]"
_MAPPINGS = rf"\(\s*+{_MAPPING}(?:\s*+,\s*+{_MAPPING})*\s*+\)"
RULE = re.compile(r"<\s*\((.*?)\)\s*->\s*\((.*?)\)\s*(?:\{(.*?)\})?(.*)>", re.DOTALL)
"""The parts of a rule: mappings of operands and of results, sizes of factors, and sets of them."""


SHARDING = re.compile(
    r'<(@(?:"[^"]*"|[\w.$-]+)|mesh<\[[^\]\[<]*+\][^<>]*+>), \[([^\[\]]*)\]([^<>]*)>'
)
"""A sharding in text: the mesh, the dimensions, and what is said besides."""
DIMENSION = re.compile(r"\{([^{}]*)\}(p\d+)?")
"""A dimension of a sharding: its axes and its priority."""


class TextAttr(Data[str]):
    """An attribute as text, the angle brackets included."""

    FORM: ClassVar[str] = ".*"
    """What the text looks like."""
    EXAMPLE: ClassVar[str] = ""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `<...>`."""
        return cls.take(parser, "<")

    @classmethod
    def take(cls, parser: AttrParser, opening: str) -> str:
        """Read a balanced text that begins with a bracket, and is of the form."""
        start = parser.pos
        text = take_brackets(parser, opening)
        if re.fullmatch(cls.FORM, text, re.DOTALL) is None:
            parser.raise_error(f"expected text such as {cls.EXAMPLE}", start, start + len(text))
        return text

    def print_parameter(self, printer: Printer) -> None:
        """Write `<...>`."""
        printer.print_string(self.data)


def take_brackets(parser: AttrParser, opening: str) -> str:
    """Read a balanced text that begins with a bracket."""
    text, start = parser.lexer.input.content, parser.pos
    if not text.startswith(opening, start):
        parser.raise_error(f"expected '{opening}'")
    end = _balanced_end(text, start)
    if end < 0:
        parser.raise_error(f"no bracket closes this '{opening}'")
    resume_from(parser, end)
    return text[start:end]


@irdl_attr_definition
class MeshAttr(TextAttr):
    """Devices with named axes: `#sdy.mesh<["x"=2, "y"=4]>`."""

    name = "sdy.mesh"
    FORM = _MESH
    EXAMPLE = '<["x"=2, "y"=4]>'


@irdl_attr_definition
class TensorShardingAttr(TextAttr):
    """Axes over which each dimension is spread: `#sdy.sharding<@mesh, [{"x"}, {}]>`."""

    name = "sdy.sharding"
    FORM = _FORM_OF_SHARDING
    EXAMPLE = '<@mesh, [{"x"}, {}]>'


@irdl_attr_definition
class TensorShardingPerValueAttr(TextAttr):
    """One sharding for each value."""

    name = "sdy.sharding_per_value"
    FORM = rf"<?\[\s*+(?:{_FORM_OF_SHARDING}(?:\s*+,\s*+{_FORM_OF_SHARDING})*)?\s*+\]>?"
    EXAMPLE = '<[<@mesh, [{"x"}, {}]>]>'

    @classmethod
    def parse_bare(cls, parser: AttrParser) -> str:
        """Read `[...]`; the text has the angle brackets."""
        return f"<{cls.take(parser, '[')}>"


@irdl_attr_definition
class OpShardingRuleAttr(TextAttr):
    """Which dimensions of operands and results belong together."""

    name = "sdy.op_sharding_rule"
    FORM = (
        rf"<\s*+{_MAPPINGS}\s*+->\s*+{_MAPPINGS}\s*+"
        rf"(?:\{{\s*+(?:{FACTOR}\s*+=\s*+-?\d+(?:\s*+,\s*+{FACTOR}\s*+=\s*+-?\d+)*)?\s*+\}})?"
        + "".join(
            rf"(?:\s*+{word}\s*+=\s*+\{{\s*+(?:{FACTOR}(?:\s*+,\s*+{FACTOR})*)?\s*+\}})?"
            for word in ("reduction", "need_replication", "permutation", "blocked_propagation")
        )
        + r"(?:\s*+,\s*+custom)?\s*+>"
    )
    EXAMPLE = "<([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} reduction={k}>"


@irdl_attr_definition
class ManualAxesAttr(TextAttr, OpaqueSyntaxAttribute):
    """Axes that the program handles itself: `#sdy<manual_axes{"x"}>`."""

    name = "sdy.manual_axes"
    FORM = r'\{\s*+(?:"[^"]*"(?:\s*+,\s*+"[^"]*")*)?\s*+\}'
    EXAMPLE = '{"x", "y"}'

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `{...}`."""
        return cls.take(parser, "{")


@irdl_attr_definition
class AxesAttr(TextAttr, OpaqueSyntaxAttribute):
    """Axes of a collective: `#sdy<list_of_axis_ref_lists[{"x"}, {}]>`."""

    name = "sdy.list_of_axis_ref_lists"
    FORM = (
        rf"\{{\s*+(?:{_AXES})?\s*+\}}"
        rf"|\[(?:\s*+\{{\s*+(?:{_AXES})?\s*+\}}\s*+(?:,(?!\s*+\])|(?=\])))*\]"
        rf"|\[(?:\s*+\{{\s*+{_AXES}\s*+\}}\s*+:\s*+-?\d+\s*+->\s*+-?\d+\s*+(?:,(?!\s*+\])|(?=\])))*\]"
    )
    EXAMPLE = '[{"x"}, {}], {"x"} for sums or [{"x"}: 0->1] for exchanges'

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `[...]`, or the `{...}` of a sum."""
        is_sum = parser.lexer.input.content.startswith("{", parser.pos)
        return cls.take(parser, "{" if is_sum else "[")


class MeshOp(FormatOp):
    """Gives a mesh a name: `sdy.mesh @mesh = <["x"=2]>`."""

    name = "sdy.mesh"
    FORMAT = "$sym_name `=` $mesh attr-dict"
    SPELLINGS: ClassVar = {"mesh": parameter_of(MeshAttr)}
    SIGNATURE: ClassVar = Signature(
        properties=properties(sym_name=ods.STRING, mesh=ods.named_attr("sdy.mesh"))
    )
    traits = traits_def(SymbolOpInterface())

    @property
    def text(self) -> str:
        """The axes as they are written: `<["x"=2]>`."""
        return cast("MeshAttr", self.properties["mesh"]).data

    @property
    def axes(self) -> Mapping[str, int]:
        """The axes of several devices."""
        axes = axes_of(self.text)
        return {name: extent for name, extent in axes.items() if extent > 1}

    @property
    def symbol(self) -> str:
        """The name: `@mesh`."""
        return f"@{cast('StringAttr', self.properties['sym_name']).data}"

    def verify_op(self) -> None:
        """Check the axes and the numbers of devices."""
        checks().check_mesh(self)

    @property
    def is_empty(self) -> bool:
        """True without axes, and without the one device that holds all."""
        return self.text.replace(" ", "") == "<[]>"


class ShardingConstraintOp(FormatOp):
    """The operand, spread over devices as the sharding says."""

    name = "sdy.sharding_constraint"
    FORMAT = "$input $sharding attr-dict `:` type($result)"
    SPELLINGS: ClassVar = {"sharding": parameter_of(TensorShardingAttr)}
    TYPES: ClassVar = {"input": "result"}
    SIGNATURE: ClassVar = Signature(
        values(input=ANYTHING),
        values(result=ANYTHING),
        properties(sharding=ods.named_attr("sdy.sharding")),
    )
    traits = traits_def(Pure())

    def verify_op(self) -> None:
        """Check the sharding."""
        checks().check_sharded(self)


class ReshardOp(ShardingConstraintOp):
    """The operand, moved to where the sharding says."""

    name = "sdy.reshard"


class _CollectiveOp(FormatOp):
    """A move between devices: axes, the operand, and the sharding of what is made.

    Source: https://openxla.org/shardy/sdy_dialect
    """

    TYPES: ClassVar = {"tensor": "result"}
    traits = traits_def(Pure())

    def verify_op(self) -> None:
        """Check the axes, and the sharding of what is made."""
        checks().check_collective(self, self.name.removeprefix("sdy."))


def _collective(name: str, axes: str, doc: str) -> type[_CollectiveOp]:
    said = {axes: ods.named_attr(AxesAttr.name)} if axes else {}
    members: dict[str, object] = {
        "__doc__": doc,
        "__module__": __name__,
        "name": f"sdy.{name}",
        "FORMAT": (
            f"{f'${axes} ' if axes else ''}$tensor `out_sharding` `` `=` `` $out_sharding "
            "attr-dict `:` type($result)"
        ),
        "SPELLINGS": {
            "out_sharding": parameter_of(TensorShardingAttr),
            **({axes: parameter_of(AxesAttr)} if axes else {}),
        },
        "SIGNATURE": Signature(
            values(tensor=ANYTHING),
            values(result=ANYTHING),
            properties(out_sharding=ods.named_attr("sdy.sharding"), **said),
        ),
    }
    words = "".join(map(str.capitalize, name.split("_")))
    return type(f"{words}Op", (_CollectiveOp,), members)


AllGatherOp = _collective(
    "all_gather", "gathering_axes", "Each device gets the parts of all along some axes."
)
AllReduceOp = _collective(
    "all_reduce", "reduction_axes", "Each device gets the sum of all along some axes."
)
AllSliceOp = _collective(
    "all_slice", "slicing_axes", "Each device keeps its part of what all have."
)
AllToAllOp = _collective("all_to_all", "params", "Axes move from dimensions to other dimensions.")
CollectivePermuteOp = _collective("collective_permute", "", "Devices exchange their parts.")
ALL_SLICE = AllSliceOp.name
"""The call by which each device along an axis of a mesh keeps its part of a dimension."""
ReduceScatterOp = _collective(
    "reduce_scatter", "reduce_scatter_axes", "Each device gets its part of the sum."
)
ReplicatedToUnreducedOp = _collective(
    "replicated_to_unreduced", "axes", "One device along some axes keeps what all have, a term."
)
ShardedToUnreducedOp = _collective(
    "sharded_to_unreduced", "axes", "The part of each device becomes a term of a sum."
)


# --- What shardings spread over -------------------------------------------------------------------


class _TensorOp(FormatOp):
    """A tensor that is handed on."""

    TYPES: ClassVar = {"input": "result"}
    EXPECTED: ClassVar[str] = ""
    traits = traits_def(Pure())

    @classmethod
    def parse_type_of(cls, parser: Parser, name: str) -> Attribute:
        """Read the type of a tensor."""
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, TensorType):
            text = f"custom op '{cls.name}' invalid kind of type specified{cls.EXPECTED}"
            parser.raise_error(f"{text}, but found '{type}'" if cls.EXPECTED else text, position)
        return cast("TensorType[Attribute]", type)


DIRECTIONS = ("NONE", "FORWARD", "BACKWARD", "BOTH")
"""Where shardings may spread over a barrier: from operands to results is forward."""


class PropagationBarrierOp(_TensorOp):
    """The operand; shardings spread over it in the allowed direction alone."""

    name = "sdy.propagation_barrier"
    FORMAT = "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($result)"
    EXPECTED = ": expected builtin.tensor"
    SPELLINGS: ClassVar = {"allowed_direction": word_of(DIRECTIONS, i32, name, "allowed_direction")}
    SIGNATURE: ClassVar = Signature(
        values(input=ods.TENSOR),
        values(result=ods.TENSOR),
        properties(
            allowed_direction=ods.enum_attr(ods.I32, len(DIRECTIONS), "propagation direction enum")
        ),
    )

    @property
    def direction(self) -> str:
        """One of `DIRECTIONS`."""
        return DIRECTIONS[cast("IntegerAttr", self.properties["allowed_direction"]).value.data]

    def verify_op(self) -> None:
        """Check that the barrier holds something back."""
        checks().check_same_type(self)
        if self.direction == "BOTH":
            ods.refuse(
                "cannot specify `BOTH` as the direction. Not blocking propagation direction makes "
                "the op redundant."
            )


class DataFlowEdgeOp(_TensorOp):
    """What a loop or branch hands on: it owns the sharding of all that it stands for."""

    name = "sdy.data_flow_edge"
    FORMAT = "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)"
    SPELLINGS: ClassVar = {"sharding": parameter_of(TensorShardingAttr)}
    SIGNATURE: ClassVar = Signature(
        values(input=ANYTHING),
        values(result=ANYTHING),
        (Property("sharding", ods.named_attr("sdy.sharding"), optional=True),),
    )

    def verify_op(self) -> None:
        """Check the sharding, and what the edge stands for."""
        checks().check_edge(self)


class FuncDataFlowEdgeOp(_TensorOp):
    """An argument of a function, or what a call makes, as the other side has it."""

    name = "sdy.func_data_flow_edge"
    FORMAT = "$input attr-dict `:` type($result)"
    SIGNATURE: ClassVar = Signature(values(input=ANYTHING), values(result=ANYTHING))

    def verify_op(self) -> None:
        """Check that it stands behind a call, or for an argument."""
        checks().check_edge_of_function(self)


class ConstantOp(AssemblyOp):
    """A constant that is spread like any other tensor: `sdy.constant dense<0> : tensor<2xi32>`."""

    name = "sdy.constant"
    SIGNATURE: ClassVar = Signature(
        results=values(output=ANYTHING), properties=properties(value=ods.ELEMENTS)
    )
    SPELLED: ClassVar[tuple[str, ...]] = ("value",)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `{...} dense<...> : type`."""
        attributes = parser.parse_optional_attr_dict()
        value = parser.parse_attribute()
        type = getattr(value, "type", None)
        if not isinstance(type, TensorType):
            parser.raise_error("expected elements of a tensor")
        return cls.create(
            result_types=[cast("TensorType[Attribute]", type)],
            properties={"value": value},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write `{...} dense<...> : type`."""
        self.print_dict(printer)
        printer.print_string(" ")
        printer.print_attribute(self.properties["value"])


class ShardingGroupOp(FormatOp):
    """Values with one group number are spread alike."""

    name = "sdy.sharding_group"
    FORMAT = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)"
    SIGNATURE: ClassVar = Signature(values(input=ANYTHING), properties=properties(group_id=ods.I64))


class ReturnOp(FormatOp):
    """Ends a region and hands values on."""

    name = "sdy.return"
    FORMAT = "attr-dict (operands^ `:` type(operands))?"
    SIGNATURE: ClassVar = Signature((ValueGroup("results", ANYTHING, variadic=True),))
    traits = traits_def(IsTerminator(), Pure())


_SHARDINGS = ("in_shardings", "out_shardings")


class _RegionOp(AssemblyOp):
    """A region whose operands and results have shardings."""

    @classmethod
    def parse_start(cls, parser: Parser) -> dict[str, Attribute]:
        """Read what stands before the operands."""
        return {}

    @classmethod
    def parse_shardings(cls, parser: Parser) -> dict[str, Attribute]:
        """Read what stands behind the operands."""
        raise NotImplementedError

    @classmethod
    def parse_sharding(cls, parser: Parser) -> Attribute:
        """Read `=[...]`."""
        expect(parser, "=")
        return TensorShardingPerValueAttr(TensorShardingPerValueAttr.parse_bare(parser))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `(%0) in_shardings=[...] out_shardings=[...] ... (%a: t) {...} : (t) -> t`."""
        properties = cls.parse_start(parser)
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        properties |= cls.parse_shardings(parser)
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument()
        )
        region = parser.parse_region(arguments)
        return cls.parse_rest(parser, properties, operands, [region])

    def print_start(self, printer: Printer) -> None:
        """Write what `parse_start` reads."""

    def print_axes(self, printer: Printer) -> None:
        """Write what stands behind the shardings."""

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        self.print_start(printer)
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(")")
        for name in _SHARDINGS:
            if name in self.properties:
                text = cast("TensorShardingPerValueAttr", self.properties[name]).data
                printer.print_string(f" {name}={text[1:-1]}")
        self.print_axes(printer)
        printer.print_string(" (")
        printer.print_list(self.regions[0].block.args, printer.print_block_argument)
        printer.print_string(") ")
        printer.print_region(self.regions[0], print_entry_block_args=False)
        self.print_rest(printer)


class NamedComputationOp(_RegionOp):
    """A region with a name, which was the body of a function: `sdy.named_computation<"f">(%0)`."""

    name = "sdy.named_computation"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", ANYTHING, variadic=True),),
        (ValueGroup("results", ANYTHING, variadic=True),),
        (
            Property("name", ods.STRING),
            *(
                Property(each, ods.named_attr("sdy.sharding_per_value"), True)
                for each in _SHARDINGS
            ),
        ),
        regions=1,
    )
    SPELLED: ClassVar[tuple[str, ...]] = (*_SHARDINGS, "name")
    traits = traits_def(IsolatedFromAbove())

    def verify_op(self) -> None:
        """Check types and shardings."""
        checks().check_named(self)

    @classmethod
    def parse_start(cls, parser: Parser) -> dict[str, Attribute]:
        """Read `<"f">`."""
        expect(parser, "<")
        name = StringAttr(parser.parse_str_literal())
        expect(parser, ">")
        return {"name": name}

    @classmethod
    def parse_shardings(cls, parser: Parser) -> dict[str, Attribute]:
        """Read `in_shardings=[...] out_shardings=[...]`, each if it is there."""
        return {
            name: cls.parse_sharding(parser)
            for name in _SHARDINGS
            if parser.parse_optional_keyword(name)
        }

    def print_start(self, printer: Printer) -> None:
        """Write `<"f">`."""
        printer.print_string("<")
        printer.print_attribute(self.properties["name"])
        printer.print_string(">")


class ManualComputationOp(_RegionOp):
    """A region that works on the parts that lie on one device."""

    name = "sdy.manual_computation"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("tensors", ANYTHING, variadic=True),),
        (ValueGroup("results", ANYTHING, variadic=True),),
        properties(
            in_shardings=ods.named_attr("sdy.sharding_per_value"),
            out_shardings=ods.named_attr("sdy.sharding_per_value"),
            manual_axes=ods.named_attr("sdy.manual_axes"),
        ),
        regions=1,
    )
    SPELLED: ClassVar[tuple[str, ...]] = (*_SHARDINGS, "manual_axes")
    traits = traits_def(
        ods.CanonicalPatterns("ttmlir.dialects.sdy_canonical:PATTERNS"), KeepsConstants()
    )

    def verify_op(self) -> None:
        """Check shardings, axes and the shapes of parts."""
        checks().check_manual(self)

    @classmethod
    def parse_shardings(cls, parser: Parser) -> dict[str, Attribute]:
        """Read `in_shardings=[...] out_shardings=[...] manual_axes={...}`."""
        properties: dict[str, Attribute] = {}
        for name in _SHARDINGS:
            expect_keyword(parser, name)
            properties[name] = cls.parse_sharding(parser)
        expect_keyword(parser, "manual_axes")
        expect(parser, "=")
        properties["manual_axes"] = ManualAxesAttr(ManualAxesAttr.parse_parameter(parser))
        return properties

    def print_axes(self, printer: Printer) -> None:
        """Write `manual_axes={...}`."""
        axes = cast("ManualAxesAttr", self.properties["manual_axes"]).data
        printer.print_string(f" manual_axes={axes}")


# --- Meshes ---------------------------------------------------------------------------------------

_AXIS = re.compile(r'"([^"]*)"\s*=\s*(\d+)')

Mesh = Mapping[str, int]
"""Devices along each named axis."""


def meshes_in(module: ModuleOp) -> dict[str, Mesh]:
    """The meshes of a module by `@name`."""
    found: dict[str, Mesh] = {}
    for op in module.body.block.ops:
        if isinstance(op, MeshOp):
            text = cast("MeshAttr", op.properties["mesh"]).data
            name = cast("StringAttr", op.properties["sym_name"]).data
            found[f"@{name}"] = axes_of(text)
    return found


def axes_of(text: str) -> Mesh:
    """The axes of `<["x"=2]>`."""
    return {name: int(extent) for name, extent in _AXIS.findall(text)}


def count_devices(module: ModuleOp) -> int:
    """The devices of the largest mesh of a module; 1 if there is none."""
    counts = [1]
    for mesh in meshes_in(module).values():
        count = 1
        for extent in mesh.values():
            count *= extent
        counts.append(count)
    return max(counts)


WHOLE = re.compile(r"\{(replicated|manual|unknown|maximal[^{}]*)\}")
"""Shardings of GSPMD that divide nothing."""


def find_division(module: ModuleOp) -> Operation | None:
    """The first operation that says of something that it is on several devices; None if none does.

    It is a mesh of Shardy, or has a sharding of GSPMD.
    """
    for op in module.walk():
        if isinstance(op, MeshOp) and op.axes:
            return op
        held = (op.attributes, *_attributes_of_values(op))
        for said in (each.get("mhlo.sharding") for each in held):
            if isinstance(said, StringAttr) and not WHOLE.fullmatch(said.data):
                return op
    return None


def _attributes_of_values(op: Operation) -> Iterator[Mapping[str, Attribute]]:
    """What is said of the arguments and results of a function."""
    for name in ("arg_attrs", "res_attrs"):
        said = op.properties.get(name)
        if isinstance(said, ArrayAttr):
            yield from (each.data for each in cast("ArrayAttr[DictionaryAttr]", said).data)


def sharding_text(value: SSAValue) -> tuple[str, Sequence[str]] | None:
    """The sharding that is said of a value, and the axes that its region has bound; or None.

    Of an argument its function says it, of a result its operation; what a loop carries lies as its
    result does.
    """
    if isinstance(value, BlockArgument):
        parent = value.owner.parent_op()
        if isinstance(parent, FuncOp) and parent.arg_attrs is not None:
            return _one(parent.arg_attrs.data[value.index].data.get("sdy.sharding"))
        if isinstance(parent, ManualComputationOp):
            axes = cast("ManualAxesAttr", parent.properties["manual_axes"]).data
            found = _one(parent.properties["in_shardings"], value.index)
            return found and (found[0], re.findall(r'"([^"]*)"', axes))
        if parent is not None and parent.name == "stablehlo.while":
            return sharding_text(parent.results[value.index])
        return None
    op, index = cast("Operation", value.owner), cast("int", value.index)  # pyright: ignore
    for name in ("out_sharding", "sharding"):
        if isinstance(said := op.properties.get(name), TensorShardingAttr):
            return said.data, ()
    return _one(op.attributes.get("sdy.sharding", op.properties.get("out_shardings")), index)


def _one(said: Attribute | None, index: int = 0) -> tuple[str, Sequence[str]] | None:
    if isinstance(said, TensorShardingAttr):
        return said.data, ()
    if isinstance(said, TensorShardingPerValueAttr):
        found = [each[0] for each in SHARDING.finditer(said.data)]
        return (found[index], ()) if index < len(found) else None
    return None


CHECKS_OF_ATTRIBUTES["sdy.sharding"] = lambda op: checks().check_said(op)
CHECKS_OF_ATTRIBUTES["sdy.sharding_rule"] = lambda op: checks().check_rule(op)

OPERATIONS = cast(
    "list[type[Operation]]",
    [
        AllGatherOp,
        AllReduceOp,
        AllSliceOp,
        AllToAllOp,
        CollectivePermuteOp,
        ConstantOp,
        DataFlowEdgeOp,
        FuncDataFlowEdgeOp,
        ManualComputationOp,
        MeshOp,
        NamedComputationOp,
        PropagationBarrierOp,
        ReduceScatterOp,
        ReplicatedToUnreducedOp,
        ReshardOp,
        ReturnOp,
        ShardedToUnreducedOp,
        ShardingConstraintOp,
        ShardingGroupOp,
    ],
)
"""The operations of Shardy in jaxlib 0.10."""

SDY = Dialect(
    "sdy",
    OPERATIONS,
    [
        AxesAttr,
        ManualAxesAttr,
        MeshAttr,
        OpShardingRuleAttr,
        TensorShardingAttr,
        TensorShardingPerValueAttr,
    ],
)
"""The dialect, for an xDSL context."""
