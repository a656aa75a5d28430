"""Compute what depends on constants alone in functions of their own, once.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32>
        attributes {tt.function_type = "forward_device"} {
      %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1, 1>}>
          : () -> tensor<1x1xf32>
      %1 = "ttir.add"(%a, %0) : (tensor<5x7xf32>, tensor<1x1xf32>) -> tensor<5x7xf32>
      return %1 : tensor<5x7xf32>
    }

After:

    module {
      func.func private @main_const_eval_0() -> tensor<1x1xf32>
          attributes {tt.function_type = "const_eval"} {
        %0 = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 1, 1>}>
            : () -> tensor<1x1xf32>
        return %0 : tensor<1x1xf32>
      }
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32>
          attributes {tt.function_type = "forward_device"} {
        %0 = ttcore.load_cached(@main_const_eval_0, []) : () -> tensor<1x1xf32>
        %1 = "ttir.add"(%arg0, %0) : (tensor<5x7xf32>, tensor<1x1xf32>) -> tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
      }
    }

Requires: `tt.function_type` on functions (`ttcore-mark-functions-as-forward`).
Ensures: in functions of the device, operations whose operands are arguments marked as parameters or
constants, or results of such operations, are in functions called `NAME_const_eval_N`, those that
depend on each other in one. The loads of their results are the first operations.
Options: none.
Not done here: operations with effects, and random numbers. What an earlier run has hoisted stays,
but its loads are ordered as those of this run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects.ttcore import ArgumentTypeAttr, LoadCachedOp
from ttmlir.ir.greedy_rewriting import may_vanish
from ttmlir.ir.rewriting import symbol_visibility, symbols_in
from ttmlir.ir.ttnn_types import location_of
from ttmlir.layout.enums import ArgumentType
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context

_SHARED = ("ttnn.get_device",)
"""Operations that each function has for itself."""
_NOT_CONSTANT = frozenset(
    (
        *("ttir.rand", "ttnn.rand", "ttir.dropout", "ttnn.dropout", "ttir.empty", "ttnn.empty"),
        *("tensor.empty", "ttir.rng_bit_generator", "ttnn.rng_bit_generator"),
    )
)
"""Operations that give something else each time."""
_FIXED = (ArgumentType.PARAMETER, ArgumentType.CONSTANT)


@dataclass(frozen=True)
class ConstEvalHoistTransformPass(ModulePass):
    """Compute what depends on constants alone in functions of their own, once."""

    name = "const-eval-hoist-transform"
    title = "ConstEvalHoistTransform"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Hoist out of every function of the device."""
        for op in tuple(module.walk()):
            if isinstance(op, FuncOp) and op.body.blocks and _is_forward(op):
                _hoist(op)


def _is_forward(function: FuncOp) -> bool:
    kind = function.attributes.get(FUNCTION_TYPE)
    if isinstance(kind, StringAttr):
        return kind.data == "forward_device"
    # The decomposition of a composite becomes part of the function that has it.
    return symbol_visibility(function) == "private"


def _hoist(function: FuncOp) -> None:
    graphs = _Graphs(function)
    for place, graph in enumerate(graphs.in_order()):
        _hoist_graph(function, graph, place)
    block = function.body.blocks[0]
    for op in reversed([op for op in block.ops if op.name in _SHARED]):
        if op.results[0].first_use is None:
            op.detach()
            op.drop_all_references()


# --- Analysis -------------------------------------------------------------------------------------


@dataclass
class _Graph:
    """Operations that depend on each other, and on constant arguments alone."""

    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])
    arguments: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])


