"""Random programs of C++ that choose functions while they run.

Pointers to functions are variables, elements of tables, members, parameters and results; functions
take numbers, references and objects, and some are lambdas, templates or overloaded. Tables have at
most four elements: larger ones a card does not load.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_TYPES = {
    "Number": "uint32_t (*)(uint32_t)",
    "Change": "void (*)(uint32_t&, const uint32_t&)",
    "Object": "Box (*)(Box)",
    "Place": "uint32_t& (*)(Box&, uint32_t)",
    "Wide": "int8_t (*)(uint64_t, const Box&)",
}
_HEAD = """struct Box { uint32_t a; uint16_t b; };
using Number = uint32_t (*)(uint32_t);
using Change = void (*)(uint32_t&, const uint32_t&);
using Object = Box (*)(Box);
typedef uint32_t& (*Place)(Box&, uint32_t);
using Wide = int8_t (*)(uint64_t, const Box&);
uint32_t spare;
template <typename T> T raised(T x) { return x * 3 + 1; }
uint32_t mixed(uint32_t x) { return x ^ 0x55; }
uint32_t mixed(float x) { return x; }
uint32_t& pick_a(Box& x, uint32_t n) { x.b += n; return x.a; }
uint32_t& pick_spare(Box& x, uint32_t n) { spare += n + x.a; return spare; }
"""


class _Writer:
    """Writes one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.functions: dict[str, list[str]] = {
            "Number": ["raised", "mixed", "raised<uint32_t>"],
            "Change": [],
            "Object": [],
            "Place": ["pick_a", "pick_spare"],
            "Wide": [],
        }
        self.places: dict[str, list[str]] = {each: [] for each in self.functions}
        """Where pointers are that can be changed."""
        self.choosers: dict[str, list[str]] = {each: [] for each in self.functions}
        """Functions that give one of two pointers, by a number."""
        self.lines: list[str] = []

    def fresh(self, start: str) -> str:
        """A new name."""
        self.count += 1
        return f"{start}{self.count}"

    def number(self) -> str:
        """A number."""
        return self.random.choice(("x", "y", "o.a", "o.b", f"{self.random.randrange(99)}u"))

    def function(self, kind: str) -> str:
        """A function of the text, or a lambda."""
        n = self.random.randrange(1, 50)
        if kind == "Number" and self.random.random() < 0.25:
            plus = self.random.choice(("", "+"))
            return f"{plus}[](uint32_t x) -> uint32_t {{ return x * {n} + spare; }}"
        name = self.random.choice(self.functions[kind])
        return f"&{name}" if "<" not in name and self.random.random() < 0.2 else name

    def pointer(self, kind: str) -> str:
        """A pointer that is known while the program runs."""
        choices: list[Callable[[], str]] = [lambda: self.function(kind)]
        if self.places[kind]:
            choices += [lambda: self.random.choice(self.places[kind])] * 3
        if self.choosers[kind]:
            chooser = self.random.choice(self.choosers[kind])
            choices.append(lambda: f"{chooser}({self.number()})")
        return self.random.choice(choices)()

    def define(self, kind: str) -> None:
        """A function of a type."""
        name, n = self.fresh("f"), self.random.randrange(1, 60)
        operator = self.random.choice("+-*^|")
        match kind:
            case "Number":
                text = f"uint32_t {name}(uint32_t x) {{ return (x {operator} {n}) % 100003; }}"
            case "Change":
                body = f"x = (x {operator} y) + {n};"
                text = f"void {name}(uint32_t& x, const uint32_t& y) {{ {body} }}"
            case "Object":
                text = f"Box {name}(Box x) {{ x.a {operator}= {n}; x.b += x.a; return x; }}"
            case "Place":
                text = f"uint32_t& {name}(Box& x, uint32_t n) {{ x.a {operator}= n; return x.a; }}"
            case _:
                body = f"return (x {operator} y.a) + {n};"
                text = f"int8_t {name}(uint64_t x, const Box& y) {{ {body} }}"
        self.lines.append(text)
        self.functions[kind].append(name)

    def define_chooser(self, kind: str) -> None:
        """A function that gives one of two pointers."""
        name = self.fresh("choose")
        a, b = (self.random.choice(self.functions[kind]) for _ in range(2))
        if kind == "Number":
            a, b = f"static_cast<{kind}>({a})", f"static_cast<{kind}>({b})"
        test = f"n % {self.random.randrange(2, 5)}"
        match self.random.randrange(3):
            case 0:
                text = f"{kind} {name}(uint32_t n) {{ return {test} ? {a} : {b}; }}"
            case 1:
                body = f"if ({test}) return {a}; return {b};"
                text = f"auto {name}(uint32_t n) -> {_TYPES[kind]} {{ {body} }}"
            case _:
                text = (
                    f"{kind} {name}(uint32_t n) {{ {kind} p = {a}; "
                    f"while (n > 1) {{ p = p == {b} ? {a} : {b}; n /= 2; }} return p; }}"
                )
        self.lines.append(text)
        self.choosers[kind].append(name)

    def call(self, kind: str, callee: str) -> str:
        """A statement with a call."""
        match kind:
            case "Number":
                return f"note({callee}({self.number()}));"
            case "Change":
                target = self.random.choice(("x", "y", "o.a", "spare"))
                return f"{callee}({target}, {self.number()}); note({target});"
            case "Object":
                given = self.random.choice(("o", "Box{x, 7}"))
                return f"o = {callee}({given}); note(o.a); note(o.b);"
            case "Place":
                called = f"{callee}(o, {self.number()})"
                return f"{called} += {self.random.randrange(9)}; note(o.a); note(spare);"
            case _:
                return f"note({callee}({self.number()}, o));"

    def statement(self) -> None:
        """Something with pointers."""
        kind = self.random.choice(tuple(self.functions))
        if self.places[kind] and self.random.random() < 0.6:
            self.use(kind, self.random.choice(self.places[kind]))
        else:
            self.declare(kind, self.fresh("v"))

    def declare(self, kind: str, name: str) -> None:
        """A variable, a table or an object; or a call."""
        match self.random.randrange(4):
            case 0:
                self.lines.append(f"{kind} {name} = {self.pointer(kind)};")
                self.places[kind].append(name)
            case 1:
                size = self.random.randrange(1, 5)
                listed = ", ".join(self.pointer(kind) for _ in range(size))
                self.lines.append(f"{kind} {name}[] = {{{listed}}};")
                self.places[kind].append(f"{name}[{self.number()} % {size}]")
            case 2:
                members = f"{{ {kind} f; uint32_t n; }}"
                self.lines.append(f"struct {name}_t {members} {name}{{{self.pointer(kind)}, 3}};")
                self.places[kind].append(f"{name}.f")
            case _:
                given = f"{self.pointer(kind)}, {self.number()}"
                self.lines.append(f"note(run_{kind.lower()}({given}));")

    def use(self, kind: str, place: str) -> None:
        """A call, an assignment or a comparison."""
        match self.random.randrange(6):
            case 0:
                self.lines.append(f"{place} = {self.pointer(kind)};")
            case 1:
                other = self.random.choice(self.places[kind])
                self.lines.append(f"note({place} == {other}); if ({place}) note(1);")
            case 2:
                called = self.call(kind, place)
                self.lines.append(f"for (uint32_t i = 0; i < 3; i++) {{ {called} }}")
            case 3:
                name = self.fresh("r")
                called = self.call(kind, f"(*{name})")
                changed = f"{name} = {self.pointer(kind)};"
                self.lines.append(f"{kind}& {name} = {place}; {changed} {called}")
            case 4 if self.choosers[kind]:
                chooser = self.random.choice(self.choosers[kind])
                self.lines.append(self.call(kind, f"{chooser}({self.number()})"))
            case _:
                self.lines.append(self.call(kind, place))

    def write(self) -> str:
        """The whole program."""
        for kind in self.functions:
            for _ in range(self.random.randrange(2, 4)):
                self.define(kind)
            for _ in range(self.random.randrange(0, 3)):
                self.define_chooser(kind)
        for kind in self.functions:
            twice = " ".join(self.call(kind, "f") for _ in range(2))
            self.lines.append(
                f"uint32_t run_{kind.lower()}({kind} f, uint32_t x) {{ uint32_t y = 5; "
                f"Box o{{x, 9}}; {twice} return x + y + o.a; }}"
            )
        self.lines.append("void kernel_main() { uint32_t x = 3, y = 70000; Box o{5, 6};")
        for _ in range(self.random.randrange(15, 40)):
            self.statement()
        self.lines.append("note(x); note(y); note(o.a); note(o.b); note(spare); }")
        return _HEAD + "\n".join(self.lines)


def make_pointers(seed: int) -> str:
    """A program of its own for each number."""
    return _Writer(Random(seed)).write()
