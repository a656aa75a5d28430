"""The text of a whole module, with its aliases and resources.

print_module(module)                       # the pretty form, with aliases
print_module(module, generic=True, debuginfo=True)
printed_text(module).chunks()              # bytes to write, large constants in pieces
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    CallSiteLoc,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FunctionType,
    FusedLoc,
    MemRefType,
    NameLoc,
    NoneAttr,
    TensorType,
    TupleType,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, BlockArgument, BuiltinAttribute, Data, Operation, TypeAttribute
from xdsl.printer import Printer

from ttmlir.mlir.attributes import layout_map, metadata, range_ends
from ttmlir.mlir.core_prefix import TTCORE, core_prefix, spell_as
from ttmlir.mlir.long_strings import PrintedText
from ttmlir.mlir.printing import (
    DEFAULT_OPTIONS,
    LOCATIONS,
    Alias,
    MlirPrinter,
    Names,
    Numbering,
    PrintOptions,
    TooLongError,
)
from ttmlir.mlir.reporting import LocatedError
from ttmlir.nesting import deep_recursion

# --- Aliases --------------------------------------------------------------------------------------
# Which attributes and types get an alias (`#layout1 = ...`), how it is called, where it stands.
#
# The printer runs once without output and notes every attribute that it would print. Those with a
# stem get an alias: `map`, `set`, `loc` and `tuple` for builtin ones, `alias_name()` for a class
# that defines it. Aliases are ordered by depth (an attribute that holds aliased attributes comes
# after them), types before attributes, then by stem, then by first appearance; the n-th alias of a
# stem gets the suffix n, the first none; a stem that ends in a digit gets `_` first. Locations of
# operations stand after the module; everything that must be known while the module is read stands
# before it.
#
# Source of the rules: `AliasInitializer` in mlir/lib/IR/AsmPrinter.cpp.

_LONG_TUPLE = 16
_MANY_PARTS = 500
"""An attribute with more parts is spelled out once."""


@dataclass(eq=False)
class _Entry:
    """What is known of one attribute."""

    attribute: Attribute
    stem: str | None
    deferrable: bool
    depth: int = 0
    """How many aliases stand inside of each other, this one included."""
    children: list[_Entry] = field(default_factory=list["_Entry"])
    """One for each time that it is printed inside this one."""
    uses: int = 0
    """How often it is printed."""
    parts: int = 1
    """How many attributes its text spells out."""

    def count_parts(self) -> None:
        """Know how long the text is, and give it an alias if it is long and needed again.

        Those of the children are known.
        """
        self.parts = 1 + sum(1 if child.stem else child.parts for child in self.children)
        if self.stem is None and self.parts > _MANY_PARTS and self.uses > 1:
            self.stem = "type" if isinstance(self.attribute, TypeAttribute) else "attr"
        deepest_child = max((child.depth for child in self.children), default=0)
        self.depth = deepest_child + 1 if deepest_child else int(self.stem is not None)

    def forbid_deferring(self) -> None:
        """Put the alias, and all that it needs, before the module."""
        pending = [self]
        while pending:
            entry = pending.pop()
            if entry.deferrable:
                entry.deferrable = False
                pending += entry.children


class _Collector(MlirPrinter):
    """A printer that writes nothing and notes every attribute."""

    def __init__(self, options: PrintOptions, names: Names):
        super().__init__(options, names)
        self._write = lambda text: None
        self.entries: dict[Attribute, _Entry] = {}
        self.finished: list[_Entry] = []
        """All entries, children before their parents."""
        self._by_id: dict[int, _Entry] = {}
        self._parent: _Entry | None = None

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Print nothing."""

    def print_new_line(self, indent: int | None = None) -> None:
        pass

    def print_attribute(self, attribute: Attribute) -> None:
        """Note an attribute where the printer would print it."""
        deferrable = self._parent is not None and self._parent.deferrable
        self._visit(attribute, deferrable=deferrable)

    def print_stripped_attribute(self, attribute: Data[Any]) -> None:
        """Note an attribute."""
        self.print_attribute(attribute)

    def print_array_element(self, attribute: Attribute) -> None:
        """Note an attribute."""
        self.print_attribute(attribute)

    def print_op(self, op: Operation) -> None:
        """Note what an operation prints; its location comes first."""
        if self.print_debuginfo:
            self._visit(op.location, deferrable=True)
        super().print_op(op)

    def _print_generic(self, op: Operation) -> None:
        for region in op.regions:
            self.print_region(region)
        for type in (*op.operand_types, *op.result_types):
            self.print_attribute(type)
        self.print_attr_dict(op.properties | op.attributes)

    def print_trailing_location(self, location: Attribute, *, allow_alias: bool = True) -> None:
        """Note the location of a block argument; that of an operation is noted first."""
        if self.print_debuginfo and not allow_alias:
            self._visit(location, deferrable=False)

    def print_function_argument(
        self, argument: BlockArgument, attributes: Mapping[str, Attribute]
    ) -> None:
        """Note type and location; the attributes of arguments do not make aliases in MLIR."""
        self.print_attribute(argument.type)
        self.print_trailing_location(argument.location, allow_alias=False)

    def _visit(self, attribute: Attribute, *, deferrable: bool) -> None:
        entry = self._by_id.get(id(attribute)) or self.entries.get(attribute)
        if entry is None:
            entry = self._enter(attribute, deferrable=deferrable)
        elif not deferrable:
            entry.forbid_deferring()
        entry.uses += 1
        # The entry of an equal attribute does not keep this one alive: remember only its own.
        if entry.attribute is attribute:
            self._by_id[id(attribute)] = entry
        if self._parent is not None:
            self._parent.children.append(entry)

    def _enter(self, attribute: Attribute, *, deferrable: bool) -> _Entry:
        stem = _stem(attribute)
        entry = _Entry(attribute, stem, deferrable)
        self.entries[attribute] = entry
        outer, self._parent = self._parent, entry
        self._visit_children(attribute)
        self._parent = outer
        self.finished.append(entry)
        return entry

    def _visit_children(self, attribute: Attribute) -> None:
        if isinstance(attribute, BuiltinAttribute):
            for child in _children(attribute):
                self.print_attribute(child)
        else:
            Printer.print_attribute(self, attribute)


