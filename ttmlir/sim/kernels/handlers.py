"""What the compiler does with each kind of node."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.sim.kernels.class_templates import (
    find_constructed,
    find_templated_symbol,
    find_templated_type,
)
from ttmlir.sim.kernels.classes import (
    construct,
    copy_object,
    declare_struct,
    evaluate_lambda,
)
from ttmlir.sim.kernels.context import Handlers
from ttmlir.sim.kernels.declarations import (
    check_static_assert,
    declare_alias,
    declare_enumeration,
    declare_late,
    execute_assembly,
    execute_declaration,
    name_namespace,
    use_name,
    use_namespace,
)
from ttmlir.sim.kernels.expressions.calls import call, evaluate_call
from ttmlir.sim.kernels.expressions.casts import cast_value, evaluate_cast
from ttmlir.sim.kernels.expressions.function_pointers import (
    call_pointer,
    point_at,
    point_at_function,
    points_to_base,
)
from ttmlir.sim.kernels.expressions.initial_values import evaluate_construct
from ttmlir.sim.kernels.expressions.lvalues import (
    evaluate_lvalue,
    evaluate_this,
)
from ttmlir.sim.kernels.expressions.member_pointers import find_pointed_member, point_at_member
from ttmlir.sim.kernels.expressions.operators import (
    call_operator,
    change,
    convert_object,
    evaluate_assignment,
    evaluate_binary,
    evaluate_conditional,
    evaluate_count,
    evaluate_fold,
    evaluate_in_scope,
    evaluate_unary,
    evaluate_update,
)
from ttmlir.sim.kernels.expressions.placed import evaluate_new
from ttmlir.sim.kernels.expressions.signatures import fit_function
from ttmlir.sim.kernels.expressions.sizes import evaluate_offset, evaluate_size
from ttmlir.sim.kernels.expressions.variables import (
    evaluate_boolean,
    evaluate_character,
    evaluate_floating,
    evaluate_integer,
    evaluate_name,
    evaluate_null,
    evaluate_string,
)
from ttmlir.sim.kernels.functions import find_instance, open_function
from ttmlir.sim.kernels.loops import (
    execute_binding,
    execute_do,
    execute_for,
    execute_range,
    execute_while,
)
from ttmlir.sim.kernels.scope import Evaluated, InScope
from ttmlir.sim.kernels.statements import (
    execute_block,
    execute_break,
    execute_continue,
    execute_evaluation,
    execute_if,
    execute_return,
    execute_switch,
)

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
        tree.Index: evaluate_lvalue,
        tree.Member: evaluate_lvalue,
        tree.PointedMember: evaluate_lvalue,
        tree.New: evaluate_new,
        tree.FunctionCall: evaluate_call,
        tree.Cast: evaluate_cast,
        tree.SizeOf: evaluate_size,
        tree.OffsetOf: evaluate_offset,
        tree.Construct: evaluate_construct,
        tree.This: evaluate_this,
        tree.Lambda: evaluate_lambda,
        tree.Fold: evaluate_fold,
        tree.CountOf: evaluate_count,
        InScope: evaluate_in_scope,
        Evaluated: evaluate_lvalue,
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
    fit_function=fit_function,
    point_at=point_at,
    point_at_function=point_at_function,
    points_to_base=points_to_base,
    call_pointer=call_pointer,
    find_pointed_member=find_pointed_member,
    point_at_member=point_at_member,
    open_function=open_function,
    construct=construct,
    copy=copy_object,
    find_constructed=find_constructed,
    find_templated_type=find_templated_type,
    find_templated_symbol=find_templated_symbol,
    declare_late=declare_late,
)
