"""The names of values and blocks in printed text, numbered as MLIR numbers them.

All results of a block are numbered before anything nested in it; nested regions follow last in,
first out, each continuing with the counters that stood when its operation was found. Entry-block
arguments are `%argN`, constants `%cst`, `%c0_i32`, `%true`; a name in use gets `_N` appended. The
generic form (and unique SSA ids) never goes back with a counter and uses numbers only.

Source of the rules: `SSANameState` in mlir/lib/IR/AsmPrinter.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue


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
