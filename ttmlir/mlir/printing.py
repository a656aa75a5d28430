"""Prints MLIR's text: names of values, generic and pretty forms, attributes and types."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    CallSiteLoc,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FileLineColLoc,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnregisteredOp,
    f64,
    i64,
)
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Data,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
    Use,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator

from ttmlir.limits import MAX_TEXT_LENGTH
from ttmlir.mlir import attributes as elements
from ttmlir.mlir.attributes import (
    affine_map_text,
    affine_set_text,
    format_float,
    layout_map,
    range_ends,
)
from ttmlir.mlir.core_prefix import (
    core_prefix,
    core_prefix_of,
    has_late_kernels,
    prefix_of_attribute,
    spelled_key,
    spelled_name,
    spelled_operation,
    use_core_prefix,
)
from ttmlir.mlir.long_strings import LONG, LongString, hex_digits
from ttmlir.mlir.quoting import MAX_SHOWN, cut_off, identifier_or_string, quote
from ttmlir.mlir.upstream_syntax import CUSTOM_PRINTERS, UpstreamPrinter
from ttmlir.mlir.xdsl_internals import operands_of, successors_of
from ttmlir.nesting import deep_recursion

# --- Naming ---------------------------------------------------------------------------------------
# The names of values and blocks in printed text, numbered as MLIR numbers them.
#
# All results of a block are numbered before anything nested in it; nested regions follow last in,
# first out, each continuing with the counters that stood when its operation was found. Entry-block
# arguments are `%argN`, constants `%cst`, `%c0_i32`, `%true`; a name in use gets `_N` appended. The
# generic form (and unique SSA ids) never goes back with a counter and uses numbers only.
#
# Source of the rules: `SSANameState` in mlir/lib/IR/AsmPrinter.cpp.


class SuggestsNames:
    """An operation whose class suggests names for its results, blocks and block arguments."""

    def result_names(self) -> Sequence[str]:
        """One name for all results, one for each, or none."""
        return ()

    def block_name(self, region: int) -> str:
        """The name of the first block of a region, without `^`; empty for the usual one."""
        return ""

    def argument_names(self, region: int) -> Sequence[str]:
        """The names of the arguments of the first block of a region, or none."""
        return ()


class OwnSyntax:
    """An operation that has a syntax of its own in some modules, and the generic one in others."""

    def custom_name(self) -> str | None:
        """The name that its own syntax begins with; None where it is printed generically."""
        return None

    def generic_name(self) -> str:
        """The name in the generic form."""
        raise NotImplementedError

    def print_custom(self, printer: MlirPrinter) -> None:
        """Write what follows the name in its own syntax."""
        raise NotImplementedError


ResultNames: TypeAlias = Callable[[Operation], Sequence[str]]
"""Suggested names: one for all results of an operation, or one for each of them."""


def _constant_name(op: Operation) -> list[str]:
    value = op.properties.get("value", op.attributes.get("value"))
    if not isinstance(value, IntegerAttr):
        return ["cst"]
    type, number = value.get_type(), value.value.data
    if isinstance(type, IndexType):
        return [f"c{number}"]
    assert isinstance(type, IntegerType)
    if type.bitwidth == 1:
        return ["true" if number else "false"]
    return [f"c{number}_i{type.bitwidth}"]


def _tensor_constant_name(op: Operation) -> list[str]:
    type = op.results[0].type
    is_integer = isinstance(type, TensorType) and isinstance(
        cast("TensorType[Attribute]", type).element_type, IntegerType
    )
    return ["c" if is_integer else "cst"]


def _name_of_global(op: Operation) -> list[str]:
    """The last name of the symbol, of letters that names of values can have."""
    symbol = cast("SymbolRefAttr", op.properties["global"])
    name = (symbol.root_reference, *symbol.nested_references)[-1].data
    spelled = name.replace(" ", "_").encode("utf-8", "surrogateescape")
    spelled = re.sub(rb"[^\w$.-]", lambda match: b"%02X" % match[0][0], spelled)
    return [re.sub(r"^(?=\d)", "_", spelled.decode())]


def _named(*names: str) -> ResultNames:
    return lambda op: names


_FIXED_RESULT_NAMES = {
    "memref.alloc": "alloc",
    "memref.alloca": "alloca",
    "memref.cast": "cast",
    "memref.collapse_shape": "collapse_shape",
    "memref.dim": "dim",
    "memref.expand_shape": "expand_shape",
    "memref.memory_space_cast": "memspacecast",
    "memref.reinterpret_cast": "reinterpret_cast",
    "memref.subview": "subview",
    "memref.view": "view",
    "tensor.cast": "cast",
    "tensor.collapse_shape": "collapsed",
    "tensor.concat": "concat",
    "tensor.dim": "dim",
    "tensor.expand_shape": "expanded",
    "tensor.extract": "extracted",
    "tensor.extract_slice": "extracted_slice",
    "tensor.from_elements": "from_elements",
    "tensor.insert": "inserted",
    "tensor.insert_slice": "inserted_slice",
    "tensor.pad": "padded",
    "tensor.reshape": "reshape",
    "tensor.splat": "splat",
}
_RESULT_NAMES: dict[str, ResultNames] = {
    "arith.constant": _constant_name,
    "chlo.top_k": _named("values", "indices"),
    "ml_program.global_load": _name_of_global,
    "ml_program.global_load_const": _name_of_global,
    "stablehlo.batch_norm_grad": _named("grad_operand", "grad_scale", "grad_offset"),
    "stablehlo.batch_norm_training": _named("output", "batch_mean", "batch_var"),
    "stablehlo.constant": _tensor_constant_name,
    "stablehlo.rng_bit_generator": _named("output_state", "output"),
    **{op: _named(name) for op, name in _FIXED_RESULT_NAMES.items()},
}


def _argument_names(op: Operation, count: int) -> list[str] | None:
    """Names of the entry-block arguments of the operations whose regions work on elements."""
    if op.name in ("linalg.generic", "linalg.reduce"):
        inputs = len(op.operands) - _init_count(op)
        return ["in" if index < inputs else _INIT_NAME[op.name] for index in range(count)]
    if op.name == "linalg.map":
        return ["in"] * count
    if op.name == "stablehlo.while":
        return ["iterArg"] * count
    return None


_INIT_NAME = {"linalg.generic": "out", "linalg.reduce": "init"}


def _init_count(op: Operation) -> int:
    return len(getattr(op, "outputs" if op.name == "linalg.generic" else "inits"))


class _UsedNames:
    """The names in scope; `enter` opens a scope inside the one with the given depth mark."""

    def __init__(self):
        self._names: set[str] = set()
        self._order: list[str] = []

    def mark(self) -> int:
        return len(self._order)

    def rewind(self, mark: int) -> None:
        while len(self._order) > mark:
            self._names.discard(self._order.pop())

    def add(self, name: str) -> None:
        self._names.add(name)
        self._order.append(name)

    def __contains__(self, name: str) -> bool:
        return name in self._names


@dataclass
class Names:
    """The printed names (without `%` and `^`) of everything inside an operation."""

    values: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    blocks: dict[Block, str] = field(default_factory=dict[Block, str])
    operations: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """Numbers of operations without results; filled only when value users are printed."""


class Numbering:
    """Numbers an operation and all that is inside; the result is in `names`."""

    def __init__(
        self,
        top: Operation,
        *,
        generic: bool = False,
        unique_ssa_ids: bool = False,
        number_all_operations: bool = False,
    ):
        """Number `top`; see the module's docstring for the forms."""
        self.names = Names()
        self._generic = generic
        self._continue_counting = generic or unique_ssa_ids
        self._number_all = number_all_operations
        self._next_value = 0
        self._next_argument = 0
        self._next_conflict = 0
        self._used = _UsedNames()
        self._run(top)

    def _run(self, top: Operation) -> None:
        self._number_op(top)
        pending = [(region, 0, 0, 0, 0) for region in top.regions]
        while pending:
            region, value, argument, conflict, mark = pending.pop()
            self._used.rewind(mark)
            if not self._continue_counting:
                self._next_value = value
                self._next_argument = argument
                self._next_conflict = conflict
            self._number_region(region)
            mark = self._used.mark()
            counters = (self._next_value, self._next_argument, self._next_conflict, mark)
            pending += [(nested, *counters) for nested in _nested_regions(region)]

    def _number_region(self, region: Region) -> None:
        argument_names = None
        block_name = ""
        first = region.blocks.first
        op = region.parent_op()
        if first is not None and op is not None and not self._generic:
            if isinstance(op, SuggestsNames):
                number = op.get_region_index(region)
                argument_names = list(op.argument_names(number)) or None
                block_name = op.block_name(number)
            else:
                argument_names = _argument_names(op, len(first.args))
        for index, block in enumerate(region.blocks):
            self.names.blocks[block] = block_name if block_name and not index else f"bb{index}"
            self._number_block(block, is_entry=index == 0, argument_names=argument_names)

    def _number_block(
        self, block: Block, *, is_entry: bool, argument_names: list[str] | None
    ) -> None:
        for index, argument in enumerate(block.args):
            if is_entry and argument_names is not None:
                name = self._unique(argument_names[index])
            elif is_entry:
                name = self._unique(f"arg{self._next_argument}")
                self._next_argument += 1
            else:
                name = self._number()
            self.names.values[argument] = name
        for op in block.ops:
            self._number_op(op)

    def _number_op(self, op: Operation) -> None:
        results = op.results
        if not results:
            if self._number_all:
                self.names.operations[op] = self._number()
            return
        suggest = None if self._generic else _RESULT_NAMES.get(op.name)
        suggested = suggest(op) if suggest is not None else ()
        if isinstance(op, SuggestsNames) and not self._generic:
            suggested = op.result_names()
        values = self.names.values
        if len(suggested) > 1:
            for result, name in zip(results, suggested, strict=True):
                values[result] = self._unique(name)
            return
        name = self._unique(suggested[0]) if suggested else self._number()
        if len(results) == 1:
            values[results[0]] = name
            return
        for index, result in enumerate(results):
            values[result] = f"{name}#{index}"

    def _number(self) -> str:
        self._next_value += 1
        return str(self._next_value - 1)

    def _unique(self, name: str) -> str:
        base = name
        while name in self._used:
            name = f"{base}_{self._next_conflict}"
            self._next_conflict += 1
        self._used.add(name)
        return name