def _stem(attribute: Attribute) -> str | None:
    if isinstance(attribute, LOCATIONS):
        return "loc"
    if isinstance(attribute, AffineMapAttr):
        return "map"
    if isinstance(attribute, AffineSetAttr):
        return "set"
    if isinstance(attribute, TupleType):
        return "tuple" if len(attribute.types) > _LONG_TUPLE else None
    alias_name = getattr(attribute, "alias_name", None)
    if alias_name is None:
        return None
    stem = cast("str | None", alias_name())
    if not stem:
        return None
    stem = re.sub(r"[^\w$.-]", "_", stem, flags=re.ASCII)
    return stem + "_" if stem[-1].isdigit() else stem


def _no_children(attribute: Attribute) -> Sequence[Attribute]:
    return ()


def _children(attribute: Attribute) -> Sequence[Attribute]:
    """The attributes that printing a builtin attribute prints."""
    return _CHILDREN.get(type(attribute), _no_children)(attribute)


def _element_type(type: Any) -> Sequence[Attribute]:
    return (type.element_type,)


def _of_dictionary(attribute: DictionaryAttr) -> Sequence[Attribute]:
    return [attribute.data[name] for name in sorted(attribute.data)]


def _of_memref(type: MemRefType) -> Sequence[Attribute]:
    layout: Attribute = type.layout
    if isinstance(layout, AffineMapAttr) and layout_map(layout).is_identity:
        layout = NoneAttr()
    return _present(type.element_type, layout, type.memory_space)


def _of_name_location(location: NameLoc) -> Sequence[Attribute]:
    child = location.location
    return () if isinstance(child, UnknownLoc) else _present(child)


