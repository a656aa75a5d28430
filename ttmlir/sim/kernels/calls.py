"""Calls of the kernel's own functions and of the kernel library, casts, initial values."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ttmlir.cpp import tree
from ttmlir.optable.kernel import TemplateKind
from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.enumerators import bare_name
from ttmlir.sim.kernels.expressions import ExpressionCompiler, no_member
from ttmlir.sim.kernels.library import LibraryCall, LibraryMethod, ParameterType
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemberPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    node_of,
)
from ttmlir.sim.kernels.scope import (
    Alias,
    Functions,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.types import (
    BOOL,
    CHAR,
    FLOAT,
    INT,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    StringType,
    StructType,
    is_same_type,
    size_of,
    tag_of,
)
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    converted,
    floating,
    integer,
    settled,
    unsigned,
    whole,
    with_bits_of,
)

_BASES = {"HEX": 16, "DEC": 10, "OCT": 8}
_DPRINT = "DPRINT"
_WIDEST = 255
"""What SETW takes at most: it keeps the width in a `char`."""


@dataclass(frozen=True)
class Argument:
    """What a function gets for one parameter."""

    type: CType
    mode: str
    """`value`; or a reference: `object` to a list, `pair` to a variable, `address` to memory,
    `pointer` to what is one or the other."""
    node: ast.expr
    space: Space = Space.MEMORY
    """Where it points to, if it is a pointer."""


class CallCompiler(ExpressionCompiler):
    """Calls, casts and braces."""

    # Calls.

    def call(self, node: tree.Call) -> Value:
        """A call for its value."""
        if isinstance(node.callee, tree.Member):
            return self._method(node, node.callee)
        special = self.SPECIAL.get(bare_name(node.callee.text))
        symbol = self.unit.find(node.callee.text, self.scope)
        if symbol is None and special is not None:
            return special(self, node)
        match symbol:
            case Functions():
                return self._own_function(node, symbol)
            case Variable():
                raise self.unit.error(node, f"'{symbol.name}' is a variable and cannot be called")
            case _:
                pass
        type_ = self.unit.named_type(tree.NamedType(node.callee.text), self.scope)
        if type_ is not None and not isinstance(type_, ObjectType):
            return self._functional(node, type_)
        return self._library(node, node.callee.text)

    def _functional(self, node: tree.Call, type_: CType) -> Value:
        if len(node.arguments) != 1:
            raise self.unit.error(node, f"a conversion to '{type_.name}' takes one value")
        return self.cast(self.scalar(node.arguments[0]), type_, node)

    def library_call(self, node: tree.Expression) -> LibraryCall | None:
        """The call of the library that an expression is, if it is one."""
        if not isinstance(node, tree.Call) or not isinstance(node.callee, tree.Name):
            return None
        if self.unit.find(node.callee.text, self.scope) is not None:
            return None
        return self.unit.library.call(node.callee.text)

    def _library(self, node: tree.Call, name: str) -> Value:
        found = self.unit.library.call(name)
        if found is None:
            near = self.unit.nearest_calls(name)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise self.unit.error(node, f"there is no function '{name}'{hint}")
        arguments = self.arguments(node, name)
        if not found.acts:
            return self._left_out(found, arguments)
        if found.waits:
            raise self.unit.error(
                node, f"'{found.name}' waits; make the call a statement of its own"
            )
        return self._result(self.library_node(node, found, arguments), found.result, node)

    def library_node(
        self, node: tree.Call, found: LibraryCall, arguments: Sequence[ast.expr]
    ) -> ast.Call:
        """The call of the simulator's method."""
        keywords = dict[str, ast.expr]()
        template = node.template_arguments or self._macros_of(node, found)
        if template:
            keywords["template"] = self._template_arguments(found.name, template)
        misfit = self.unit.library.misfit(found.name, len(arguments), keywords)
        if misfit:
            raise self.unit.error(node, misfit)
        return code.call(self.unit.bound(found.name), *arguments, **keywords)

    def _macros_of(self, node: tree.Call, found: LibraryCall) -> Sequence[tree.TemplateArgument]:
        """What macros such as `REDUCE_OP` give a call that is written without its templates."""
        defaults = self.unit.library.template_defaults(found.name)
        if not any(each in self.unit.defines for each in defaults):
            return ()
        texts = (self.unit.defines.get(each, each) for each in defaults)
        return [
            tree.Boolean(text == "true", position=node.position)
            if text in ("true", "false")
            else tree.Name(text, position=node.position)
            for text in texts
        ]

    def arguments(self, node: tree.Call, name: str) -> list[ast.expr]:
        """The arguments of a call of the library."""
        library = self.unit.library
        return [
            self._plain(each, library.parameter(name, i)) for i, each in enumerate(node.arguments)
        ]

    def _result(self, called: ast.Call, result: CType, node: tree.Call) -> Value:
        value = whole(result, called)
        assert isinstance(node.callee, tree.Name)
        if not self.unit.library.is_typed(node.callee.text):
            return value
        match node.template_arguments, result:
            case (tree.NamedType() as wanted,), IntType():
                target = self.unit.named_type(wanted, self.scope)
                if isinstance(target, FloatType):
                    return Value(FLOAT, called)
                return value if not isinstance(target, IntType) else converted(value, target)
            case _:
                return value

    def _left_out(self, found: LibraryCall, arguments: Sequence[ast.expr]) -> Value:
        """A call that another processor makes: what its arguments do remains."""
        effects = [each for each in arguments if self.unit.has_effect(each)]
        zero = code.constant(None if found.result == VOID else 0)
        return whole(found.result, code.last_of(*effects, zero))

    def _plain(self, node: tree.Expression, parameter: ParameterType) -> ast.expr:
        """An argument of the library: an integer, an address or an object.

        A number is converted to the parameter's type where that loses something of it.
        """
        value = self._whole_object(node) or self.scalar(node)
        type_ = value.type
        if isinstance(type_, ObjectType):
            if type_.name not in parameter.objects:
                message = f"the call takes {parameter.wanted} here, not '{type_.name}'"
                raise self.unit.error(node, message)
            return value.node
        if parameter.is_object:
            message = f"the call takes {parameter.wanted} here, not '{type_.name}'"
            raise self.unit.error(node, message)
        if not isinstance(type_, (IntType, FloatType, PointerType)):
            raise self.unit.error(node, f"the call takes a number here, not '{type_.name}'")
        if isinstance(type_, PointerType):
            if value.space is Space.LOCAL:
                message = "the kernel library takes no pointer to a local variable"
                raise self.unit.error(node, message)
            return self._address(value)
        if parameter.number is not None and _loses(type_, parameter.number):
            value = converted(value, parameter.number)
        return settled(value).node

    def _address(self, pointer: Value) -> ast.expr:
        """The address that a pointer holds, which must not point to a variable."""
        if pointer.space is Space.MEMORY:
            return pointer.node
        return code.call("_address", pointer.node)

    def _whole_object(self, node: tree.Expression) -> Value | None:
        if isinstance(node, tree.Unary) and node.operator == "&":
            place = self.place(node.operand)
            if isinstance(place.type, ObjectType) and not isinstance(
                place, (MemoryPlace, EitherPlace)
            ):
                return Value(place.type, node_of(place))
        return None

    def _template_arguments(self, name: str, template: Sequence[tree.TemplateArgument]) -> ast.expr:
        kinds = self.unit.library.template_kinds(name)
        if len(template) > len(kinds):
            count = f"at most {len(kinds)}" if kinds else "no"
            raise self.unit.error(template[0], f"'{name}' takes {count} template arguments")
        return code.pair(*map(self._template, template, kinds))

    def _template(self, node: tree.TemplateArgument, kind: TemplateKind) -> ast.expr:
        if kind is TemplateKind.TYPE:
            type_ = self.unit.type_of(node, self.scope)
            if not isinstance(type_, (IntType, FloatType)) or (size_of(type_) or 0) > 4:
                message = f"the template argument '{type_.name}' is no number of 32 bits"
                raise self.unit.error(node, message)
            return code.constant(type_.name)
        if isinstance(node, (tree.NamedType, tree.Pointer, tree.Reference)):
            raise self.unit.error(node, "the template argument is a number here, not a type")
        match node:
            case tree.Call(callee=tree.Member() as callee):
                if self._method_of(node, callee)[1].is_constant:
                    return self.value(node).node
            case _:
                pass
        return code.constant(self.constant(node, "a template argument"))

    def _method(self, node: tree.Call, callee: tree.Member) -> Value:
        base, method = self._method_of(node, callee)
        if node.template_arguments:
            raise self.unit.error(callee, f"'{callee.member}' takes no template arguments")
        least, most = len(method.parameters) - method.optional, len(method.parameters)
        if not least <= len(node.arguments) <= most:
            count = str(most) if least == most else f"{least} to {most}"
            raise self.unit.error(node, f"'{callee.member}' takes {count} arguments")
        pairs = zip(node.arguments, method.parameters, strict=False)
        arguments = [self._plain(each, parameter) for each, parameter in pairs]
        function = code.attribute(base.node, callee.member)
        return whole(method.result, code.call(function, *arguments))

    def _method_of(self, node: tree.Call, callee: tree.Member) -> tuple[Value, LibraryMethod]:
        """An object and the member function of it that is called."""
        if callee.arrow:
            raise self.unit.error(callee, "a call through a pointer is not supported; write '.'")
        base = self.scalar(callee.base)
        if not isinstance(base.type, ObjectType):
            raise self.unit.error(callee, f"'{base.type.name}' has no member functions")
        methods = self.unit.library.methods_of(base.type.name)
        method = methods.get(callee.member)
        if method is None:
            near = difflib.get_close_matches(callee.member, methods, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            there = ", ".join(sorted(methods)) or "none"
            name = f"'{base.type.name}' has no member function '{callee.member}'"
            raise self.unit.error(callee, f"{name}; there are {there}{hint}")
        return base, method

    # The kernel's own functions.

    def _own_function(self, node: tree.Call, functions: Functions) -> Value:
        function = self._overload(node, functions)
        scope = self._template_scope(function, functions, node)
        given = len(node.arguments)
        defaults = [each.default for each in function.parameters[given:] if each.default]
        arguments = [
            self._argument(parameter, each, scope)
            for parameter, each in zip(
                function.parameters, (*node.arguments, *defaults), strict=True
            )
        ]
        instance = self.unit.instance(function, scope, arguments, node)
        nodes = [each.node for each in arguments]
        called: ast.expr = code.call(instance.identifier, *nodes)
        if instance.waits:
            self.waits += 1
            called = ast.YieldFrom(called)
        self.loads += instance.loads
        return whole(instance.result, called, instance.space)

    def _overload(self, node: tree.Call, functions: Functions) -> tree.Function:
        count = len(node.arguments)
        fitting = [
            each for each in functions.definitions if each.body is not None and _takes(each, count)
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            message = f"'{functions.name}' has overloads that differ in types only: not supported"
            raise self.unit.error(node, message)
        if all(each.body is None for each in functions.definitions):
            raise self.unit.error(node, f"'{functions.name}' is declared but never defined")
        takes = " or ".join(_arity(each) for each in functions.definitions)
        message = f"'{functions.name}' takes {takes} arguments, not {count}"
        raise self.unit.error(node, message)

    def _template_scope(
        self, function: tree.Function, functions: Functions, node: tree.Call
    ) -> Scope:
        """The names that a function sees around it, its template parameters among them."""
        if not function.template_parameters:
            if node.template_arguments:
                raise self.unit.error(node, f"'{function.name}' is no template")
            return functions.scope
        scope = Scope(functions.scope)
        if len(node.template_arguments) > len(function.template_parameters):
            raise self.unit.error(node, f"too many template arguments for '{function.name}'")
        pairs = zip(function.template_parameters, node.template_arguments, strict=False)
        for parameter, argument in pairs:
            scope.symbols[parameter.name] = self._template_argument(parameter, argument, scope)
        for each, argument in zip(function.parameters, node.arguments, strict=False):
            name = _deducible(each.type)
            if any(name == known.name for known in function.template_parameters):
                type_ = self.scalar(argument).type
                scope.symbols.setdefault(name, Alias(_deduced(each.type, type_)))
        return scope

    def _template_argument(
        self, parameter: tree.TemplateParameter, argument: tree.TemplateArgument, scope: Scope
    ) -> Symbol:
        if parameter.type is None:
            return Alias(self.unit.type_of(argument, self.scope))
        if isinstance(argument, (tree.NamedType, tree.Pointer, tree.Reference)):
            raise self.unit.error(argument, f"'{parameter.name}' is a number, not a type")
        value = self.scalar(argument)
        target = self.unit.declared_type(parameter.type, scope, value.type)
        value = settled(self.implicit(value, target, argument))
        if value.constant is None:
            raise self.unit.error(argument, "a template argument has to be a constant expression")
        return Variable(parameter.name, value)

    def _argument(self, parameter: tree.Parameter, node: tree.Expression, scope: Scope) -> Argument:
        """What is passed for a parameter of a function whose types mean what they do in a scope."""
        type_ = parameter.type
        if isinstance(type_, tree.Reference):
            return self._by_reference(type_, node, scope)
        value = self.scalar(node)
        target = self.unit.declared_type(type_, scope, value.type)
        value = settled(self.implicit(value, target, node))
        if isinstance(target, StructType):
            value = replace(value, node=code.call("_copied", value.node))
        return Argument(value.type, "value", value.node, value.space)

    def _by_reference(self, type_: tree.Reference, node: tree.Expression, scope: Scope) -> Argument:
        referent = type_.referent
        constant = isinstance(referent, tree.NamedType) and "const" in referent.qualifiers
        if not self._is_place(node) or self._is_constant(node):
            if not constant:
                raise self.unit.error(node, "a reference that is not const needs a variable here")
            return self._constant_reference(referent, node, scope)
        place = self.place(node)
        target = self.unit.declared_type(referent, scope, place.type)
        if constant and isinstance(target, (IntType, FloatType)):
            return self._constant_reference(referent, node, scope)
        self._check_reference(target, place, node)
        match place:
            case MemoryPlace():
                pointer = PointerType(place.type, volatile=place.volatile)
                return Argument(pointer, "address", settled(place.address).node)
            case PointedPlace() | EitherPlace():
                pointer = self.address_of(place, node)
                return Argument(pointer.type, "pointer", pointer.node, pointer.space)
            case _ if isinstance(place.type, (StructType, ArrayType, ObjectType)):
                return Argument(place.type, "object", node_of(place))
            case ItemPlace():
                return Argument(place.type, "pair", code.pair(place.container, place.index))
            case LocalPlace() | MemberPlace():
                raise self.unit.error(node, "a reference to this is not supported")

    def _check_reference(self, target: CType, place: Place, node: tree.Node) -> None:
        if not is_same_type(target, place.type):
            message = f"a reference to '{target.name}' does not go with '{place.type.name}'"
            raise self.unit.error(node, message)

    def _constant_reference(
        self, referent: tree.Type, node: tree.Expression, scope: Scope
    ) -> Argument:
        value = self.scalar(node)
        target = self.unit.declared_type(referent, scope, value.type)
        value = settled(self.implicit(value, target, node))
        return Argument(value.type, "value", value.node, value.space)

    # Calls that the compiler knows.

    def _compile_time_argument(self, node: tree.Call) -> Value:
        if len(node.arguments) != 1:
            raise self.unit.error(node, "get_compile_time_arg_val takes one number")
        number = self.constant(node.arguments[0], "the number of a compile-time argument")
        known = self.unit.compile_time_args
        if not 0 <= number < len(known):
            message = f"there is no compile-time argument {number}; the kernel has {len(known)}"
            raise self.unit.error(node, message)
        return integer(known[number], UNSIGNED)

    def _bit_cast(self, node: tree.Call) -> Value:
        if len(node.arguments) != 1 or len(node.template_arguments) != 1:
            raise self.unit.error(node, "std::bit_cast<type>(value) takes one value")
        target = self.unit.type_of(node.template_arguments[0], self.scope)
        value = self.scalar(node.arguments[0])
        found = with_bits_of(value, target)
        if found is None:
            message = f"'{value.type.name}' has not the bits of a '{target.name}'"
            raise self.unit.error(node, f"{message}; std::bit_cast takes numbers of equal size")
        return found

    def _extreme(self, node: tree.Call) -> Value:
        assert isinstance(node.callee, tree.Name)
        name = bare_name(node.callee.text)
        if len(node.arguments) != 2:
            raise self.unit.error(node, f"std::{name} takes two values")
        a, b = (settled(self.scalar(each)) for each in node.arguments)
        if node.template_arguments:
            target = self.unit.type_of(node.template_arguments[0], self.scope)
            a, b = (settled(self.cast(each, target, node)) for each in (a, b))
        if a.type != b.type or not isinstance(a.type, (IntType, FloatType)):
            message = (
                f"std::{name} takes two values of one type, not '{a.type.name}' and '{b.type.name}'"
            )
            raise self.unit.error(node, message)
        choose = min if name == "min" else max
        if a.constant is not None and b.constant is not None and isinstance(a.type, IntType):
            return integer(choose(int(a.constant), int(b.constant)), a.type)
        called = code.call(f"_{name}", a.node, b.node)
        return Value(a.type, called, choose(a.low, b.low), choose(a.high, b.high))

    # Casts.

    def _cast(self, node: tree.Cast) -> Value:
        target = self.unit.declared_type(node.type, self.scope, None)
        if node.kind == "reinterpret_cast" or isinstance(target, PointerType):
            return self._reinterpreted(self.scalar(node.value), target, node)
        return self.cast(self.value(node.value), target, node)

    def cast(self, value: Value, target: CType, node: tree.Node) -> Value:
        """A value converted with a cast."""
        match target, value.type:
            case ((IntType() | FloatType()), (IntType() | FloatType())):
                return converted(value, target)
            case IntType(), PointerType():
                return self._reinterpreted(value, target, node)
            case _ if target == VOID:
                return Value(VOID, value.node)
            case _ if target == value.type:
                return value
            case _:
                message = f"'{value.type.name}' cannot be cast to '{target.name}'"
                raise self.unit.error(node, message)

    def _reinterpreted(self, value: Value, target: CType, node: tree.Node) -> Value:
        match target, value.type:
            case PointerType(), PointerType():
                return self._pointer_cast(value, target, node)
            case PointerType(), IntType():
                return Value(target, unsigned(value, 32).node)
            case IntType(), PointerType():
                if value.space is Space.LOCAL:
                    message = "the address of a local variable is not known to the simulator"
                    raise self.unit.error(node, message)
                return converted(whole(UNSIGNED, self._address(value)), target)
            case _:
                return self.cast(value, target, node)

    def _pointer_cast(self, value: Value, target: PointerType, node: tree.Node) -> Value:
        """A pointer for elements of another type; those of a variable keep their type."""
        given = value.type
        assert isinstance(given, PointerType)
        cast = replace(value, type=target)
        if value.space is Space.MEMORY or target.pointee == VOID:
            return cast
        if is_same_type(target.pointee, given.pointee):
            return cast
        if value.space is Space.ANY or given.pointee == VOID:
            tag = code.constant(tag_of(target.pointee))
            return replace(cast, node=code.call("_pointer_to", value.node, tag))
        raise self.unit.error(
            node,
            f"a local variable of type '{given.pointee.name}' cannot be read as "
            f"'{target.pointee.name}' through a pointer that is kept; only memory has bytes, and "
            "numbers of 32 bits at once: *(uint32_t*)&x, std::bit_cast<uint32_t>(x)",
        )

    def _size_of(self, node: tree.SizeOf) -> Value:
        operand = node.operand
        type_: CType | None = None
        if isinstance(operand, (tree.NamedType, tree.Pointer, tree.Reference)):
            type_ = self.unit.type_of(operand, self.scope)
        elif isinstance(operand, tree.Name):
            type_ = self.unit.named_type(tree.NamedType(operand.text), self.scope)
        if type_ is None:
            assert not isinstance(operand, (tree.NamedType, tree.Pointer, tree.Reference))
            place = self._array_place(operand)
            type_ = self.scalar(operand).type if place is None else place.type
        size = size_of(type_)
        if size is None:
            raise self.unit.error(node, f"the size of '{type_.name}' is not known")
        return integer(size, UNSIGNED)

    # Initial values.

    def _construct(self, node: tree.Construct) -> Value:
        type_ = self.unit.type_of(node.type, self.scope)
        braces = tree.Braces(node.elements, position=node.position)
        return self.initial(type_, braces, node.type)

    def initial(
        self,
        type_: CType,
        value: tree.Expression | tree.Braces,
        written: tree.Type | None = None,
    ) -> Value:
        """The value that a variable, member or element starts with."""
        if not isinstance(value, tree.Braces):
            result = self.implicit(self.scalar(value), type_, value)
            is_copy = isinstance(type_, StructType) and not isinstance(value, tree.Construct)
            return replace(result, node=code.call("_copied", result.node)) if is_copy else result
        match type_:
            case StructType():
                return self._struct(type_, value)
            case ArrayType():
                return self._array(type_, value)
            case ObjectType():
                return self._object(type_, value, written)
            case _:
                return self._single(type_, value)

    def _single(self, type_: CType, braces: tree.Braces) -> Value:
        if len(braces.elements) > 1 or any(each.member for each in braces.elements):
            raise self.unit.error(braces, f"braces for '{type_.name}' hold one value")
        if not braces.elements:
            return self.zero(type_)
        return self.initial(type_, braces.elements[0].value)

    def zero(self, type_: CType) -> Value:
        """The value of what is initialised with `{}`."""
        match type_:
            case IntType():
                return integer(0, type_)
            case FloatType():
                return floating(0.0, type_)
            case ArrayType():
                node = self._repeated(type_, lambda: self.zero(type_.element).node)
                return Value(type_, node)
            case StructType():
                return self._struct(type_, tree.Braces())
            case ObjectType():
                node = self.object_node(type_, (), None, tree.Braces())
                return Value(type_, node)
            case _:
                return Value(type_, code.constant(0))

    def unset(self, type_: CType) -> Value:
        """What a variable holds that is declared without initial value."""
        match type_:
            case ArrayType():
                return Value(type_, self._repeated(type_, lambda: self.unset(type_.element).node))
            case StructType(fields=fields):
                defaults = self._defaults(type_)
                members = [
                    self.initial(field.type, defaults[field.name])
                    if field.name in defaults
                    else self.unset(field.type)
                    for field in fields
                ]
                return Value(type_, code.listed(settled(each).node for each in members))
            case _:
                return Value(type_, code.name("_unset"))

    def _repeated(self, type_: ArrayType, element: Callable[[], ast.expr]) -> ast.expr:
        if isinstance(type_.element, (ArrayType, StructType)):
            return code.listed(element() for _ in range(type_.count))
        return code.binary("*", code.listed([element()]), code.constant(type_.count))

    def _defaults(self, type_: StructType) -> dict[str, tree.Expression | tree.Braces]:
        symbol = self.unit.find(type_.name, self.scope)
        return dict(symbol.defaults) if isinstance(symbol, StructDefinition) else {}

    def _struct(self, type_: StructType, braces: tree.Braces) -> Value:
        given = dict[str, tree.Expression | tree.Braces]()
        for number, each in enumerate(braces.elements):
            if each.member is None and number >= len(type_.fields):
                message = f"'{type_.name}' has {len(type_.fields)} members only"
                raise self.unit.error(each, message)
            name = each.member or type_.fields[number].name
            if type_.index(name) is None:
                names = [field.name for field in type_.fields]
                raise self.unit.error(each, no_member(type_.name, name, names))
            given[name] = each.value
        given = self._defaults(type_) | given
        members = [
            self.initial(field.type, given[field.name])
            if field.name in given
            else self.zero(field.type)
            for field in type_.fields
        ]
        return Value(type_, code.listed(settled(each).node for each in members))

    def _array(self, type_: ArrayType, braces: tree.Braces) -> Value:
        if len(braces.elements) > type_.count:
            raise self.unit.error(braces, f"too many elements for '{type_.name}'")
        given = [self.initial(type_.element, each.value) for each in braces.elements]
        if not given:
            return self.zero(type_)
        rest = [self.zero(type_.element) for _ in range(type_.count - len(given))]
        return Value(type_, code.listed(settled(each).node for each in (*given, *rest)))

    def _object(self, type_: ObjectType, braces: tree.Braces, written: tree.Type | None) -> Value:
        return Value(type_, self.object_node(type_, braces.elements, written, braces))

    def object_node(
        self,
        type_: ObjectType,
        elements: Sequence[tree.Initializer],
        written: tree.Type | None,
        node: tree.Node,
    ) -> ast.Call:
        """The call that makes an object of the kernel library."""
        positional = list[ast.expr]()
        keywords = dict[str, ast.expr]()
        library = self.unit.library
        if isinstance(written, tree.NamedType) and written.template_arguments:
            template = written.template_arguments
            keywords["template"] = self._template_arguments(type_.name, template)
        names = library.parameter_names(type_.name)
        for each in elements:
            if isinstance(each.value, tree.Braces):
                raise self.unit.error(each, "braces in braces are not supported here")
            if each.member is None:
                parameter = library.parameter(type_.name, len(positional))
                positional.append(self._plain(each.value, parameter))
                continue
            if each.member not in names:
                raise self.unit.error(each, no_member(type_.name, each.member, names))
            if each.member in keywords:
                raise self.unit.error(each, f"'{each.member}' is given twice")
            parameter = library.parameter(type_.name, names.index(each.member))
            keywords[each.member] = self._plain(each.value, parameter)
        misfit = self.unit.library.misfit(type_.name, len(positional), keywords)
        if misfit:
            raise self.unit.error(node, misfit)
        return code.call(self.unit.bound(type_.name), *positional, **keywords)

    # DPRINT.

    def printed(self, node: tree.Expression) -> list[ast.expr] | None:
        """The values that `DPRINT << a << b` prints; None if an expression is none."""
        parts = list[tree.Expression]()
        while isinstance(node, tree.Binary) and node.operator == "<<":
            parts.append(node.right)
            node = node.left
        if not isinstance(node, tree.Name) or node.text != _DPRINT:
            return None
        base, width = 10, 0
        shown = list[ast.expr]()
        for each in reversed(parts):
            name = (
                each.callee.text
                if isinstance(each, tree.Call) and isinstance(each.callee, tree.Name)
                else ""
            )
            if name in _BASES:
                base = _BASES[name]
            elif name == "ENDL":
                shown.append(code.constant("\n"))
            elif name == "SETW" and isinstance(each, tree.Call):
                width = self._width(each)
            else:
                shown.append(self._shown(each, base, width))
                width = 0
        return shown

    def _width(self, node: tree.Call) -> int:
        if len(node.arguments) != 1:
            raise self.unit.error(node, "SETW takes one number")
        width = self.constant(node.arguments[0], "a width")
        if not 0 <= width <= _WIDEST:
            raise self.unit.error(node, f"a width of {width}; SETW takes 0 to {_WIDEST}")
        return width

    def _shown(self, node: tree.Expression, base: int, width: int) -> ast.expr:
        value = settled(self.scalar(node))
        match value.type:
            case IntType() if value.type == CHAR:
                return code.call("_character", value.node)
            case IntType() if base != 10 or width:
                number = unsigned(value, max(value.type.bits, 8)) if base != 10 else value
                return code.call("_printed", number.node, code.constant(base), code.constant(width))
            case IntType() if value.type == BOOL:
                return (
                    converted(value, INT).node
                    if value.constant is None
                    else code.constant(int(value.constant))
                )
            case IntType() | FloatType() | StringType():
                return value.node
            case PointerType() if value.space is not Space.LOCAL:
                return self._address(value)
            case type_:
                raise self.unit.error(node, f"DPRINT does not print '{type_.name}'")

    VALUES: ClassVar[dict[type, Callable[..., Value]]] = ExpressionCompiler.VALUES | {
        tree.Call: call,
        tree.Cast: _cast,
        tree.SizeOf: _size_of,
        tree.Construct: _construct,
    }

    SPECIAL: ClassVar[dict[str, Callable[..., Value]]] = {
        "get_compile_time_arg_val": _compile_time_argument,
        "bit_cast": _bit_cast,
        "min": _extreme,
        "max": _extreme,
    }


def _loses(given: CType, number: IntType | FloatType) -> bool:
    """Whether a parameter of a type changes the values of another one.

    Signed integers of the same size pass as they are; the calls know them as such.
    """
    match given, number:
        case IntType(bits=bits), IntType(bits=most):
            return bits > most
        case (IntType(), FloatType()) | (FloatType(), IntType()):
            return True
        case FloatType(bits=bits), FloatType(bits=most):
            return bits > most
        case _:
            return False


def _takes(function: tree.Function, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    required = sum(each.default is None for each in function.parameters)
    return required <= count <= len(function.parameters)


def _arity(function: tree.Function) -> str:
    required = sum(each.default is None for each in function.parameters)
    most = len(function.parameters)
    return str(most) if required == most else f"{required} to {most}"


def _deducible(type_: tree.Type) -> str:
    """The name in a parameter's type that the argument may give a meaning."""
    match type_:
        case tree.NamedType(name=name):
            return name
        case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
            return _deducible(inner)


def _deduced(type_: tree.Type, given: CType) -> CType:
    """What the name in a parameter's type means for an argument of a type."""
    match type_, given:
        case tree.Pointer(pointee=inner), PointerType(pointee=pointee):
            return _deduced(inner, pointee)
        case tree.Reference(referent=inner), _:
            return _deduced(inner, given)
        case _:
            return given