def _nested_regions(region: Region) -> Iterable[Region]:
    return (nested for block in region.blocks for op in block.ops for nested in op.regions)


# --- Printer --------------------------------------------------------------------------------------
# MLIR's text of operations and attributes, byte for byte; `module` prints whole modules.
#
#     print_op_line(op)                          # one operation, aliases spelled out
#     OpLinePrinter(module).line(op)             # the same for many operations of one module
#
# An attribute class whose values deserve an alias defines `alias_name(self) -> str | None`, which
# gives the stem (`layout`, `system_desc`); `ttmlir.mlir.module_printer` says how stems become
# names. An attribute class prints its parameters through xDSL's
# `print_parameters`/`print_parameter`, and may call `printer.print_attribute` on nested attributes:
# aliases are used there.
#
# Source of the rules: mlir/lib/IR/AsmPrinter.cpp.

LOCATIONS = (FileLineColLoc, FusedLoc, CallSiteLoc, NameLoc, UnknownLoc)
DEFAULT_ELISION_LIMIT = 16
"""Constants with more elements than this are left out of texts for people, as in MLIR."""
MAX_ATTRIBUTE_LENGTH = 1 << 24
"""Longest text of one attribute, type or location, elements of constants apart.

Attributes whose parts are shared are short in memory and in the text that they were read from, but
without aliases their own text may double at each level.
"""
_MAX_IN_LINE = 1 << 16
"""Longest text of an attribute in the line of an operation."""

