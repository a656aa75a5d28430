"""What the compiler does with each kind of node."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.sim.kernels.context import Handlers
from ttmlir.sim.kernels.expressions.assignments import evaluate_assignment, evaluate_update
from ttmlir.sim.kernels.expressions.calls import evaluate_call
from ttmlir.sim.kernels.expressions.casts import evaluate_cast, evaluate_size
from ttmlir.sim.kernels.expressions.initial_values import evaluate_construct
from ttmlir.sim.kernels.expressions.literals import (
    evaluate_boolean,
    evaluate_character,
    evaluate_floating,
    evaluate_integer,
    evaluate_null,
    evaluate_string,
)
from ttmlir.sim.kernels.expressions.operators import (
    evaluate_binary,
    evaluate_conditional,
    evaluate_unary,
)
from ttmlir.sim.kernels.expressions.places import evaluate_place
from ttmlir.sim.kernels.expressions.variables import evaluate_name
from ttmlir.sim.kernels.functions import find_instance
from ttmlir.sim.kernels.statements.branches import (
    execute_break,
    execute_continue,
    execute_if,
    execute_switch,
)
from ttmlir.sim.kernels.statements.declarations import execute_declaration
from ttmlir.sim.kernels.statements.loops import execute_do, execute_for, execute_while
from ttmlir.sim.kernels.statements.meanings import (
    check_static_assert,
    declare_alias,
    declare_enumeration,
    use_name,
)
from ttmlir.sim.kernels.statements.plain import execute_block, execute_evaluation, execute_return

HANDLERS = Handlers(
    values={
        tree.Integer: evaluate_integer,
        tree.Floating: evaluate_floating,
        tree.Boolean: evaluate_boolean,
        tree.String: evaluate_string,
        tree.Character: evaluate_character,
        tree.Null: evaluate_null,
        tree.Name: evaluate_name,
        tree.Unary: evaluate_unary,
        tree.Update: evaluate_update,
        tree.BinaryOperation: evaluate_binary,
        tree.Conditional: evaluate_conditional,
        tree.Assign: evaluate_assignment,
        tree.Index: evaluate_place,
        tree.Member: evaluate_place,
        tree.FunctionCall: evaluate_call,
        tree.Cast: evaluate_cast,
        tree.SizeOf: evaluate_size,
        tree.Construct: evaluate_construct,
    },
    statements={
        tree.Block: execute_block,
        tree.Declaration: execute_declaration,
        tree.Evaluate: execute_evaluation,
        tree.If: execute_if,
        tree.Switch: execute_switch,
        tree.Alias: declare_alias,
        tree.UsingName: use_name,
        tree.Enumeration: declare_enumeration,
        tree.StaticAssert: check_static_assert,
        tree.Break: execute_break,
        tree.Continue: execute_continue,
        tree.Return: execute_return,
        tree.For: execute_for,
        tree.While: execute_while,
        tree.DoWhile: execute_do,
    },
    find_instance=find_instance,
)
