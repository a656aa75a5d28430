"""Expressions of a kernel in Python."""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import NoReturn, SupportsIndex, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.dialects.ttkernel import RESULT_TYPES
from ttmlir.frontend.pykernel.builder import KernelBuilder
from ttmlir.frontend.pykernel.device_calls import Arguments, DeviceCalls, functions
from ttmlir.frontend.pykernel.values import (
    Array,
    Binding,
    Cell,
    Items,
    Scalar,
    Scope,
    Static,
    Unset,
    Value,
    describe,
    number,
)
from ttmlir.mlir.reporting.spelling import near_names
from ttmlir.optable.kernel import Form, ValueKind
from ttmlir.optable.kernel.enums import ENUMS, CppEnum

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_UNARY: Mapping[type[ast.unaryop], str] = {
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not",
}
_L1_POINTER = RESULT_TYPES[ValueKind.L1_PTR]
_EXPRESSIONS = (
    "kernels have integers, truth values, floats, arrays, arithmetic, comparisons, conditional "
    "expressions, calls of the kernel library and of functions of the module"
)
_REFUSED: Mapping[type[ast.expr], str] = {
    ast.Lambda: "a core has no functions as values; write a 'def' in the module",
    ast.ListComp: "a core has no comprehensions; fill an array in a loop: a = [0] * 4",
    ast.SetComp: "a core has no sets",
    ast.DictComp: "a core has no dictionaries",
    ast.GeneratorExp: "a core has no generators; use a loop",
    ast.Dict: "a core has no dictionaries; use an array or 'if'",
    ast.Set: "a core has no sets; use a tuple of constants",
    ast.Await: "kernels wait with calls such as cb_wait_front and noc_async_read_barrier",
    ast.Yield: "a kernel hands pages over with cb_push_back, not values with 'yield'",
    ast.NamedExpr: "':=' is not there in kernels; assign in a line of its own",
    ast.JoinedStr: "texts are there for print(...) only",
    ast.Starred: "'*' does not spread arguments in kernels; write them out",
    ast.Slice: "tuples and arrays of kernels have no slices; use a loop",
}
PRINT_TEXTS = '; texts are there to be printed: print(f"{x}", y)'
BUILTINS = ("abs", "bool", "float", "int", "len", "max", "min", "print", "range")
"""What kernels can use of Python's own functions."""