_DEFAULT_DIALECTS = {"builtin.module": "builtin", "func.func": "func"}
_LATE_DEFAULTS = frozenset(("emitc.expression", "emitc.for", "emitc.if"))
"""Operations whose bodies have a default dialect in 2026."""
"""Operations in whose regions the prefix of this dialect is not printed."""


@dataclass(frozen=True, kw_only=True)
class PrintOptions:
    """How to print; the fields follow MLIR's `OpPrintingFlags`."""

    generic: bool = False
    debuginfo: bool = False
    pretty_debuginfo: bool = False
    local_scope: bool = False
    elide_larger_than: int | None = None
    """Constants with more elements than this, splats apart, print as `__elided__`."""
    elide_resources_larger_than: int | None = None
    """Resources whose text is longer than this are left out."""
    hex_larger_than: int = elements.HEX_THRESHOLD
    """Constants with more elements than this print as a hexadecimal string; -1: never."""
    unique_ssa_ids: bool = False
    value_users: bool = False
    skip_regions: bool = False


class TooLongError(Exception):
    """A text that is not printed."""

    def __init__(self, op: Operation | None, max_length: int) -> None:
        """The text got longer than `max_length` in `op`, or in an attribute on its own."""
        super().__init__(
            f"the text would be longer than {max_length} characters; attributes, types and "
            "locations that hold others several times are spelled out each time where no aliases "
            "are printed"
        )
        self.location = UNKNOWN_LOC if op is None else op.location


DEFAULT_OPTIONS = PrintOptions()


class Alias(NamedTuple):
    """A name for an attribute; see `ttmlir.mlir.module_printer`."""

    attribute: Attribute
    name: str
    after_module: bool


