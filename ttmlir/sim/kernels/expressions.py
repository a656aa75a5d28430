"""Expressions: names, operators, members, assignments. Calls and casts are in `calls`."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ttmlir.cpp import tree
from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.enumerators import enumerators_like, named_constant
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemberPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    assigned,
    assignment,
    member_of,
    node_of,
    point_into,
    read,
)
from ttmlir.sim.kernels.scope import Scope, Variable
from ttmlir.sim.kernels.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    INT64,
    STRING,
    UINT8,
    UINT64,
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
)
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    arithmetic,
    as_condition,
    converted,
    floating,
    integer,
    settled,
    truth,
    unary,
    whole,
    with_bits_of,
)

if TYPE_CHECKING:
    from ttmlir.sim.kernels.unit import Unit

_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8}


class ExpressionCompiler:
    """Turns expressions of C++ into typed ones of Python; a method per kind."""

    def __init__(self, unit: Unit, scope: Scope) -> None:
        """A compiler of expressions whose names mean what they mean in a scope."""
        self.unit = unit
        self.scope = scope
        self.loads: int = 0
        self.waits: int = 0
        self.widened = set[int]()
        """Declarations of pointers that point to more than they were taken to point to."""

    # Entries.

    def value(self, node: tree.Expression) -> Value:
        """The value of an expression; what it does is part of the Python expression."""
        handler = self.VALUES[type(node)]
        value = handler(self, node)
        code.locate(value.node, node.position)
        return value

    def scalar(self, node: tree.Expression) -> Value:
        """The value of an expression that has one."""
        value = self.value(node)
        if value.type == VOID:
            raise self.unit.error(node, "this has no value")
        return value

    def number(self, node: tree.Expression, what: str) -> Value:
        """The value of an expression that has to be an integer."""
        value = settled(self.value(node))
        if not isinstance(value.type, IntType):
            raise self.unit.error(node, f"{what} is an integer, not '{value.type.name}'")
        return value

    def constant(self, node: tree.Expression, what: str) -> int:
        """The value of an expression that has to be a known integer."""
        number = self.number(node, what).constant
        if number is None:
            raise self.unit.error(node, f"{what} has to be a constant expression")
        return int(number)

    def condition(self, node: tree.Expression) -> Value:
        """The value of an expression as `bool`."""
        value = self.scalar(node)
        if isinstance(value.type, (StructType, ObjectType, ArrayType)):
            raise self.unit.error(node, f"'{value.type.name}' is no condition")
        value = truth(value)
        code.locate(value.node, node.position)
        return value

    def implicit(self, value: Value, target: CType, node: tree.Node) -> Value:
        """A value in the type of what it is assigned to, without cast."""
        source = value.type
        match target, source:
            case ((IntType() | FloatType()), (IntType() | FloatType())):
                return converted(value, target)
            case IntType(), PointerType() if target == BOOL:
                return truth(value)
            case PointerType(), IntType() if value.constant == 0 and _is_null(node):
                return Value(target, code.constant(0))
            case PointerType(), PointerType() if _may_point(target, source):
                volatile = target.volatile or source.volatile
                pointer = PointerType(target.pointee, volatile)
                return Value(pointer, value.node, space=value.space)
            case _ if source == target:
                return value
            case _:
                raise self.unit.error(node, _no_conversion(source, target))

    # Literals and names.

    def _integer(self, node: tree.Integer) -> Value:
        suffix = node.text.lower()
        decimal = not suffix.startswith("0") or suffix.strip("ul") == "0"
        wide = "ll" in suffix
        for type_ in (INT, UNSIGNED, INT64, UINT64):
            unsigned_allowed = node.is_unsigned or not decimal
            if (not type_.signed and not unsigned_allowed) or (type_.signed and node.is_unsigned):
                continue
            if node.value <= type_.high and (type_.bits == 64 or not wide):
                return integer(node.value, type_)
        raise self.unit.error(node, "this number has more than 64 bits")

    def _floating(self, node: tree.Floating) -> Value:
        return floating(node.value, FLOAT if node.text[-1] in "fF" else DOUBLE)

    def _boolean(self, node: tree.Boolean) -> Value:
        return integer(node.value, BOOL)

    def _string(self, node: tree.String) -> Value:
        characters = bytes(self._characters(node, node.text))
        return Value(STRING, code.constant(characters.decode("utf-8", errors="replace")))

    def _character(self, node: tree.Character) -> Value:
        characters = list(self._characters(node, node.text))
        if len(characters) != 1:
            raise self.unit.error(node, "a character literal is one character")
        return integer(characters[0], CHAR)

    def _characters(self, node: tree.Node, text: str) -> list[int]:
        found = list[int]()
        rest = iter(text.encode())
        for each in rest:
            if each != ord("\\"):
                found.append(each)
                continue
            letter = chr(next(rest))
            if letter not in _ESCAPES:
                raise self.unit.error(node, f"the escape '\\{letter}' is not supported")
            found.append(_ESCAPES[letter])
        return found

    def _null(self, node: tree.Null) -> Value:
        return integer(0, INT)

    def _name(self, node: tree.Name) -> Value:
        symbol = self.unit.find(node.text, self.scope)
        if isinstance(symbol, Variable):
            meaning = symbol.meaning
            return meaning if isinstance(meaning, Value) else self._read(meaning)
        if symbol is not None:
            raise self.unit.error(node, f"'{node.text}' is no variable")
        known = named_constant(node.text)
        if known is not None:
            number, type_ = known
            assert isinstance(type_, IntType)
            return integer(number, type_)
        return self._library_name(node)

    def _library_name(self, node: tree.Name) -> Value:
        bare = node.text.removeprefix("::")
        if self.unit.library.is_variable(bare):
            return whole(UINT8, code.name(self.unit.bound(bare)))
        constant = self.unit.library.constant(bare)
        if constant is not None:
            return integer(constant, UNSIGNED)
        raise self.unit.error(node, self._unknown(node.text))

    def _unknown(self, name: str) -> str:
        siblings = enumerators_like(name)
        if siblings:
            listed = ", ".join(siblings[:16])
            return f"there is no '{name}'; there are {listed}{' ...' if siblings[16:] else ''}"
        own, library = sorted(set(self.scope.visible())), sorted(set(self.unit.visible_names()))
        near = difflib.get_close_matches(name, own, 3) or difflib.get_close_matches(name, library)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return f"'{name}' is not declared{hint}"

    # Places.

    def place(self, node: tree.Expression) -> Place:
        """The place that an expression means."""
        match node:
            case tree.Name():
                return self._named_place(node)
            case tree.Index():
                return self._element(node)
            case tree.Member():
                return self._member_place(node)
            case tree.Unary(operator="*"):
                return self.pointee(self.scalar(node.operand), node)
            case _:
                raise self.unit.error(node, "this is no variable, element or member")

    def _named_place(self, node: tree.Name) -> Place:
        symbol = self.unit.find(node.text, self.scope)
        if isinstance(symbol, Variable) and not isinstance(symbol.meaning, Value):
            return symbol.meaning
        if isinstance(symbol, Variable):
            raise self.unit.error(node, f"'{node.text}' is constant")
        self.value(node)
        raise self.unit.error(node, f"'{node.text}' is no variable of the kernel")

    def _element(self, node: tree.Index) -> Place:
        if isinstance(node.base, tree.Name) and self.unit.library.is_array(node.base.text):
            holder = code.name(self.unit.bound(node.base.text))
            number = self.number(node.index, "an index")
            return ItemPlace(UINT8, holder, _checked_index(number), is_const=True)
        index = self.number(node.index, "an index")
        base = self._array_place(node.base)
        if base is None:
            return self.pointee(self.scalar(node.base), node, index)
        array = base.type
        assert isinstance(array, ArrayType)
        if index.constant is not None and not 0 <= index.constant < array.count:
            message = f"the index {index.constant} is outside of '{array.name}'"
            raise self.unit.error(node, message)
        return self._element_of(base, array, index, node)

    def _element_of(
        self, base: Place, array: ArrayType, index: Value, node: tree.Node
    ) -> ItemPlace | MemoryPlace | EitherPlace:
        match base:
            case MemoryPlace():
                start = Value(PointerType(array.element, base.volatile), base.address.node)
                return self._pointee_in_memory(self.moved(start, index, node))
            case EitherPlace():
                pointer = base.pointer
                if not code.is_stable(index.node):
                    number = self.unit.fresh("index", "t")
                    pointer = code.last_of(code.walrus(number, index.node), base.pointer)
                    index = Value(index.type, code.name(number), index.low, index.high)
                local = self._element_of(base.local, array, index, node)
                memory = self._element_of(base.memory, array, index, node)
                assert isinstance(local, ItemPlace)
                assert isinstance(memory, MemoryPlace)
                return EitherPlace(array.element, pointer, local, memory)
            case _:
                place = _checked_index(index)
                return ItemPlace(array.element, node_of(base), place, base.is_const, array.count)

    def _array_place(self, node: tree.Expression) -> Place | None:
        """The place of an expression, if it is that of an array."""
        if not isinstance(node, (tree.Name, tree.Index, tree.Member)):
            return None
        if isinstance(node, tree.Name):
            symbol = self.unit.find(node.text, self.scope)
            if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
                return None
        elif not self._is_place(node):
            return None
        place = self.place(node)
        return place if isinstance(place.type, ArrayType) else None

    def _is_place(self, node: tree.Expression) -> bool:
        while isinstance(node, (tree.Index, tree.Member)):
            node = node.base
        return isinstance(node, tree.Name) or (
            isinstance(node, tree.Unary) and node.operator == "*"
        )

    def _is_constant(self, node: tree.Expression) -> bool:
        if not isinstance(node, tree.Name):
            return False
        symbol = self.unit.find(node.text, self.scope)
        return not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value)

    def _member_place(self, node: tree.Member) -> Place:
        if node.arrow:
            base = self.pointee(self.scalar(node.base), node)
        elif self._is_place(node.base) and not self._is_constant(node.base):
            base = self.place(node.base)
        else:
            value = self.scalar(node.base)
            holder = code.listed([value.node])
            base = ItemPlace(value.type, holder, code.constant(0), is_const=True)
        match base.type:
            case StructType() as struct:
                return self._struct_member(node, base, struct)
            case ObjectType() as type_ if not isinstance(base, (MemoryPlace, EitherPlace)):
                members = self.unit.library.members(type_.name)
                if node.member not in members:
                    raise self.unit.error(node, no_member(type_.name, node.member, members))
                return MemberPlace(members[node.member], node_of(base), node.member)
            case type_:
                raise self.unit.error(node, f"'{type_.name}' has no members")

    def _struct_member(self, node: tree.Member, base: Place, struct: StructType) -> Place:
        number = struct.index(node.member)
        if number is None:
            names = [field.name for field in struct.fields]
            raise self.unit.error(node, no_member(struct.name, node.member, names))
        return member_of(base, number)

    def pointee(self, pointer: Value, node: tree.Node, offset: Value | None = None) -> Place:
        """The place that a pointer points to, or that lies so many elements behind it."""
        type_ = pointer.type
        if not isinstance(type_, PointerType):
            raise self.unit.error(node, f"'{type_.name}' is no pointer")
        if size_of(type_.pointee) is None and not isinstance(type_.pointee, ObjectType):
            message = f"'{type_.name}' points to nothing that can be read; cast it first"
            raise self.unit.error(node, message)
        if pointer.space is Space.LOCAL:
            place = code.constant(0) if offset is None else settled(offset).node
            return PointedPlace(type_.pointee, pointer.node, place)
        if offset is not None and offset.constant != 0:
            pointer = self.moved(pointer, offset, node)
        if pointer.space is Space.MEMORY:
            return self._pointee_in_memory(pointer)
        first = again = pointer.node
        if not isinstance(first, ast.Name):
            temporary = self.unit.fresh("pointer", "t")
            first, again = code.walrus(temporary, first), code.name(temporary)
        local = PointedPlace(type_.pointee, again, code.constant(0))
        memory = MemoryPlace(type_.pointee, whole(UNSIGNED, again), type_.volatile)
        return EitherPlace(type_.pointee, first, local, memory)

    def _pointee_in_memory(self, pointer: Value) -> MemoryPlace:
        assert isinstance(pointer.type, PointerType)
        address = whole(UNSIGNED, pointer.node)
        return MemoryPlace(pointer.type.pointee, address, pointer.type.volatile)

    def moved(self, pointer: Value, count: Value, node: tree.Node) -> Value:
        """A pointer to a later element."""
        type_ = pointer.type
        if not isinstance(type_, PointerType):
            raise self.unit.error(node, f"'{type_.name}' has no elements")
        size = size_of(type_.pointee)
        if size is None:
            raise self.unit.error(node, f"arithmetic on '{type_.name}' needs a cast first")
        steps = settled(count).node
        if pointer.space is Space.LOCAL:
            return replace(pointer, node=code.call("_advance", pointer.node, steps))
        if pointer.space is Space.ANY:
            called = code.call("_advance_any", pointer.node, steps, code.constant(size))
            return replace(pointer, node=called)
        scaled = arithmetic(
            "*", converted(count, INT if count.low < 0 else UNSIGNED), integer(size, INT)
        )
        assert scaled is not None
        address = arithmetic("+", whole(UNSIGNED, pointer.node), scaled)
        assert address is not None
        return Value(type_, settled(address).node)

    def _read(self, place: Place) -> Value:
        if isinstance(place, (MemoryPlace, EitherPlace)):
            self.loads += 1
        if isinstance(place, MemoryPlace) and isinstance(place.type, StructType):
            return self._read_struct(place)
        return read(place)

    def _read_struct(self, place: MemoryPlace) -> Value:
        """A struct in memory, whose address is calculated once."""
        setup = list[ast.expr]()
        value = read(self.stable(place, setup))
        return replace(value, node=code.last_of(*setup, value.node))

    def _read_place(self, node: tree.Index | tree.Member) -> Value:
        constant = self._constant_element(node)
        return constant if constant is not None else self._read(self.place(node))

    def _constant_element(self, node: tree.Expression) -> Value | None:
        """An element of a table of constants, at a known index."""
        match node:
            case tree.Index(base=tree.Name(text=name), index=index):
                symbol = self.unit.find(name, self.scope)
                elements = symbol.elements if isinstance(symbol, Variable) else None
                if elements is None:
                    return None
                number = self.number(index, "an index").constant
                if number is None or not 0 <= number < len(elements):
                    return None
                return elements[int(number)]
            case _:
                return None

    # Operators.

    def _unary(self, node: tree.Unary) -> Value:
        match node.operator:
            case "*":
                return self._punned(node.operand) or self._read(self.place(node))
            case "&":
                return self.address_of(self.place(node.operand), node)
            case operator:
                value = self.scalar(node.operand)
                result = unary(operator, value)
                if result is None:
                    message = f"'{operator}' does not go with '{value.type.name}'"
                    raise self.unit.error(node, message)
                return result

    def _punned(self, node: tree.Expression) -> Value | None:
        """A local number read through a pointer to another type: `*(uint32_t*)&x`."""
        match node:
            case tree.Cast(
                type=tree.Pointer(pointee=pointee), value=tree.Unary(operator="&", operand=operand)
            ):
                place = self.place(operand)
                target = self.unit.declared_type(pointee, self.scope, None)
                if isinstance(place, (MemoryPlace, EitherPlace)) or place.type == target:
                    return None
                return with_bits_of(self._read(place), target)
            case _:
                return None

    def address_of(self, place: Place, node: tree.Node) -> Value:
        """A pointer to a place."""
        match place:
            case MemoryPlace():
                pointer = PointerType(place.type, place.volatile)
                return Value(pointer, settled(place.address).node)
            case EitherPlace():
                local, memory = (self.address_of(x, node) for x in (place.local, place.memory))
                test = code.call("_is_local", place.pointer)
                chosen = code.choice(test, local.node, memory.node)
                return Value(memory.type, chosen, space=Space.ANY)
            case PointedPlace():
                pointer = Value(PointerType(place.type), place.pointer, space=Space.LOCAL)
                if isinstance(place.offset, ast.Constant) and place.offset.value == 0:
                    return pointer
                return self.moved(pointer, whole(INT, place.offset), node)
            case ItemPlace():
                return point_into(place.container, place.index, place.count, place.type)
            case LocalPlace() if isinstance(place.type, (StructType, ArrayType)):
                holder = code.listed([code.name(place.identifier)])
                return point_into(holder, code.constant(0), None, place.type)
            case _:
                raise self.unit.error(node, "the address of this is not supported")

    def _binary(self, node: tree.Binary) -> Value:
        match node.operator:
            case ",":
                return self._comma(node)
            case "&&" | "||":
                return self._logical(node)
            case _:
                left, right = self.scalar(node.left), self.scalar(node.right)
                return self.operate(node.operator, left, right, node)

    def operate(self, operator: str, left: Value, right: Value, node: tree.Node) -> Value:
        """A binary operator, on pointers too."""
        if isinstance(left.type, PointerType) or isinstance(right.type, PointerType):
            result = self._pointer_operation(operator, left, right, node)
        else:
            self._refuse_undefined(operator, left, right, node)
            result = arithmetic(operator, left, right)
        if result is None:
            message = f"'{operator}' does not go with '{left.type.name}' and '{right.type.name}'"
            raise self.unit.error(node, message)
        return result

    def _refuse_undefined(self, operator: str, left: Value, right: Value, node: tree.Node) -> None:
        ints = isinstance(left.type, IntType) and isinstance(right.type, IntType)
        if operator in ("/", "%") and ints and right.constant == 0:
            raise self.unit.error(node, "division by zero")

    def _pointer_operation(
        self, operator: str, left: Value, right: Value, node: tree.Node
    ) -> Value | None:
        a, b = left.type, right.type
        if isinstance(a, PointerType) and isinstance(b, PointerType):
            return self._between_pointers(operator, left, right)
        if operator in code.COMPARE:
            return self._compare_with_null(operator, left, right)
        if operator == "+" and isinstance(b, PointerType):
            left, right = right, left
        if not isinstance(right.type, IntType) or operator not in ("+", "-"):
            return None
        if operator == "-" and isinstance(b, PointerType):
            return None
        count = settled(right)
        if operator == "-":
            negative = unary("-", converted(count, INT))
            assert negative is not None
            count = settled(negative)
        return self.moved(left, count, node)

    def _between_pointers(self, operator: str, left: Value, right: Value) -> Value | None:
        type_ = left.type
        assert isinstance(type_, PointerType)
        size = size_of(type_.pointee)
        in_memory = left.space is right.space is Space.MEMORY
        if operator in ("==", "!=") and not in_memory:
            same = code.call("_is_same", left.node, right.node)
            return Value(BOOL, same if operator == "==" else code.negation(same), 0, 1)
        if operator in code.COMPARE and in_memory:
            return Value(BOOL, code.compare(operator, left.node, right.node), 0, 1)
        if size is None or (operator != "-" and operator not in code.COMPARE):
            return None
        if in_memory:
            bytes_ = code.binary("-", left.node, right.node)
            return whole(INT, code.call("_quotient", bytes_, code.constant(size)))
        distance = code.call("_distance", left.node, right.node, code.constant(size))
        if operator == "-":
            return whole(INT, distance)
        return Value(BOOL, code.compare(operator, distance, code.constant(0)), 0, 1)

    def _compare_with_null(self, operator: str, left: Value, right: Value) -> Value | None:
        number, pointer = (left, right) if isinstance(left.type, IntType) else (right, left)
        if number.constant != 0 or operator not in ("==", "!="):
            return None
        if pointer.space is Space.LOCAL and isinstance(pointer.node, ast.Name):
            return integer(int(operator == "!="), BOOL)
        return Value(BOOL, code.compare(operator, pointer.node, code.constant(0)), 0, 1)

    def _logical(self, node: tree.Binary) -> Value:
        left, right = self.condition(node.left), self.condition(node.right)
        decisive = node.operator == "||"
        if left.constant is not None:
            return left if bool(left.constant) == decisive else right
        if right.constant is not None and bool(right.constant) != decisive:
            return left
        operator = ast.Or() if decisive else ast.And()
        if isinstance(left.node, ast.BoolOp) and isinstance(left.node.op, type(operator)):
            return Value(BOOL, ast.BoolOp(operator, [*left.node.values, right.node]), 0, 1)
        return Value(BOOL, ast.BoolOp(operator, [left.node, right.node]), 0, 1)

    def _comma(self, node: tree.Binary) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if not self.unit.has_effect(left.node):
            return right
        right = settled(right)
        joined = code.last_of(left.node, right.node)
        return Value(right.type, joined, right.low, right.high)

    def _conditional(self, node: tree.Conditional) -> Value:
        condition = self.condition(node.condition)
        a, b = self.value(node.true_value), self.value(node.false_value)
        a, b = self._same_type(a, b, node)
        if condition.constant is not None:
            return a if condition.constant else b
        choice = code.choice(as_condition(condition), a.node, b.node)
        space = a.space.joined(b.space)
        return Value(a.type, choice, min(a.low, b.low), max(a.high, b.high), space)

    def _same_type(self, a: Value, b: Value, node: tree.Conditional) -> tuple[Value, Value]:
        numbers = (IntType, FloatType)
        if a.type == b.type:
            return settled(a), settled(b)
        if isinstance(a.type, numbers) and isinstance(b.type, numbers):
            total = arithmetic("+", a, b)
            assert total is not None
            target = total.type
            assert isinstance(target, numbers)
            return settled(converted(a, target)), settled(converted(b, target))
        if isinstance(a.type, PointerType):
            return a, self.implicit(b, a.type, node.false_value)
        return self.implicit(a, b.type, node.true_value), b

    # Assignments.

    def _assign(self, node: tree.Assign) -> Value:
        setup, place, value = self.new_value(node)
        result = code.last_of(*setup, assigned(place, value))
        if isinstance(place, EitherPlace):
            return replace(value, node=code.last_of(result, value.node))
        if setup or not isinstance(place, MemoryPlace):
            return replace(settled(value), node=result)
        return self._stored(place, result)

    def _stored(self, place: MemoryPlace, node: ast.expr) -> Value:
        """The value of a store, of which the expression gives the bits."""
        if not isinstance(place.type, IntType):
            return Value(place.type, node)
        bits = max(place.type.bits, 8)
        return Value(place.type, node, 0, (1 << bits) - 1)

    def new_value(self, node: tree.Assign) -> tuple[list[ast.expr], Place, Value]:
        """What to do first, where to assign and what."""
        operator = node.operator.removesuffix("=")
        place = self.changeable(node.target)
        value = self.scalar(node.value)
        setup = list[ast.expr]()
        if not operator:
            value = self.fitting(self.implicit(value, place.type, node.value), place, node)
            if isinstance(place, EitherPlace) and not code.is_stable(value.node):
                value = self._kept(settled(value), setup, always=True)
            return setup, place, value
        value = self._kept(value, setup)
        place = self.stable(place, setup)
        result = self.operate(operator, self._read(place), value, node)
        result = self.fitting(self.implicit(result, place.type, node), place, node)
        if isinstance(place, EitherPlace):
            result = self._kept(settled(result), setup, always=True)
        return setup, place, result

    def fitting(self, value: Value, place: Place, node: tree.Node) -> Value:
        """A value of the place's type, if the place can hold where it points to."""
        if not isinstance(value.type, PointerType):
            return value
        match place:
            case LocalPlace(space=space) if space.joined(value.space) is not space:
                self.widen(place.origin)
            case MemoryPlace() | EitherPlace() if value.space is Space.LOCAL:
                message = "the address of a local variable is not known to the simulator"
                raise self.unit.error(node, f"{message}; it cannot be kept in memory")
            case _:
                pass
        return value

    def widen(self, origin: tree.Node | None) -> None:
        """Note that a pointer turns out to point to variables as well as into memory."""
        self.widened.add(id(origin))

    def _kept(self, value: Value, setup: list[ast.expr], *, always: bool = False) -> Value:
        """A value in a variable of its own, if its expression does anything."""
        if not always and not self.unit.has_effect(value.node):
            return value
        value = settled(value)
        temporary = self.unit.fresh("value", "t")
        setup.append(code.walrus(temporary, value.node))
        return replace(value, node=code.name(temporary))

    def changeable(self, node: tree.Expression) -> Place:
        """The place of an expression that may be assigned to."""
        place = self.place(node)
        if place.is_const:
            raise self.unit.error(node, "this is constant and cannot be changed")
        if isinstance(place.type, ArrayType):
            raise self.unit.error(node, "an array cannot be assigned to; assign its elements")
        in_memory = isinstance(place, (MemoryPlace, EitherPlace))
        if in_memory and isinstance(place.type, StructType):
            raise self.unit.error(node, "a struct in memory: assign its members one by one")
        return place

    def stable(self, place: Place, setup: list[ast.expr]) -> Place:
        """The same place with expressions that can be written twice."""

        def kept(node: ast.expr, name: str) -> ast.expr:
            if code.is_stable(node):
                return node
            temporary = self.unit.fresh(name, "t")
            setup.append(code.walrus(temporary, node))
            return code.name(temporary)

        match place:
            case ItemPlace():
                container = kept(place.container, "container")
                return replace(place, container=container, index=kept(place.index, "index"))
            case PointedPlace():
                pointer = kept(place.pointer, "pointer")
                return replace(place, pointer=pointer, offset=kept(place.offset, "index"))
            case MemoryPlace():
                address = settled(place.address)
                return replace(place, address=whole(UNSIGNED, kept(address.node, "address")))
            case EitherPlace():
                return replace(place, pointer=kept(place.pointer, "pointer"))
            case _:
                return place

    def _update(self, node: tree.Update) -> Value:
        setup, place, old, new = self.updated(node)
        put = assigned(place, new)
        if not node.postfix:
            result = code.last_of(*setup, put)
            if isinstance(place, MemoryPlace):
                return self._stored(place, result)
            return replace(settled(new), node=result)
        both = code.subscript(code.pair(old.node, put), code.constant(0))
        return replace(old, node=code.last_of(*setup, both))

    def updated(self, node: tree.Update) -> tuple[list[ast.expr], Place, Value, Value]:
        """What to do first, the place, its old value and its new value."""
        setup = list[ast.expr]()
        place = self.stable(self.changeable(node.operand), setup)
        old = self._read(place)
        if old.type == BOOL:
            raise self.unit.error(node, f"'{node.operator}' does not go with 'bool'")
        if isinstance(place, EitherPlace):
            old = self._kept(old, setup, always=True)
        new = self.implicit(
            self.operate(node.operator[0], old, integer(1, INT), node), place.type, node
        )
        return setup, place, old, new

    def assign_statement(self, place: Place, value: Value) -> ast.stmt:
        """The statement that assigns a value of the place's type."""
        return assignment(place, value)

    VALUES: ClassVar[dict[type, Callable[..., Value]]] = {
        tree.Integer: _integer,
        tree.Floating: _floating,
        tree.Boolean: _boolean,
        tree.String: _string,
        tree.Character: _character,
        tree.Null: _null,
        tree.Name: _name,
        tree.Unary: _unary,
        tree.Update: _update,
        tree.Binary: _binary,
        tree.Conditional: _conditional,
        tree.Assign: _assign,
        tree.Index: _read_place,
        tree.Member: _read_place,
    }


