"""What the compiler does with each kind of node."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.sim.kernels.classes.closures import evaluate_lambda
from ttmlir.sim.kernels.classes.construct import construct
from ttmlir.sim.kernels.classes.declare import declare_struct
from ttmlir.sim.kernels.classes.templates import (
    find_constructed,
    find_templated_symbol,
    find_templated_type,
)
from ttmlir.sim.kernels.context import Handlers
from ttmlir.sim.kernels.expressions.assignments import (
    change,
    evaluate_assignment,
    evaluate_update,
)
from ttmlir.sim.kernels.expressions.calls import call, evaluate_call
from ttmlir.sim.kernels.expressions.casts import cast_value, evaluate_cast, evaluate_size
from ttmlir.sim.kernels.expressions.folds import (
    evaluate_count,
    evaluate_fold,
    evaluate_in_scope,
)
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
from ttmlir.sim.kernels.expressions.own_operators import call_operator, convert_object
from ttmlir.sim.kernels.expressions.places import evaluate_place
from ttmlir.sim.kernels.expressions.pointers import evaluate_this
from ttmlir.sim.kernels.expressions.variables import evaluate_name
from ttmlir.sim.kernels.functions import find_instance
from ttmlir.sim.kernels.scope import Evaluated, InScope
from ttmlir.sim.kernels.statements.branches import (
    execute_break,
    execute_continue,
    execute_if,
    execute_switch,
)
from ttmlir.sim.kernels.statements.declarations import declare_late, execute_declaration
from ttmlir.sim.kernels.statements.loops import execute_do, execute_for, execute_while
from ttmlir.sim.kernels.statements.meanings import (
    check_static_assert,
    declare_alias,
    declare_enumeration,
    execute_assembly,
    name_namespace,
    use_name,
    use_namespace,
)
from ttmlir.sim.kernels.statements.plain import execute_block, execute_evaluation, execute_return
from ttmlir.sim.kernels.statements.ranges import execute_binding, execute_range

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
        tree.This: evaluate_this,
        tree.Lambda: evaluate_lambda,
        tree.Fold: evaluate_fold,
        tree.CountOf: evaluate_count,
        InScope: evaluate_in_scope,
        Evaluated: evaluate_place,
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
        tree.RangeFor: execute_range,
        tree.Binding: execute_binding,
        tree.Struct: declare_struct,
        tree.UsingNamespace: use_namespace,
        tree.NamespaceAlias: name_namespace,
        tree.Assembly: execute_assembly,
    },
    find_instance=find_instance,
    call=call,
    change=change,
    call_operator=call_operator,
    cast=cast_value,
    convert_object=convert_object,
    construct=construct,
    find_constructed=find_constructed,
    find_templated_type=find_templated_type,
    find_templated_symbol=find_templated_symbol,
    declare_late=declare_late,
)