class MlirPrinter(UpstreamPrinter):
    """xDSL's printer with MLIR's text; operations' own `print` methods run against it."""

    def __init__(self, options: PrintOptions, names: Names):
        """A printer into a buffer (see `text`) with names that are already chosen."""
        self._buffer = StringIO()
        super().__init__(stream=self._buffer, print_generic_format=options.generic)
        self.print_debuginfo = options.debuginfo
        self.options = options
        self.core_prefix = core_prefix()
        """The prefix of the names of tiles, grids and devices."""
        self._write: Callable[[str], object] = self._buffer.write
        self._names = names
        self._value_names = names.values
        self._aliases: dict[Attribute, str] = {}
        self.texts: dict[int, tuple[Attribute, str]] = {}
        """Texts of attributes and types by identity, which printers of one module may share."""
        self.location_texts: dict[int, tuple[Attribute, str]] = {}
        """The same of locations inside others."""
        self.cut_off_at: int | None = None
        """If a number, the text of an attribute is cut off after that many characters."""
        self._default_dialects = ["builtin"]
        self._current_op: Operation | None = None
        self.resources: set[str] = set()
        """Names of the `dense_resource` blobs that were printed."""
        self.long_strings: list[LongString] | None = None
        """If a list, long hexadecimal strings go there as bytes, and a mark into the text."""

    @property
    def text(self) -> str:
        """What was printed."""
        return self._buffer.getvalue()

    # Characters. No column is counted, which xDSL's printer does for its own diagnostics.

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Print text; lines after the first are indented."""
        if "\n" in text:
            amount = self.indentation if indent is None else indent
            text = text.replace("\n", "\n" + "  " * amount)
        self._write(text)

    def print_new_line(self, indent: int | None = None) -> None:
        """End a line and indent the next."""
        self._write("\n" + "  " * (self.indentation if indent is None else indent))

    def print_string_literal(self, string: str) -> None:
        """Print text in quotes, with MLIR's escapes."""
        self._write(quote(string.encode("utf-8", "surrogateescape")))

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """Print bytes in quotes, with MLIR's escapes."""
        self._write(quote(bytestring))

    def print_identifier_or_string_literal(self, string: str) -> None:
        """Print a name, in quotes unless it is an identifier."""
        self._write(identifier_or_string(string))

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Print a float literal."""
        self._write(format_float(value, type))

    def print_hexadecimal(self, data: LongString) -> None:
        """Print bytes as a hexadecimal string in quotes."""
        if self.long_strings is None or 2 * len(data) < LONG:
            self._write(f'"0x{hex_digits(data)}"')
        else:
            # Everything that is printed escapes zeros.
            self._write(f'"0x\0{len(self.long_strings)}\0"')
            self.long_strings.append(data)

    # Attributes and types.

    def print_attribute(self, attribute: Attribute) -> None:
        """Print an attribute or a type, by its alias if it has one."""
        known = self.texts.get(id(attribute))
        if known is not None:
            self._write(known[1])
            return
        if isinstance(attribute, LOCATIONS):
            self._print_location_attribute(attribute)
            return
        text = self._aliases.get(attribute)
        if text is None and isinstance(attribute, DenseIntOrFPElementsAttr):
            self.print_attribute_body(cast("Attribute", attribute))
            return
        if text is None:
            text = self._captured(lambda: self.print_attribute_body(attribute))
        # The key is an address: keep the attribute alive as long as its text.
        self.texts[id(attribute)] = (attribute, text)
        self._write(text)

    def print_stripped_attribute(self, attribute: Data[Any]) -> None:
        """Print an attribute inside another: its alias, or what follows its name."""
        alias = self._aliases.get(attribute)
        if alias is None:
            attribute.print_parameter(self)
        else:
            self._write(alias)

    def _captured(self, print_it: Callable[[], object]) -> str:
        outer, parts = self._write, list[str]()
        self._write = parts.append
        try:
            print_it()
        finally:
            self._write = outer
        if self.cut_off_at is None and sum(map(len, parts)) > MAX_ATTRIBUTE_LENGTH:
            raise TooLongError(self._current_op, MAX_ATTRIBUTE_LENGTH)
        return "".join(parts)[: self.cut_off_at]

    def print_attribute_body(self, attribute: Attribute) -> None:
        """Print an attribute or a type without looking for its alias."""
        own = _BODIES.get(type(attribute))
        if own is not None:
            own(self, attribute)
        elif attribute.name.startswith("tt."):
            self._print_core_attribute(attribute)
        else:
            super().print_attribute(attribute)

    def _print_core_attribute(self, attribute: Attribute) -> None:
        """Print an attribute whose dialect has two names."""
        sigil = "!" if isinstance(attribute, TypeAttribute) else "#"
        self._write(sigil + spelled_name(attribute.name, self.core_prefix))
        if isinstance(attribute, ParametrizedAttribute):
            attribute.print_parameters(self)
        else:
            cast("Data[object]", attribute).print_parameter(self)

    def _print_location_attribute(self, location: Attribute) -> None:
        alias = self._aliases.get(location)
        if alias is None:
            self._print_location(location)
        else:
            self._write(alias)

    def print_array_element(self, attribute: Attribute) -> None:
        """Print an attribute inside an array: `i64` and `f64` go without saying there."""
        if isinstance(attribute, IntegerAttr) and attribute.get_type() == i64:
            self._write(str(attribute.value.data))
        elif isinstance(attribute, FloatAttr) and attribute.get_type() == f64:
            number = format_float(attribute.value.data, f64)
            # Digits of a bit pattern alone would be an integer.
            self._write(f"{number} : f64" if number.startswith("0x") else number)
        else:
            self.print_attribute(cast(Attribute, attribute))

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        """Print `{name = value, ...}`, sorted by name."""
        self._write("{")
        separator = ""
        spelled = {spelled_key(name, self.core_prefix): attr for name, attr in attr_dict.items()}
        for name in sorted(spelled, key=_sort_key):
            value = spelled[name]
            self._write(separator + identifier_or_string(name))
            if not isinstance(value, UnitAttr):
                self._write(" = ")
                self.print_attribute(value)
            separator = ", "
        self._write("}")

    # Locations.

    def print_trailing_location(self, location: Attribute, *, allow_alias: bool = True) -> None:
        """Print ` loc(...)` if locations are wanted."""
        if self.print_debuginfo:
            self._write(" ")
            self._print_location(location, allow_alias=allow_alias)

    def _print_location(self, location: Attribute, *, allow_alias: bool = True) -> None:
        pretty = self.options.pretty_debuginfo
        if not pretty:
            self._write("loc(")
        alias = self._aliases.get(location) if allow_alias and not pretty else None
        if alias is not None:
            self._write(alias)
        else:
            self._print_location_body(location)
        if not pretty:
            self._write(")")

    def _print_nested_location(self, location: Attribute) -> None:
        alias = self._aliases.get(location)
        if alias is not None:
            self._write(alias)
            return
        known = self.location_texts.get(id(location))
        if known is None:
            text = self._captured(lambda: self._print_location_body(location))
            known = self.location_texts[id(location)] = (location, text)
        self._write(known[1])

    def _print_location_body(self, location: Attribute) -> None:
        pretty = self.options.pretty_debuginfo
        match location:
            case FileLineColLoc():
                name = location.filename.data
                file = name if pretty else quote(name.encode("utf-8", "surrogateescape"))
                self._write(f"{file}:{location.line.data}:{location.column.data}")
            case NameLoc():
                self.print_string_literal(location.desc.data)
                if not isinstance(location.location, NoneAttr | UnknownLoc):
                    self._write("(")
                    self._print_nested_location(location.location)
                    self._write(")")
            case CallSiteLoc():
                self._write("" if pretty else "callsite(")
                self._print_nested_location(location.callee)
                self._write(" at ")
                self._print_nested_location(location.caller)
                self._write("" if pretty else ")")
            case FusedLoc() if (ends := range_ends(location)) is not None:
                (start, end), line = ends, ends[1].line.data
                self._print_location_body(start)
                self._write(f" to {line if start.line.data != line else ''}:{end.column.data}")
            case FusedLoc():
                self._write("" if pretty else "fused")
                if not isinstance(location.metadata, NoneAttr):
                    self._write("<")
                    self.print_attribute(location.metadata)
                    self._write(">")
                self._write("[")
                children = cast(ArrayAttr[Attribute], location.locations)
                self.print_list(children, self._print_nested_location)
                self._write("]")
            case _:
                self._write("[unknown]" if pretty else "unknown")

    @contextmanager
    def in_location(self) -> Generator[None]:
        """Locations print through `print_attribute` only; here for xDSL's own method."""
        yield

    # Values and blocks.

    def print_ssa_value(self, value: SSAValue) -> str:
        """Print the name of a value."""
        name = self._value_names.get(value, "<UNKNOWN SSA VALUE>")
        self._write(f"%{name}" if name[0] != "<" else f"<{name}>")
        return name

    def print_block_name(self, block: Block) -> str:
        """Print the name of a block."""
        name = self._names.blocks.get(block, "INVALIDBLOCK")
        self._write(f"^{name}")
        return name

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        """Print an argument with its type, if wanted, and location."""
        self.print_ssa_value(arg)
        if print_type:
            self._write(": ")
            self.print_attribute(arg.type)
        self.print_trailing_location(arg.location, allow_alias=False)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        """Print `{ blocks }`."""
        if self.options.skip_regions:
            self._write("{...}")
            return
        op = region.parent
        default_dialect = _DEFAULT_DIALECTS.get(op.name, "") if op is not None else ""
        if op is not None and op.name in _LATE_DEFAULTS and has_late_kernels(op):
            default_dialect = "emitc"
        self._default_dialects.append(default_dialect)
        self._write("{\n")
        for index, block in enumerate(region.blocks):
            header = index > 0 or (print_entry_block_args and bool(block.args))
            header = header or (print_empty_block and block.is_empty)
            self.print_block(block, header, print_block_terminators)
        self._write("  " * self.indentation + "}")
        self._default_dialects.pop()

    def print_block(
        self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True
    ) -> None:
        """Print the label if wanted, and the operations, each on a line of its own."""
        margin = "  " * self.indentation
        if print_block_args:
            self._write(f"{margin}^{self._names.blocks.get(block, 'INVALIDBLOCK')}")
            if block.args:
                self._write("(")
                self.print_list(block.args, self.print_block_argument)
                self._write(")")
            self._write(":" + self._predecessors(block) + "\n")
        self.indentation += 1
        margin += "  "
        if self.options.value_users:
            self._write("".join(f"{margin}{self._users_of_argument(a)}\n" for a in block.args))
        last = block.last_op
        for op in block.ops:
            if op is last and not print_block_terminator and is_terminator(op):
                break
            self._write(margin)
            self.print_op(op)
            if self.options.value_users:
                self._write(self._users_of_op(op))
            self._write("\n")
        self.indentation -= 1

    def _predecessors(self, block: Block) -> str:
        region = block.parent
        if region is None or (block is region.blocks.first and not block.uses):
            return ""
        blocks = block.predecessors()
        if not blocks:
            return "  // no predecessors"
        names = [self._names.blocks.get(predecessor, "INVALIDBLOCK") for predecessor in blocks]
        if len(names) == 1:
            return f"  // pred: ^{names[0]}"
        names.sort(key=lambda name: int(name[2:]))
        return f"  // {len(names)} preds: " + ", ".join(f"^{name}" for name in names)

    # Operations.

    def print_with_aliases(self, top: Operation, aliases: Sequence[Alias]) -> None:
        """Print `top` between the definitions of its aliases."""
        self._aliases = {alias.attribute: alias.name for alias in aliases}
        for alias in aliases:
            if not alias.after_module:
                self._print_alias_definition(alias)
                self._write("\n")
        self.print_op(top)
        for alias in aliases:
            if alias.after_module:
                self._write("\n")
                self._print_alias_definition(alias)

    def _print_alias_definition(self, alias: Alias) -> None:
        self._write(f"{alias.name} = ")
        if isinstance(alias.attribute, LOCATIONS):
            self._print_location(alias.attribute, allow_alias=False)
        else:
            self.print_attribute_body(alias.attribute)

    def print_op(self, op: Operation) -> None:
        """Print an operation with its results and location, without indentation."""
        outer, self._current_op = self._current_op, op
        self._print_op(op)
        if self._buffer.tell() > MAX_TEXT_LENGTH:
            raise TooLongError(op, MAX_TEXT_LENGTH)
        self._current_op = outer

    def _print_op(self, op: Operation) -> None:
        self._print_result_list(op)
        own = None if self.print_generic_format else CUSTOM_PRINTERS.get(op.name)
        if isinstance(op, OwnSyntax):
            name = None if self.print_generic_format else op.custom_name()
            if name is None:
                self._print_generic(op)
            else:
                self._write(self._short_name(name))
                op.print_custom(self)
        elif own is not None:
            self._write(self._short_name(spelled_operation(op.name, self.core_prefix)))
            own(self, op)
        elif self.print_generic_format or type(op).print is Operation.print:
            self._print_generic(op)
        else:
            self._write(self._short_name(spelled_operation(op.name, self.core_prefix)))
            op.print(self)
        self.print_trailing_location(op.location)

    def _short_name(self, name: str) -> str:
        dialect, _, rest = name.partition(".")
        return rest if dialect == self._default_dialects[-1] and "." not in rest else name

    def _print_result_list(self, op: Operation) -> None:
        results = op.results
        if not results:
            return
        name, has_number, _ = self._value_names[results[0]].partition("#")
        if has_number:
            self._write(f"%{name}:{len(results)} = ")
        else:
            self._write(", ".join(f"%{self._value_names[result]}" for result in results) + " = ")

    def _print_generic(self, op: Operation) -> None:
        name, attributes = spelled_operation(op.name, self.core_prefix), op.attributes
        if isinstance(op, OwnSyntax):
            name = op.generic_name()
        elif isinstance(op, UnregisteredOp):
            name = op.op_name.data
            attributes = {key: attr for key, attr in attributes.items() if key != "op_name__"}
        self._write(f"{quote(name.encode())}(")
        self.print_list(operands_of(op), self.print_ssa_value)
        self._write(")")
        if successors_of(op):
            self._write("[")
            self.print_list(op.successors, self.print_block_name)
            self._write("]")
        if op.properties:
            self._write(" <")
            self.print_attr_dict(op.properties)
            self._write(">")
        if op.regions:
            self._write(" (")
            self.print_list(op.regions, self.print_region)
            self._write(")")
        self.print_op_attributes(attributes)
        self._write(" : ")
        self.print_function_type(op.operand_types, op.result_types)

    def print_op_with_default_format(self, op: Operation) -> None:
        """xDSL's name for the generic form; the operation's name is printed already."""
        raise AssertionError(f"'{op.name}' asks for the generic form of itself")

    def print_function_type(
        self, input_types: Iterable[Attribute], output_types: Iterable[Attribute]
    ) -> None:
        """Print `(types) -> types`; a single result stands without parentheses."""
        self._write("(")
        self.print_list(input_types, self.print_attribute)
        self._write(") -> ")
        outputs = tuple(output_types)
        if len(outputs) == 1 and not isinstance(outputs[0], FunctionType):
            self.print_attribute(outputs[0])
            return
        self._write("(")
        self.print_list(outputs, self.print_attribute)
        self._write(")")

    def print_operation_type(self, op: Operation) -> None:
        """Print `(operand types) -> result types`."""
        self.print_function_type(op.operand_types, op.result_types)

    def print_function_argument(
        self, argument: BlockArgument, attributes: Mapping[str, Attribute]
    ) -> None:
        """Print an argument of a function with its attributes and location."""
        self.print_ssa_value(argument)
        self._write(": ")
        self.print_attribute(argument.type)
        self.print_op_attributes(attributes)
        self.print_trailing_location(argument.location, allow_alias=False)

    # The comments of `-mlir-print-value-users`.

    def _users_of_op(self, op: Operation) -> str:
        if not op.results:
            return f" // id: %{self._names.operations[op]}" if op.operands else ""
        users = _unique(use.operation for result in op.results for use in _uses(result))
        if not users:
            return " // unused"
        is_single = len(op.results) == 1 and len(users) == 1 and len(users[0].results) <= 1
        noun = "user" if is_single else "users"
        texts = [self._users_of_value(result) for result in op.results]
        if len(texts) > 1:
            texts = [f"({text})" for text in texts]
        return f" // {noun}: {', '.join(texts)}"

    def _users_of_value(self, value: SSAValue) -> str:
        users = _unique(use.operation for use in _uses(value))
        if not users:
            return "unused"
        return ", ".join(self._id_of(user) for user in users)

    def _id_of(self, op: Operation) -> str:
        if not op.results:
            return f"%{self._names.operations[op]}"
        return ", ".join(f"%{self._value_names[result]}" for result in op.results)

    def _users_of_argument(self, argument: BlockArgument) -> str:
        users = self._users_of_value(argument)
        verb = "is unused" if users == "unused" else f"is used by {users}"
        return f"// %{self._value_names[argument]} {verb}"