class Expressions(ABC):
    """Compiles expressions, in the scope `variables`."""

    def __init__(self, builder: KernelBuilder, calls: DeviceCalls, entry: Block) -> None:
        """Begin with no variables."""
        self.builder = builder
        self.calls = calls
        self.entry = entry
        self.variables: Scope = {}

    @abstractmethod
    def inline(self, function: FunctionType, arguments: Arguments) -> Value:
        """The body of a function of the module in the place of its call."""

    @abstractmethod
    def print_call(self, node: ast.Call) -> None:
        """What `print` prints."""

    # Values.

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.builder.at(node)
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name):
                return self.read(name, node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=operator, operand=operand):
                value = self.scalar(operand)
                self.builder.at(node)
                return self.builder.unary(_UNARY[type(operator)], value)
            case ast.BoolOp():
                return self._logical(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._conditional(node, test, body, orelse)
            case ast.Call():
                return self._call(node)
            case _:
                return self._other(node)

    def _other(self, node: ast.expr) -> Value:
        match node:
            case ast.Subscript(value=base, slice=index):
                return self._element(node, base, index)
            case ast.Attribute(value=base, attr=name):
                return self._attribute(node, base, name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = tuple(self.value(each) for each in elements)
                return Items(values, isinstance(node, ast.List))
            case _:
                reason = _REFUSED.get(type(node), _EXPRESSIONS)
                self.builder.refuse(f"{_spell(node)} has no form in a kernel: {reason}", node)

    def scalar(self, node: ast.expr) -> Scalar:
        """The value of an expression that has to be one of the device."""
        value = self.value(node)
        if not isinstance(value, Scalar):
            what = "is a call without result" if _is_none(value) else f"is {describe(value)}"
            self.builder.refuse(f"this {what}, where a number is needed", node)
        return value

    def integer(self, node: ast.expr) -> Scalar:
        """The value of an expression that has to be an integer."""
        value = self.scalar(node)
        self.builder.at(node)
        return self.builder.integer(value)

    def condition(self, node: ast.expr) -> Scalar:
        """Whether an expression is true."""
        match node:
            case ast.BoolOp(op=operator, values=values):
                return self._chain(isinstance(operator, ast.And), values, self.condition, node)
            case _:
                value = self.scalar(node)
                self.builder.at(node)
                return self.builder.truth(value)

    def _constant(self, node: ast.Constant) -> Value:
        match node.value:
            case bool() | int() | float():
                return number(node.value)
            case str() | None:
                return Static(node.value)
            case _:
                self.builder.refuse(f"{_spell(node)} has no form in a kernel: {_EXPRESSIONS}")

    # Names.

    def read(self, name: str, node: ast.expr) -> Value:
        """What a name stands for."""
        binding = self.lookup(name)
        match binding:
            case None if name in functions():
                self.builder.refuse(f"'{name}' is a call; write {name}(...)", node)
            case None:
                self.builder.refuse(f"'{name}' is not defined here{self._nearest(name)}", node)
            case Unset(reason=reason):
                self.builder.refuse(reason, node)
            case Cell(ssa=ssa, type=type_):
                zero = self.builder.index(number(0))
                return Scalar(type_, self.builder.add(memref.LoadOp.get(ssa, [zero])).results[0])
            case _:
                return binding

    def lookup(self, name: str) -> Binding | None:
        """The variable, name of the module or name of the library."""
        if name in self.variables:
            return self.variables[name]
        found, value = self.builder.source.outside(name)
        if found:
            return host_value(value)
        if name in BUILTINS:
            return Static({"int": int, "bool": bool, "float": float}.get(name, name))
        return self.calls.name(name)

    def _nearest(self, name: str) -> str:
        module = [each for each in self.builder.source.module if each[:1] != "_"]
        known = {*self.variables, *functions(), *BUILTINS, *module}
        near = [f"{enum}.{name}" for enum, each in ENUMS.items() if name in each.members]
        near += (each for each in near_names(name, known) if not each.startswith("$"))
        return f"; did you mean {' or '.join(repr(each) for each in near)}?" if near else ""

    # Operators.

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        operator = _BINARY.get(type(node.op))
        if operator == "*" and isinstance(left, Items) and left.is_list:
            return self._repeat(left, right, node)
        self.builder.at(node)
        if operator is None:
            self.builder.refuse("'@' has no form in a kernel; matmul_tiles multiplies tiles", node)
        for each, part in ((left, node.left), (right, node.right)):
            if not isinstance(each, Scalar):
                what = "a call without result" if _is_none(each) else describe(each)
                also = PRINT_TEXTS if what == describe(Static("")) else ""
                self.builder.refuse(f"'{operator}' takes numbers, not {what}{also}", part)
        assert isinstance(left, Scalar)
        assert isinstance(right, Scalar)
        return self.builder.binary(operator, left, right)

    def _repeat(self, items: Items, count: Value, node: ast.BinOp) -> Value:
        """`[0] * 8`."""
        times = count.known if isinstance(count, Scalar) else None
        if not isinstance(times, int) or times < 1 or times * len(items.elements) > MOST_ELEMENTS:
            self.builder.refuse(
                "how often a list is repeated has to be known when the kernel is compiled, from 1 "
                f"to {MOST_ELEMENTS} elements",
                node.right,
            )
        return Items(items.elements * times, is_list=True)

    def _comparison(self, node: ast.Compare) -> Value:
        """One comparison, or several in a chain, each operand computed once."""
        left = self.value(node.left)
        pairs = list(zip(node.ops, node.comparators, strict=True))

        def compare_from(index: int, left: Value) -> Scalar:
            operator, comparator = pairs[index]
            right = self.value(comparator)
            result = self._compare(operator, left, right, comparator, node)
            if index == len(pairs) - 1:
                return result
            return self._both(
                result,
                lambda: compare_from(index + 1, right),
                pairs[index + 1][1],
                conjunction=True,
            )

        return compare_from(0, left)

    def _compare(
        self, operator: ast.cmpop, left: Value, right: Value, second: ast.expr, node: ast.Compare
    ) -> Scalar:
        self.builder.at(node)
        if isinstance(operator, ast.In | ast.NotIn):
            return self._contained(left, right, second, negated=isinstance(operator, ast.NotIn))
        symbol = _COMPARE.get(type(operator))
        if symbol is None:
            self.builder.refuse("'is' has no meaning for numbers on a core; use '=='", node)
        for each in (left, right):
            if not isinstance(each, Scalar):
                self.builder.refuse(f"'{symbol}' compares numbers, not {describe(each)}", node)
        assert isinstance(left, Scalar)
        assert isinstance(right, Scalar)
        return self.builder.compare(symbol, left, right)

    def _contained(self, left: Value, right: Value, node: ast.expr, *, negated: bool) -> Scalar:
        if not isinstance(right, Items) or not isinstance(left, Scalar):
            self.builder.refuse("'in' takes a number and a tuple of constants", node)
        found = number(False)
        for each in right.elements:
            if not isinstance(each, Scalar):
                self.builder.refuse(f"'in' compares numbers, not {describe(each)}", node)
            equal = self.builder.compare("==", left, each)
            found = equal if found.is_literal and not found.known else self._either(found, equal)
        return self.builder.unary("not", found) if negated else found

    def _either(self, first: Scalar, second: Scalar) -> Scalar:
        return self.builder.binary("|", first, second)

    # What is computed only if it is needed.

    def _logical(self, node: ast.BoolOp) -> Value:
        """`and` and `or` give one of their operands, as in Python."""
        conjunction = isinstance(node.op, ast.And)
        first = self.scalar(node.values[0])

        def choose(first: Scalar, rest: Sequence[ast.expr]) -> Scalar:
            if not rest:
                return first
            if first.is_literal:
                decided = bool(first.known) != conjunction
                return first if decided else choose(self.scalar(rest[0]), rest[1:])
            whole = ast.BoolOp(node.op, list(rest)) if len(rest) > 1 else rest[0]
            if first.type == i1 and not may_act(whole, self._pure):
                second = choose(self.scalar(rest[0]), rest[1:])
                if second.type == i1:
                    self.builder.at(node)
                    return self.builder.binary("&" if conjunction else "|", first, second)
                return self._pick(conjunction, first, lambda: second, node)
            return self._pick(
                conjunction, first, lambda: choose(self.scalar(rest[0]), rest[1:]), node
            )

        return choose(first, node.values[1:])

    def _pick(
        self, conjunction: bool, first: Scalar, second: Callable[[], Scalar], node: ast.expr
    ) -> Scalar:
        """`first and second` or `first or second`, where one is no truth value."""
        self.builder.at(node)
        truth = self.builder.truth(first)

        def other() -> Scalar:
            return first

        return (
            self.choose(truth, second, other, node)
            if conjunction
            else self.choose(truth, other, second, node)
        )

    def _chain(
        self,
        conjunction: bool,
        nodes: Sequence[ast.expr],
        evaluate: Callable[[ast.expr], Scalar],
        node: ast.expr,
    ) -> Scalar:
        """Truth values that are computed one after the other until the outcome is known."""
        first, *rest = nodes
        value = evaluate(first)
        if not rest:
            return value
        if value.is_literal:
            decided = bool(value.known) != conjunction
            return value if decided else self._chain(conjunction, rest, evaluate, node)
        whole = ast.BoolOp(ast.And(), rest) if len(rest) > 1 else rest[0]
        return self._both(
            value,
            lambda: self._chain(conjunction, rest, evaluate, node),
            whole,
            conjunction=conjunction,
        )

    def _both(
        self,
        first: Scalar,
        second: Callable[[], Scalar],
        node: ast.expr,
        *,
        conjunction: bool,
    ) -> Scalar:
        """`first and second` or `first or second` of truth values; `node` is the second."""
        if first.is_literal:
            return second() if bool(first.known) == conjunction else first
        if not may_act(node, self._pure):
            other = second()
            return self.builder.binary("&" if conjunction else "|", first, other)

        def known() -> Scalar:
            return number(not conjunction)

        arms = (second, known) if conjunction else (known, second)
        return self.choose(first, *arms, node)

    def _conditional(
        self, node: ast.IfExp, test: ast.expr, body: ast.expr, orelse: ast.expr
    ) -> Value:
        condition = self.condition(test)
        if condition.is_literal:
            return self.value(body if condition.known else orelse)
        return self.choose(condition, lambda: self.scalar(body), lambda: self.scalar(orelse), node)

    def choose(
        self,
        condition: Scalar,
        then: Callable[[], Scalar],
        otherwise: Callable[[], Scalar],
        node: ast.expr,
    ) -> Scalar:
        """The value of one of two expressions; only that one is computed."""
        location = self.builder.location
        blocks = Block(), Block()
        values = list[Scalar]()
        for block, compute in zip(blocks, (then, otherwise), strict=True):
            with self.builder.into(block):
                values.append(compute())
        common = self._common(values[0], values[1], node)
        plain = all(each.first_op is None for each in blocks)
        self.builder.location = location
        truth = self.builder.ssa(condition)
        if plain:
            first, second = (self.builder.convert(each, common) for each in values)
            natural = first.natural and second.natural
            return self.builder.select(
                Scalar(i1, truth), self.builder.settle(first), self.builder.settle(second), natural
            )
        for block, value in zip(blocks, values, strict=True):
            with self.builder.into(block):
                converted = self.builder.ssa(self.builder.convert(value, common))
                self.builder.add(scf.YieldOp(converted))
        op = scf.IfOp(truth, [common], Region(blocks[0]), Region(blocks[1]))
        natural = all(each.natural for each in values)
        return Scalar(common, self.builder.add(op).results[0], natural=natural)

    def _common(self, first: Scalar, second: Scalar, node: ast.expr) -> Attribute:
        """The type of what is one or the other."""
        common = common_type(first, second)
        if common is None:
            self.builder.refuse(
                f"this is {describe(first)} or {describe(second)}; both have to be of one kind",
                node,
            )
        return common

    def _pure(self, name: str) -> bool:
        """Whether a call by this name only computes."""
        return name in ("abs", "bool", "float", "int", "len", "max", "min") and (
            name not in self.variables
        )

    # Elements and attributes.

    def _element(self, node: ast.Subscript, base: ast.expr, index: ast.expr) -> Value:
        if isinstance(base, ast.Name) and base.id not in self.variables:
            rows = functions().get(base.id, ())
            if rows and rows[0].form is Form.ELEMENT:
                return self.calls.call(base.id, Arguments((self.value(index),), node=node))
        holder = self.value(base)
        self.builder.at(node)
        match holder:
            case Items():
                return self._of_items(holder, index, node)
            case Array():
                return self.load(holder, index, node)
            case Scalar(type=type_) if type_ == _L1_POINTER:
                offset = self.integer(index)
                self.builder.at(node)
                return self.calls.row("load_from_l1", holder, offset)
            case _:
                self.builder.refuse(f"{describe(holder)} has no elements", node)

    def _of_items(self, items: Items, index: ast.expr, node: ast.Subscript) -> Value:
        """An element of a tuple, which is a table of the kernel where the index is not known."""
        position = self.integer(index)
        count = len(items.elements)
        if position.known is not None:
            return items.elements[self._check_index(int(position.known), count, index)]
        self.builder.at(node)
        table = self.table(items)
        place = self.builder.index(position)
        return self.read_element(table, (place,))

    def table(self, items: Items) -> Array:
        """A tuple as an array, filled at the start of the kernel."""
        return self.make_array(items)

    def make_array(self, items: Items) -> Array:
        """An array with these elements, of one or two dimensions."""
        rows = [each.elements if isinstance(each, Items) else None for each in items.elements]
        nested = [each for each in rows if each is not None]
        if not items.elements:
            self.builder.refuse("an array has at least one element")
        if nested and (len(nested) != len(rows) or len({len(each) for each in nested}) != 1):
            self.builder.refuse("the rows of an array have to be lists of one length")
        shape = (len(rows), len(nested[0])) if nested else (len(rows),)
        flat = [each for row in nested for each in row] if nested else list(items.elements)
        scalars = list[Scalar]()
        for each in flat:
            if not isinstance(each, Scalar) or not each.is_number:
                self.builder.refuse(f"arrays hold numbers, not {describe(each)}")
            scalars.append(each)
        types = {each.type for each in scalars}
        type_ = types.pop() if len(types) == 1 else (f32 if f32 in types else i32)
        array = self.allocate(shape, type_)
        for position, each in enumerate(scalars):
            indices = divmod(position, len(nested[0])) if nested else (position,)
            self.store_element(array, [self.builder.index(number(i)) for i in indices], each)
        return array

    def allocate(self, shape: tuple[int, ...], type_: Attribute) -> Array:
        """An array without values."""
        if any(extent < 1 for extent in shape) or _volume(shape) > MOST_ELEMENTS:
            self.builder.refuse(
                f"an array has 1 to {MOST_ELEMENTS} elements; larger tables belong into a circular "
                "buffer"
            )
        op = memref.AllocaOp.get(type_, shape=shape)
        return Array(self.builder.add(op).results[0], type_, shape)

    def indices(self, array: Array, index: ast.expr, node: ast.expr) -> Array:
        """What an index leaves of an array: `a[i, j]`, or `a[i]` and then `[j]`."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        free = len(array.shape) - len(array.within)
        if len(parts) > free:
            self.builder.refuse(f"this array has {free} dimension{'s' * (free != 1)}", node)
        places = list(array.within)
        for part in parts:
            extent = array.shape[len(places)]
            if isinstance(part, ast.Slice):
                self.builder.refuse("arrays of kernels have no slices; use a loop", node)
            position = self.integer(part)
            if position.known is not None:
                known = self._check_index(int(position.known), extent, part)
                position = number(known)
            self.builder.at(node)
            places.append(self.builder.index(position))
        return Array(array.ssa, array.type, array.shape, tuple(places))

    def load(self, array: Array, index: ast.expr, node: ast.expr) -> Value:
        """An element, or a row."""
        place = self.indices(array, index, node)
        if len(place.within) < len(place.shape):
            return place
        return self.read_element(place, place.within)

    def read_element(self, array: Array, places: Sequence[SSAValue]) -> Scalar:
        """The element at these indices."""
        op = memref.LoadOp.get(array.ssa, places)
        return Scalar(array.type, self.builder.add(op).results[0])

    def store_element(self, array: Array, places: Sequence[SSAValue], value: Scalar) -> None:
        """Set the element at these indices."""
        converted = self.builder.ssa(self.builder.convert(value, array.type))
        self.builder.add(memref.StoreOp.get(converted, array.ssa, places))

    def _check_index(self, known: int, extent: int, node: ast.expr) -> int:
        """An index that counts from the front."""
        if not -extent <= known < extent:
            self.builder.forbid(f"index {known} is outside of the {extent} elements", node)
        return known % extent

    def _attribute(self, node: ast.Attribute, base: ast.expr, name: str) -> Value:
        holder = self.value(base)
        self.builder.at(node)
        match holder:
            case Static(value=CppEnum(name=enum)):
                return self.calls.member(enum, name)
            case _:
                self.builder.refuse(f"{describe(holder)} has no attribute '{name}' in a kernel")

    # Calls.

    def _call(self, node: ast.Call) -> Value:
        match node.func:
            case ast.Name(id=name):
                return self._named_call(node, name)
            case ast.Attribute(value=base, attr=name):
                receiver = self.value(base)
                if not isinstance(receiver, Scalar):
                    self._refuse_method(receiver, name, node.func)
                arguments = self._arguments(node)
                self.builder.at(node)
                return self.calls.method(receiver, name, arguments)
            case _:
                self.builder.refuse("a call in a kernel names what it calls", node.func)

    def _refuse_method(self, receiver: Value, name: str, node: ast.expr) -> NoReturn:
        also = ""
        match receiver:
            case Static(value=ModuleType()):
                tiles = f"{name}_tile"
                also = "; compute constants in the module"
                also += f", and tiles with {tiles}" if tiles in functions() else ""
            case Array() | Items(is_list=True):
                also = "; its length is fixed, and elements are set by a[i] = x"
            case _:
                pass
        self.builder.refuse(f"{describe(receiver)} has no methods in a kernel{also}", node)

    def _named_call(self, node: ast.Call, name: str) -> Value:
        binding = self.lookup(name)
        match binding:
            case Static(value=FunctionType() as function):
                arguments = self._arguments(node)
                self.builder.at(node)
                return self.inline(function, arguments)
            case Static(value=type() as kind) if kind in (int, bool, float):
                return self._cast(kind, node)
            case Static(value=str(text)) if text == name and name in BUILTINS:
                return self._builtin(name, node)
            case _:
                pass
        if name in functions():
            arguments = self._arguments(node)
            self.builder.at(node)
            return self.calls.call(name, arguments)
        if binding is None:
            self.builder.refuse(
                f"there is no call '{name}' on a core{self._instead(name)}", node.func
            )
        value = self.value(node.func)
        if name in self.variables and (name in BUILTINS or name in functions()):
            self.builder.refuse(
                f"'{name}' stands for {describe(value)} here, which cannot be called; give that "
                "another name",
                node.func,
            )
        self.builder.refuse(f"{describe(value)} cannot be called in a kernel", node.func)

    def _instead(self, name: str) -> str:
        """What to call instead of something that is not there."""
        if hasattr(builtins, name):
            return f"; of Python's functions it has {', '.join(BUILTINS)}"
        return self._nearest(name)

    def _arguments(self, node: ast.Call) -> Arguments:
        positional = tuple(self.value(each) for each in node.args)
        named = dict[str, Value]()
        for keyword in node.keywords:
            if keyword.arg is None:
                self.builder.refuse(
                    "'**' does not spread arguments in kernels; write them out", keyword.value
                )
            named[keyword.arg] = self.value(keyword.value)
        return Arguments(positional, named, node)

    def _cast(self, kind: type, node: ast.Call) -> Value:
        if len(node.args) != 1 or node.keywords:
            self.builder.refuse(f"{kind.__name__}(...) takes one number in a kernel", node)
        value = self.scalar(node.args[0])
        self.builder.at(node)
        return self.builder.convert(value, _CASTS[kind])

    def _builtin(self, name: str, node: ast.Call) -> Value:
        if name == "print":
            self.print_call(node)
            return Static(None)
        if node.keywords or not node.args:
            self.builder.refuse(f"{name}(...) takes numbers alone in a kernel", node)
        match name:
            case "len":
                return self._length(node)
            case "min" | "max":
                values = [self.scalar(each) for each in node.args]
                self.builder.at(node)
                if len(values) == 1:
                    self.builder.refuse(f"{name}(...) takes at least two numbers in a kernel", node)
                cls = arith.MinSIOp if name == "min" else arith.MaxSIOp
                return self.builder.extremum(cls, values)
            case "abs":
                value = self.builder.integer(self.scalar(node.args[0]))
                self.builder.at(node)
                negative = self.builder.compare("<", value, number(0))
                negated = self.builder.unary("-", value)
                # The least integer is its own negative.
                return self.builder.select(negative, negated, value)
            case _:
                self.builder.refuse("range(...) is there for 'for' loops only", node)

    def _length(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        match value:
            case Array(shape=shape, within=within):
                return number(shape[len(within)])
            case Items(elements=elements):
                return number(len(elements))
            case _:
                self.builder.refuse(f"{describe(value)} has no length", node)


MOST_ELEMENTS = 1024
"""Elements of an array of a kernel: a core's processors have about 4 KB of their own."""

_CASTS: Mapping[type, Attribute] = {int: i32, bool: i1, float: f32}


def host_value(value: object) -> Value:
    """A value of the host as one of the kernel."""
    match value:
        case bool() | int() | float():
            return number(value)
        case tuple() | list():
            listed = cast("Sequence[object]", value)
            elements = tuple(host_value(each) for each in listed)
            return Items(elements)
        case SupportsIndex():
            # An integer of NumPy, for instance.
            return number(value.__index__())
        case _:
            return Static(value)


def common_type(first: Scalar, second: Scalar) -> Attribute | None:
    """The type that holds both values; None if there is none."""
    if first.type == second.type:
        return first.type
    if first.is_number and second.is_number:
        return f32 if f32 in (first.type, second.type) else i32
    return None


def may_act(node: ast.expr, is_pure: Callable[[str], bool]) -> bool:
    """Whether an expression has effects, may fail, or costs as much as a branch."""
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Name(id=name)) if is_pure(name):
                pass
            case ast.Call() | ast.Subscript():
                return True
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=ast.Constant(value=int(divisor))):
                if divisor == 0:
                    return True
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
                return True
            case _:
                pass
    return False


def _volume(shape: Sequence[int]) -> int:
    volume = 1
    for extent in shape:
        volume *= extent
    return volume


def _is_none(value: Value) -> bool:
    return isinstance(value, Static) and value.value is None


def _spell(node: ast.expr) -> str:
    """An expression as messages quote it."""
    if isinstance(node, ast.JoinedStr):
        return "an f-string"
    text = ast.unparse(node)
    return f"'{text}'" if len(text) <= 40 else f"'{text[:37]}...'"