class _Graphs:
    """The constant parts of a function."""

    def __init__(self, function: FuncOp) -> None:
        self._graph_of: dict[Operation, int] = {}
        self._graphs: dict[int, _Graph] = {}
        self._count = 0
        block = function.body.blocks[0]
        self._fixed = {arg for arg in block.args if is_fixed(function, arg.index)}
        for op in block.ops:
            self._take(op)

    def in_order(self) -> list[_Graph]:
        """The graphs in the order of a table of their numbers, as the reference has it."""
        return [self._graphs[number] for number in _table_order(self._count, self._graphs)]

    def _take(self, op: Operation) -> None:
        if not may_vanish(op) or op.regions or op.name in (*_SHARED, *_NOT_CONSTANT):
            return
        graphs: dict[int, None] = {}
        arguments: list[SSAValue] = []
        for operand in op.operands:
            owner = operand.owner
            if operand in self._fixed:
                arguments.append(operand)
            elif isinstance(owner, Operation) and owner in self._graph_of:
                graphs[self._graph_of[owner]] = None
            elif not (isinstance(owner, Operation) and owner.name in _SHARED):
                return
        number = self._merge([*graphs])
        graph = self._graphs[number]
        graph.ops[op] = None
        graph.arguments.update(dict.fromkeys(arguments))
        self._graph_of[op] = number

    def _merge(self, numbers: Sequence[int]) -> int:
        if not numbers:
            number = self._count
            self._count += 1
            self._graphs[number] = _Graph()
            return number
        first = min(numbers)
        for number in sorted(numbers)[1:]:
            other = self._graphs.pop(number)
            self._graphs[first].ops.update(other.ops)
            self._graphs[first].arguments.update(other.arguments)
            self._graph_of.update(dict.fromkeys(other.ops, first))
        return first


def is_fixed(function: FuncOp, number: int) -> bool:
    """True for an argument that is a parameter or a constant."""
    kind = argument_attribute(function, number, "ttcore.argument_type")
    return isinstance(kind, ArgumentTypeAttr) and kind.data in _FIXED


def is_computed_once(value: SSAValue) -> bool:
    """True for what follows from parameters and constants of a function alone."""
    seen = {value}
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, BlockArgument):
            function = each.owner.parent_op()
            if not isinstance(function, FuncOp) or not is_fixed(function, each.index):
                return False
            continue
        owner = each.owner
        assert isinstance(owner, Operation), "what is no argument of a block is a result"
        if owner.regions or owner.name in _NOT_CONSTANT or not may_vanish(owner):
            return False
        pending += [operand for operand in owner.operands if operand not in seen]
        seen.update(owner.operands)
    return True


def argument_attribute(function: FuncOp, number: int, name: str) -> Attribute | None:
    """What a function says of an argument by an attribute."""
    attrs = function.arg_attrs
    return None if attrs is None else attrs.data[number].data.get(name)


_LEAST_BUCKETS = 64
_MULTIPLIER = 0xBF58476D1CE4E5B9
_MASK = (1 << 64) - 1


def _table_order(count: int, kept: dict[int, _Graph]) -> list[int]:
    """The numbers in the order of LLVM's table of numbers below `count`, without those that left.

    The reference walks through such a table, and so its order is that of the functions.
    """
    buckets = _LEAST_BUCKETS
    while count * 4 >= buckets * 3:
        buckets *= 2
    table: dict[int, int] = {}
    for number in range(count):
        mixed = number * _MULTIPLIER & _MASK
        place, step = (mixed ^ mixed >> 31) % buckets, 1
        while place in table:
            place, step = (place + step) % buckets, step + 1
        table[place] = number
    return [table[place] for place in sorted(table) if table[place] in kept]


# --- Functions ------------------------------------------------------------------------------------


def _hoist_graph(function: FuncOp, graph: _Graph, place: int) -> None:
    """Let a load, the operation number `place` of the function, take the place of a graph."""
    ops = _in_block_order(function, graph)
    inside = set(ops)
    # What an earlier run has hoisted comes last.
    results = [
        result
        for op in sorted(ops, key=lambda op: isinstance(op, LoadCachedOp))
        for result in op.results
        if any(use.operation not in inside for use in result.uses)
    ]
    if not results:
        return
    first = ops[0]
    if len(ops) == 1 and isinstance(first, LoadCachedOp):
        callee, arguments = first.callee, [*first.operands]
        # What nobody has used since stays a result of the function.
        results = [*first.results]
    else:
        arguments = [*graph.arguments]
        callee = _make_function(function, ops, arguments, results)
    load = LoadCachedOp.create(
        operands=arguments,
        result_types=[value.type for value in results],
        properties={"callee": SymbolRefAttr(callee)},
        location=function.location,
    )
    block = function.body.blocks[0]
    others = [*block.ops]
    block.insert_op_before(load, others[min(place, len(others) - 1)])
    for old, new in zip(results, load.results, strict=True):
        old.replace_all_uses_with(new)
    for op in reversed(ops):
        op.detach()
        op.drop_all_references()


