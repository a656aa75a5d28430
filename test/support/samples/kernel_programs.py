"""Random kernels of integers, arrays, structs and functions that C++ defines the meaning of.

Divisors are positive, shifts are smaller than their types, indices are masked, loops are short, and
nothing is changed in an expression that reads it elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

TYPES = (
    *("bool", "uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t"),
    *("uint64_t", "int64_t", "int", "unsigned") * 2,
)
_BINARY = ("+", "-", "*", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||")
_COMPOUND = ("+=", "-=", "*=", "&=", "|=", "^=")
_LITERALS = (
    *("0", "1", "2", "7", "255", "256", "0x7fffffff", "2147483648u", "65535", "0xFFFFFFFFu"),
    *("4294967296", "-1", "-129", "'a'", "true", "9223372036854775807", "3ull"),
)


class Program:
    """Writes one kernel."""

    def __init__(self, seed: int) -> None:
        """Equal seeds give equal kernels."""
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.count = 0
        self.names: list[str] = []
        self.arrays: list[str] = []
        self.fixed: set[str] = set()
        self.functions: list[tuple[str, str]] = []
        self.loops = 0

    def text(self) -> str:
        """The source."""
        self.line(f"static {self.type()} total = {self.pick(_LITERALS[:6])};")
        table = ", ".join(self.pick(_LITERALS[:6]) for _ in range(4))
        self.line(f"constexpr uint32_t TABLE[4] = {{{table}}};")
        fields = f"{self.type()} a; {self.type()} b[4]; {self.type()} c = 3;"
        self.line(f"struct Pair {{ {fields} }};")
        for _ in range(self.random.randint(1, 3)):
            self.function()
        with self.braces("void kernel_main()"):
            self.main()
        return "\n".join(self.lines)

    # Pieces.

    def pick(self, choices: tuple[str, ...] | list[str]) -> str:
        """One of some texts."""
        return self.random.choice(choices)

    def type(self) -> str:
        """A type."""
        return self.pick(TYPES)

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.indent + text)

    def fresh(self, base: str) -> str:
        """A new name."""
        self.count += 1
        return f"{base}{self.count}"

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        """A block, whose names end with it."""
        self.line(f"{head} {{")
        self.indent += 1
        names, arrays = list(self.names), list(self.arrays)
        yield
        self.names, self.arrays = names, arrays
        self.indent -= 1
        self.line("}")

    # Functions.

    def function(self) -> None:
        """Write a function of one parameter of some kind, and a number."""
        name, kind = self.fresh("f"), self.pick(["value", "reference", "array", "pair", "pointer"])
        result, type_ = self.type(), "int32_t" if kind != "value" else self.type()
        parameter = {
            "value": f"{type_} p",
            "reference": "int32_t& p",
            "pointer": "int32_t* q",
            "array": "uint32_t* q",
            "pair": f"{self.pick(['Pair s', 'Pair& s', 'const Pair& s'])}",
        }[kind]
        outer = self.names, self.arrays
        self.names, self.arrays = ["total", "n"], []
        with self.braces(f"{result} {name}({parameter}, {self.type()} n)"):
            if kind in ("value", "reference"):
                self.names.append("p")
            elif kind == "pointer":
                self.names.append("(*q)")
            elif kind == "array":
                self.arrays.append("q")
            elif "const" in parameter:
                self.line("int64_t sum = s.a + s.b[2] + s.c;")
                self.names.append("sum")
            else:
                self.names.extend(["s.a", "s.c"])
                self.arrays.append("s.b")
            self.statements(3, 1)
            self.line(f"return {self.expression(2)};")
        self.names, self.arrays = outer
        self.functions.append((name, kind))

    def call(self) -> str:
        """A call as a whole expression, since it may change variables."""
        name, kind = self.random.choice(self.functions)
        argument = {
            "value": self.expression(1),
            "reference": "shared",
            "pointer": self.pick(["&shared", "numbers + 1", "&numbers[2]"]),
            "array": self.pick(["words", "words + 0"]),
            "pair": "pair",
        }[kind]
        return f"{name}({argument}, {self.expression(1)})"

    def main(self) -> None:
        """Write the body of the kernel."""
        self.line("int32_t shared = 5; int32_t numbers[8] = {1, -2, 3};")
        self.line("uint32_t words[4] = {7, 8}; Pair pair = {.a = 1, .b = {1, 0}};")
        self.line("Pair other = pair;")
        self.names = ["shared", "total", "pair.a", "other.c", "numbers[3]"]
        self.arrays = ["words", "pair.b", "other.b"]
        for _ in range(self.random.randint(3, 6)):
            self.declare()
        self.statements(self.random.randint(5, 9), 3, calls=True)
        for name in (*self.names, *(f"{each}[{i}]" for each in self.arrays for i in range(4))):
            self.line(f"note({name});")

    # Statements.

    def declare(self) -> None:
        """Write a new variable."""
        name = self.fresh("v")
        self.line(f"{self.type()} {name} = {self.expression(2)};")
        self.names.append(name)

    def statements(self, count: int, depth: int, calls: bool = False) -> None:
        """Write some statements."""
        for _ in range(count):
            self.statement(depth, calls)

    def statement(self, depth: int, calls: bool) -> None:
        """Write a statement."""
        choices = [self.assign, self.assign, self.update, self.note, self.declare]
        if calls:
            choices += [self.assign_call, self.copy]
        if depth > 0:
            choices += [lambda: self.branch(depth, calls), lambda: self.loop(depth, calls)]
        self.random.choice(choices)()

    def target(self) -> str:
        """A place to assign to."""
        names = [name for name in self.names if name not in self.fixed]
        if self.arrays and self.random.random() < 0.3:
            return self.element()
        return self.pick(names)

    def element(self) -> str:
        """An element of an array."""
        return f"{self.pick(self.arrays)}[{self.expression(1)} & 3]"

    def assign(self) -> None:
        """Write an assignment."""
        target = self.target()
        match self.random.randint(0, 5):
            case 0:
                self.line(f"{target} {self.pick(_COMPOUND)} {self.expression(2)};")
            case 1:
                divide = self.pick(["/=", "%="])
                self.line(f"{target} {divide} (({self.expression(1)}) & 15) + 1;")
            case 2:
                self.line(f"{target} {self.pick(['<<=', '>>='])} ({self.expression(1)}) & 7;")
            case _:
                self.line(f"{target} = {self.expression(3)};")

    def assign_call(self) -> None:
        """Write a call."""
        name = self.pick([name for name in self.names if name not in self.fixed])
        value = self.fresh("r")
        self.line(f"auto {value} = {self.call()};")
        self.line(f"{name} = {value};")

    def copy(self) -> None:
        """Write an assignment of a struct."""
        pointed = "{ Pair* at = &pair; at->c = at->a; }"
        self.line(self.pick(["other = pair;", "pair = other;", pointed]))

    def update(self) -> None:
        """Write an expression with an effect, where it is sequenced."""
        name = self.pick([n for n in self.names if n not in self.fixed])
        changed, kept = self.fresh("u"), self.fresh("k")
        self.line(f"uint16_t {changed} = {self.expression(1)};")
        form = self.pick([f"{changed}++", f"--{changed}", f"({changed} += 3)", f"{changed}--"])
        guard = self.expression(1)
        whole = self.pick(
            [
                f"{form} * 2",
                f"({guard}) && {form}",
                f"({guard}) ? {form} : -1",
                f"({form}, {guard})",
            ]
        )
        self.line(f"int64_t {kept} = {whole};")
        self.line(f"{name} = {kept} + {changed};")
        if self.pick(["yes", "no"]) == "yes":
            array = self.pick(self.arrays) if self.arrays else "TABLE"
            change = f"{array}[{kept}i++] += {self.expression(1)};" if self.arrays else ""
            self.line(f"int {kept}i = 1; {change} note({kept}i);")

    def note(self) -> None:
        """Write what the programs are compared by."""
        self.line(f"note({self.expression(3)});")

    def branch(self, depth: int, calls: bool) -> None:
        """Write an `if`."""
        with self.braces(f"if ({self.expression(2)})"):
            self.statements(2, depth - 1, calls)
            if self.loops and self.random.random() < 0.3:
                self.line(self.pick(["break;", "continue;"]))
        if self.random.random() < 0.6:
            with self.braces("else"):
                self.statements(2, depth - 1, calls)

    def loop(self, depth: int, calls: bool) -> None:
        """Write a loop of few iterations."""
        i, type_ = self.fresh("i"), self.pick(["int", "uint32_t", "uint8_t", "int64_t", "uint16_t"])
        first, last = self.random.randint(0, 3), self.random.randint(2, 6)
        step = self.pick([f"{i}++", f"++{i}", f"{i} += 2", f"{i}++, total += 3"])
        head = self.pick(
            [
                f"for ({type_} {i} = {first}; {i} < {last}; {step})",
                f"for ({type_} {i} = {first}, z{i} = 1; {i} <= {last}u; {step})",
                f"for ({type_} {i} = {last}; {i} > {first}; {i}--)",
                f"for (int {i} = {last}; {i} >= {-first}; {i} -= 2)",
                f"for (uint8_t {i} = {250 + first}; {i} > 5; {i}++)",
                f"for ({type_} {i} = {last}; {i}-- > 0;)",
            ]
        )
        fixed = set(self.fixed)
        self.loops += 1
        with self.braces(head):
            self.names.append(i)
            self.fixed.add(i)
            self.statements(2, depth - 1, calls)
        self.loops -= 1
        self.fixed = fixed

    # Expressions; they change nothing.

    def expression(self, depth: int) -> str:
        """An expression."""
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        match self.random.randint(0, 9):
            case 0:
                return f"(({a}) {self.pick(['/', '%'])} ((({b}) & 15) + 1))"
            case 1:
                return f"(({a}) {self.pick(['<<', '>>'])} (({b}) & 7))"
            case 2:
                return f"{self.pick(['-', '~', '!', '+'])}({a})"
            case 3:
                return f"(({a}) ? ({b}) : ({self.expression(depth - 1)}))"
            case 4:
                return f"static_cast<{self.type()}>({a})"
            case 5:
                return f"TABLE[({a}) & 3]"
            case _:
                return f"(({a}) {self.pick(_BINARY)} ({b}))"

    def leaf(self) -> str:
        """A literal or variable."""
        if not self.names or self.random.random() < 0.3:
            return self.pick(_LITERALS)
        if self.arrays and self.random.random() < 0.2:
            return f"{self.pick(self.arrays)}[{self.random.randint(0, 3)}]"
        return self.pick(self.names)