def _checked_index(index: Value) -> ast.expr:
    """An index of a list, which must not count from its end."""
    return index.node if index.low >= 0 else code.call("_index", index.node)


def no_member(type_: str, member: str, members: Iterable[str]) -> str:
    """The message about a member that a type does not have."""
    known = list(members)
    near = difflib.get_close_matches(member, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    there = f"its members are {', '.join(known)}" if known else "it has no members to read"
    return f"'{type_}' has no member '{member}'; {there}{hint}"


def _is_null(node: tree.Node) -> bool:
    return isinstance(node, (tree.Null, tree.Integer))


def _may_point(target: PointerType, source: PointerType) -> bool:
    """Whether a pointer converts to another pointer type without cast."""
    to, given = target.pointee, source.pointee
    return to == VOID or is_same_type(to, given)


def _no_conversion(source: CType, target: CType) -> str:
    if isinstance(target, PointerType) and isinstance(source, IntType):
        return (
            f"an integer is no '{target.name}'; write reinterpret_cast<{target.name}>(...), "
            "with volatile tt_l1_ptr for memory that others write"
        )
    if isinstance(target, IntType) and isinstance(source, PointerType):
        return f"a pointer is no '{target.name}'; write reinterpret_cast<uint32_t>(...)"
    if isinstance(source, StringType):
        return f"a string is no '{target.name}'"
    return f"'{source.name}' does not convert to '{target.name}'"