def _uses(value: SSAValue) -> Sequence[Use]:
    """The uses, last first: the order of MLIR's use lists."""
    return list(value.uses)


def _unique(operations: Iterable[Operation]) -> list[Operation]:
    return list(dict.fromkeys(operations))


def _sort_key(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def is_terminator(op: Operation) -> bool:
    """True for operations that end a block."""
    return op.has_trait(IsTerminator, value_if_unregistered=False)


def _print_string_attr(printer: MlirPrinter, attr: StringAttr) -> None:
    printer.print_string_literal(attr.data)


def _print_bytes_attr(printer: MlirPrinter, attr: BytesAttr) -> None:
    printer.print_bytes_literal(attr.data)


def _print_array(printer: MlirPrinter, attr: ArrayAttr[Attribute]) -> None:
    printer.print_string("[")
    printer.print_list(attr.data, printer.print_array_element)
    printer.print_string("]")


def _print_dictionary(printer: MlirPrinter, attr: DictionaryAttr) -> None:
    printer.print_attr_dict(attr.data)


def _print_affine_map(printer: MlirPrinter, attr: AffineMapAttr) -> None:
    printer.print_string(f"affine_map<{affine_map_text(attr)}>")


def _print_affine_set(printer: MlirPrinter, attr: AffineSetAttr) -> None:
    printer.print_string(f"affine_set<{affine_set_text(attr)}>")


def _print_dense(printer: MlirPrinter, attr: DenseIntOrFPElementsAttr) -> None:
    limit = printer.options.elide_larger_than
    elided = limit is not None and not attr.is_splat() and len(attr) > limit
    if elided:
        printer.print_string("dense_resource<__elided__>")
    elif elements.is_hex(attr, printer.options.hex_larger_than):
        printer.print_string("dense<")
        printer.print_hexadecimal(elements.hex_bytes(attr))
        printer.print_string(">")
    else:
        text = elements.elements_text(attr, hex_threshold=printer.options.hex_larger_than)
        printer.print_string(f"dense<{text}>")
    printer.print_string(" : ")
    printer.print_attribute(attr.type)


def _print_dense_array(printer: MlirPrinter, attr: DenseArrayBase) -> None:
    type = attr.elt_type
    printer.print_string("array<")
    printer.print_attribute(cast(Attribute, type))
    data, size = attr.data.data, elements.element_size(type)
    values = (elements.literal(data[at : at + size], type) for at in range(0, len(data), size))
    printer.print_string(f": {', '.join(values)}>" if data else ">")


def _print_dense_resource(printer: MlirPrinter, attr: DenseResourceAttr) -> None:
    printer.resources.add(attr.resource_handle.data)
    printer.print_string(f"dense_resource<{identifier_or_string(attr.resource_handle.data)}> : ")
    printer.print_attribute(attr.type)


def _print_memref(printer: MlirPrinter, type: MemRefType) -> None:
    printer.print_string("memref<")
    for extent in type.get_shape():
        printer.print_string(f"{extent}x" if extent >= 0 else "?x")
    printer.print_attribute(type.element_type)
    layout = type.layout
    is_identity = isinstance(layout, AffineMapAttr) and layout_map(layout).is_identity
    if not isinstance(layout, NoneAttr) and not is_identity:
        printer.print_string(", ")
        printer.print_attribute(layout)
    _print_memory_space(printer, type.memory_space)
    printer.print_string(">")


def _print_unranked_memref(printer: MlirPrinter, type: UnrankedMemRefType) -> None:
    printer.print_string("memref<*x")
    printer.print_attribute(type.element_type)
    _print_memory_space(printer, type.memory_space)
    printer.print_string(">")


def _print_memory_space(printer: MlirPrinter, space: Attribute) -> None:
    if not isinstance(space, NoneAttr):
        printer.print_string(", ")
        printer.print_array_element(space)


_BODIES: dict[type[Attribute], Callable[[MlirPrinter, Any], None]] = {
    AffineMapAttr: _print_affine_map,
    AffineSetAttr: _print_affine_set,
    ArrayAttr: _print_array,
    BytesAttr: _print_bytes_attr,
    DenseArrayBase: _print_dense_array,
    DenseIntOrFPElementsAttr: _print_dense,
    DenseResourceAttr: _print_dense_resource,
    DictionaryAttr: _print_dictionary,
    MemRefType: _print_memref,
    StringAttr: _print_string_attr,
    UnrankedMemRefType: _print_unranked_memref,
}


class OpLinePrinter:
    """Prints single operations of one module, numbered once, without aliases.

    Attributes and types are cut off if they are very long: these texts are for people.
    """

    def __init__(self, top: Operation, options: PrintOptions = DEFAULT_OPTIONS):
        """Number everything inside `top`."""
        self._options = options
        self._prefix = core_prefix_of(top)
        self._names = Numbering(top, generic=options.generic).names
        self._texts: dict[int, tuple[Attribute, str]] = {}
        self._location_texts: dict[int, tuple[Attribute, str]] = {}

    def line(self, op: Operation) -> str:
        """The text of one operation inside `top`."""
        with use_core_prefix(self._prefix):
            printer = MlirPrinter(self._options, self._names)
        # Lines have types and attributes in common, whose texts are long.
        printer.texts = self._texts
        printer.location_texts = self._location_texts
        printer.cut_off_at = _MAX_IN_LINE
        with deep_recursion():
            printer.print_op(op)
        return printer.text


def show_op(op: Operation, options: PrintOptions = DEFAULT_OPTIONS) -> str:
    """The text of an operation as messages show it: `print_op_line`, cut off if it is long."""
    root = _numbering_root(op, options.local_scope)
    with use_core_prefix(core_prefix_of(root)):
        printer = MlirPrinter(options, Numbering(root, generic=options.generic).names)
    return _show(printer, lambda: printer.print_op(op))


def _show(printer: MlirPrinter, print_it: Callable[[], object]) -> str:
    """What is printed, up to the length that messages show."""
    printer.cut_off_at = MAX_SHOWN + 1
    with deep_recursion():
        print_it()
    return cut_off(printer.text)


def print_op_line(op: Operation, options: PrintOptions = DEFAULT_OPTIONS) -> str:
    """The text of one operation without aliases, numbered as in its module.

    For many operations of a module, make one `OpLinePrinter`. With `local_scope` the numbers start
    in the enclosing function, as in MLIR.
    """
    return OpLinePrinter(_numbering_root(op, options.local_scope), options).line(op)


def _numbering_root(op: Operation, local_scope: bool) -> Operation:
    while (parent := op.parent_op()) is not None:
        if local_scope and op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            break
        op = parent
    return op


def attribute_text(attr: Attribute) -> str:
    """The text of an attribute or a type, without aliases."""
    printer = _attribute_printer(attr)
    with deep_recursion():
        printer.print_attribute(attr)
    return printer.text


def show_attribute(attr: Attribute) -> str:
    """The text of an attribute or a type as messages show it: cut off if it is long."""
    printer = _attribute_printer(attr)
    return _show(printer, lambda: printer.print_attribute(attr))


def _attribute_printer(attr: Attribute) -> MlirPrinter:
    with deep_recursion(), use_core_prefix(prefix_of_attribute(attr)):
        return MlirPrinter(DEFAULT_OPTIONS, Names())