def _in_block_order(function: FuncOp, graph: _Graph) -> list[Operation]:
    return [op for op in function.body.blocks[0].ops if op in graph.ops]


def _make_function(
    function: FuncOp,
    ops: Sequence[Operation],
    arguments: Sequence[SSAValue],
    results: Sequence[SSAValue],
) -> str:
    """A function before another that gives what operations of that one do; its name."""
    table = function.parent_op()
    assert table is not None, "functions are in modules"
    location = function.location
    block = Block(arg_types=[value.type for value in arguments])
    mapping: dict[SSAValue, SSAValue] = dict(zip(arguments, block.args, strict=True))
    for new, old in zip(block.args, arguments, strict=True):
        new.location = location_of(old)
    shared = dict.fromkeys(
        owner
        for op in ops
        for owner in (operand.owner for operand in op.operands)
        if isinstance(owner, Operation) and owner.name in _SHARED
    )
    functions = symbols_in(table)
    inlined: dict[str, None] = {}
    for op in (*shared, *ops):
        if isinstance(op, LoadCachedOp):
            inlined[op.callee] = None
            _inline(cast("FuncOp", functions[op.callee]), op, block, mapping)
        else:
            _copy(op, block, mapping)
    block.add_op(ReturnOp.create(operands=[mapping[value] for value in results], location=location))
    # A function that grows keeps its name and its place.
    later: list[Operation] = []
    name = ""
    for earlier in inlined:
        old = functions[earlier]
        if not name and not _is_loaded_by_others(table, earlier, set(ops)):
            name, siblings = earlier, [*old.parent.ops] if old.parent else []
            later = siblings[siblings.index(old) + 1 :]
    _erase_functions(table, inlined, {op for op in ops if isinstance(op, LoadCachedOp)})
    name = name or _free_name(table, f"{function.sym_name.data}_const_eval_")
    made = FuncOp(
        name,
        FunctionType.from_lists(
            [value.type for value in arguments], [value.type for value in results]
        ),
        Region(block),
        visibility="private",
    )
    made.attributes[FUNCTION_TYPE] = StringAttr("const_eval")
    made.location = location
    holder = function.parent
    assert holder is not None, "functions are in modules"
    # What follows may have been inlined, too.
    left = (each for each in later if each.parent is holder)
    holder.insert_op_before(made, next(left, function))
    return made.sym_name.data


def _copy(op: Operation, block: Block, mapping: dict[SSAValue, SSAValue]) -> None:
    new = op.clone(mapping)
    new.location = op.location
    block.add_op(new)


def _inline(
    callee: FuncOp, load: LoadCachedOp, block: Block, mapping: dict[SSAValue, SSAValue]
) -> None:
    """Put what a function computes in place of the load of its results."""
    body = callee.body.blocks[0]
    inner: dict[SSAValue, SSAValue] = {
        argument: mapping[value] for argument, value in zip(body.args, load.operands, strict=True)
    }
    devices = [op for op in block.ops if op.name in _SHARED]
    for op in body.ops:
        if isinstance(op, ReturnOp):
            for result, value in zip(load.results, op.operands, strict=True):
                mapping[result] = inner[value]
        elif op.name in _SHARED and devices:
            inner[op.results[0]] = devices[0].results[0]
        else:
            _copy(op, block, inner)


def _is_loaded_by_others(table: Operation, name: str, ops: set[Operation]) -> bool:
    loads = (op for op in table.walk() if isinstance(op, LoadCachedOp) and op not in ops)
    return any(op.callee == name for op in loads)


def _erase_functions(table: Operation, names: dict[str, None], gone: set[LoadCachedOp]) -> None:
    """Take functions away whose results nobody loads any more."""
    used = {op.callee for op in table.walk() if isinstance(op, LoadCachedOp) and op not in gone}
    for name, op in symbols_in(table).items():
        if name in names and name not in used:
            op.detach()
            op.drop_all_references()


def _free_name(table: Operation, stem: str) -> str:
    taken = symbols_in(table)
    number = 0
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"