def _of_fused_location(location: FusedLoc) -> Sequence[Attribute]:
    if range_ends(location) is not None:
        return ()
    parts = cast(ArrayAttr[Attribute], location.locations)
    return (*_present(location.metadata), *parts)


_CHILDREN: dict[type[Attribute], Callable[[Any], Sequence[Attribute]]] = {
    ArrayAttr: lambda attribute: attribute.data,
    CallSiteLoc: lambda location: (location.callee, location.caller),
    ComplexType: _element_type,
    DenseIntOrFPElementsAttr: lambda attribute: (attribute.type,),
    DenseResourceAttr: lambda attribute: (attribute.type,),
    DictionaryAttr: _of_dictionary,
    FunctionType: lambda type: (*type.inputs, *type.outputs),
    FusedLoc: _of_fused_location,
    MemRefType: _of_memref,
    NameLoc: _of_name_location,
    TensorType: lambda type: _present(type.element_type, type.encoding),
    TupleType: lambda type: type.types.data,
    UnrankedMemRefType: lambda type: _present(type.element_type, type.memory_space),
    UnrankedTensorType: _element_type,
    VectorType: _element_type,
}


def _present(*attributes: Attribute) -> list[Attribute]:
    return [attribute for attribute in attributes if not isinstance(attribute, NoneAttr)]


def collect_aliases(top: Operation, options: PrintOptions, names: Names) -> list[Alias]:
    """The aliases of what printing `top` prints, in the order of their definitions."""
    collector = _Collector(options, names)
    collector.print_op(top)
    for entry in collector.finished:
        entry.count_parts()
    named = [entry for entry in collector.entries.values() if entry.stem is not None]
    named.sort(key=lambda e: (e.depth, not isinstance(e.attribute, TypeAttribute), e.stem))
    counts = Counter[str]()
    aliases: list[Alias] = []
    for entry in named:
        stem = entry.stem
        assert stem is not None
        sigil = "!" if isinstance(entry.attribute, TypeAttribute) else "#"
        suffix = str(counts[stem]) if counts[stem] else ""
        counts[stem] += 1
        if stem[-1] == "_" and core_prefix() == TTCORE:
            # Since 2025 MLIR keeps a digit at the end, and parts it from the number only.
            stem, suffix = stem[:-1], f"_{suffix}" if suffix else ""
        aliases.append(Alias(entry.attribute, f"{sigil}{stem}{suffix}", entry.deferrable))
    return aliases


# --- Module ---------------------------------------------------------------------------------------


def print_module(module: Operation, options: PrintOptions = DEFAULT_OPTIONS, **fields: Any) -> str:
    """The text of a module, or of any operation on its own, with a newline at its end.

    Options come as `PrintOptions`, or as its fields: `print_module(module, generic=True)`.
    """
    return str(printed_text(module, replace(options, **fields)))


def printed_text(module: Operation, options: PrintOptions = DEFAULT_OPTIONS) -> PrintedText:
    """What `print_module` gives, with long constants as bytes until it is written.

    DiagnosticError for a text without end.
    """
    with spell_as(module):
        return _printed_text(module, options)


def _printed_text(module: Operation, options: PrintOptions) -> PrintedText:
    numbering = Numbering(
        module,
        generic=options.generic,
        unique_ssa_ids=options.unique_ssa_ids,
        number_all_operations=options.value_users,
    )
    printer = MlirPrinter(options, numbering.names)
    printer.long_strings = []
    with deep_recursion():
        try:
            if options.local_scope:
                printer.print_op(module)
                return PrintedText.of(printer.text, printer.long_strings, ["\n"])
            printer.print_with_aliases(module, collect_aliases(module, options, numbering.names))
        except TooLongError as error:
            raise LocatedError(error.location, str(error)) from error
    limit = options.elide_resources_larger_than
    rest = ["\n", *metadata(module, printer.resources, limit)]
    return PrintedText.of(printer.text, printer.long_strings, rest)
