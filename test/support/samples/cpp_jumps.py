"""Random programs of C++ with jumps, pointers to members, and objects that may be missing.

Jumps go out of blocks and loops, forward over statements and back; what counts down ends them.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

_HEAD = """struct Four {
    uint32_t a, b, c, d;
    uint32_t sum(uint32_t x) { return a + x; }
    uint32_t take(uint32_t x) { uint32_t y = b; b = x; return y; }
    uint32_t mix(uint32_t x) { c ^= x + d; return c; }
    uint32_t seen(uint32_t x) const { return d - x; }
    uint32_t part(uint32_t x) const { return a * x + b; }
};
struct Six : Four { uint32_t e = 5, f = 6; uint32_t last(uint32_t x) { e += f; return e * x; } };
using Change = uint32_t (Four::*)(uint32_t);
using Look = uint32_t (Four::*)(uint32_t) const;
using Member = uint32_t Four::*;
struct Held { Change change = nullptr; Member member = &Four::c; };
uint32_t call(Four& s, Change f, uint32_t x) { return f ? (s.*f)(x) : x; }
template <typename C, typename T> T swap(C& s, T C::* m, T x) { T y = s.*m; s.*m = x; return y; }
struct Living {
    int v;
    explicit Living(int x) : v(x) { note(1000 + v); }
    Living(const Living& o) : v(o.v) { note(2000 + v); }
    Living(Living&& o) : v(o.v) { o.v = 0; note(3000 + v); }
    Living& operator=(const Living& o) { v = o.v; note(4000 + v); return *this; }
    Living& operator=(Living&& o) { v = o.v; o.v = 1; note(5000 + v); return *this; }
    ~Living() { note(6000 + v); }
};
struct Fixed { const int k; int v; };
"""
_MEMBERS = ("a", "b", "c", "d")
_CHANGES, _LOOKS = ("sum", "take", "mix"), ("seen", "part")


class _Jumps:
    """Writes the statements of one function."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.used: set[str] = set()

    def value(self) -> str:
        """A number."""
        return self.random.choice(("x", "y", "x + y", "x % 7", f"{self.random.randrange(20)}"))

    def test(self) -> str:
        """A condition."""
        return f"({self.value()}) % {self.random.randrange(2, 5)} == {self.random.randrange(2)}"

    def block(self, depth: int, outer: Sequence[str], loop: str) -> list[str]:
        """The lines of a block; `outer` are the labels of those around it."""
        size = self.random.randrange(2, 6)
        own = [f"l{self.count + i}" for i in range(self.random.choice((0, 0, 1, 1, 2)))]
        self.count += len(own)
        places = {name: self.random.randrange(size) for name in own}
        made = list[tuple[str, ...]]()
        for number in range(size):
            made.append(tuple(self.statement(depth, (*outer, *own), loop)))
            made[-1] = (*(f"@{name}" for name in own if places[name] == number), *made[-1])
        lines = [line for each in made for line in each]
        return [
            f"{each[1:]}:;" if each.startswith("@") else each
            for each in lines
            if not each.startswith("@") or each[1:] in self.used
        ]

    def statement(self, depth: int, labels: Sequence[str], loop: str) -> list[str]:
        """The lines of a statement."""
        kind = self.random.randrange(10 if depth else 4)
        if kind < 2:
            name, operator = self.random.choice("xy"), self.random.choice("+-^")
            return [f"{name} {operator}= {self.value()}; note({name});"]
        if kind == 2 and labels:
            label = self.random.choice(labels)
            self.used.add(label)
            return [f"if (fuel && {self.test()}) {{ --fuel; goto {label}; }}"]
        if kind == 3 and loop:
            word = self.random.choice(("break", "continue") if loop == "loop" else ("break",))
            return [f"if ({self.test()}) {word};"]
        return self.compound(kind, depth - 1, labels, loop) if depth else [f"note({self.value()});"]

    def compound(self, kind: int, depth: int, labels: Sequence[str], loop: str) -> list[str]:
        """A statement with blocks."""
        self.count += 1
        name = f"i{self.count}"
        match kind:
            case 4:
                head, inner = f"if ({self.test()}) {{", loop
            case 5:
                head, inner = f"{{ uint32_t k{name} = x; y += k{name};", loop
            case 6:
                turns = self.random.randrange(1, 4)
                head, inner = f"for (uint32_t {name} = 0; {name} < {turns}; ++{name}) {{", "loop"
            case 7:
                head, inner = f"while (fuel && {self.test()}) {{ --fuel;", "loop"
            case 8:
                return self.choices(depth, labels)
            case _:
                lines = self.block(depth, labels, "loop")
                return ["do {", *lines, f"}} while (fuel && --fuel && {self.test()});"]
        lines = self.block(depth, labels, inner)
        if kind == 4 and self.random.random() < 0.5:
            lines += ["} else {", *self.block(depth, labels, loop)]
        return [head, *lines, "}"]

    def choices(self, depth: int, labels: Sequence[str]) -> list[str]:
        """A switch."""
        lines = [f"switch (({self.value()}) % 3) {{"]
        for number in range(2):
            lines += [f"case {number}: {{", *self.block(depth, labels, ""), "} break;"]
        return [*lines, "default: note(3);", "}"]


def _write_jumps(random: Random, name: str) -> str:
    writer = _Jumps(random)
    lines = writer.block(3, (), "")
    start = f"uint32_t x = {random.randrange(9)}, y = {random.randrange(9)}, fuel = 12;"
    return "\n".join((f"void {name}() {{", start, *lines, "note(x); note(y);", "}"))


def _write_members(random: Random, name: str) -> str:
    """Pointers to members in variables, tables and members of objects."""

    def change() -> str:
        return random.choice((*(f"&Four::{x}" for x in _CHANGES), "f", "t[i % 2]", "h.change"))

    def member() -> str:
        return random.choice((*(f"&Four::{x}" for x in _MEMBERS), "m", "n[i % 3]", "h.member"))

    a, b = (random.choice(_CHANGES) for _ in range(2))
    first, *rest = random.sample(_MEMBERS, 4)
    table = ", ".join(f"&Four::{x}" for x in rest)
    lines = [
        f"void {name}() {{ Six s; s.a = 1; s.b = 2; s.c = 3; s.d = {random.randrange(99)};",
        f"Six* p = &s; Change f = &Four::{a}; Change t[] = {{&Four::{b}, f}};",
        f"Member m = &Four::{first}; Held h;",
        f"Member n[] = {{{table}}}; Look g = &Four::{random.choice(_LOOKS)};",
        "uint32_t (Six::*own)(uint32_t) = &Six::last;",
        f"for (uint32_t i = 0; i < {random.randrange(2, 7)}; ++i) {{",
    ]
    for _ in range(random.randrange(4, 12)):
        x = random.choice(("i", "s.a", "p->*m", f"{random.randrange(30)}u"))
        lines.append(
            random.choice(
                (
                    f"f = {change()};",
                    f"m = {member()};",
                    f"h.change = {change()}; h.member = m;",
                    f"t[i % 2] = {change()}; n[i % 3] = {member()};",
                    f"if (f) note((s.*f)({x}));",
                    f"note(call(s, {change()}, {x}));",
                    f"s.*m {random.choice('+-^')}= {x}; note(s.*m + 2 * p->*m);",
                    f"note(swap<Four>(s, Member({member()}), static_cast<uint32_t>({x})));",
                    f"g = i % 2 ? &Four::seen : &Four::part; note(((&s)->*g)({x}));",
                    f"note(f == {change()}); note(m == {member()}); note(!h.change);",
                    f"note((p->*own)({x})); own = i % 3 ? &Six::last : f ? f : &Four::sum;",
                )
            )
        )
    return "\n".join((*lines, "} note(s.a); note(s.b); note(s.c); note(s.d); }"))


def _write_objects(random: Random, name: str) -> str:
    """Objects that begin and end when something says so."""
    lines = [f"void {name}() {{ std::optional<Living> a, b; std::optional<Fixed> c; Living z(9);"]
    for _ in range(random.randrange(5, 14)):
        x, y, n = random.choice("ab"), random.choice("ab"), random.randrange(1, 90)
        lines.append(
            random.choice(
                (
                    f"{x}.emplace({n});",
                    f"{x}.reset();",
                    f"{x} = {y};" if x != y else f"{x} = std::nullopt;",
                    f"{x} = std::move({'b' if x == 'a' else 'a'});",
                    f"{x} = Living({n});",
                    f"{x} = z;",
                    f"{{ std::optional<Living> k = {x}; note(k.has_value()); if (k) k->v = {n}; }}",
                    f"if ({x}) note({x}->v); else note({x}.value_or(Living({n})).v);",
                    f"c.emplace(Fixed{{{n}, 2}}); {{ auto e = c; e->v = 7; note(e->k + e->v); }}",
                    "c.reset(); note(c.has_value());",
                    f"z.~Living(); new (&z) Living({n});",
                    f"{{ Living w(z); Living* q = new (&w) Living({n}); note(q->v); }}",
                )
            )
        )
    return "\n".join((*lines, "note(bool(a)); note(b.has_value()); }"))


def make_jumps(seed: int, count: int) -> str:
    """A kernel with so many functions of each kind."""
    random = Random(seed)
    writers = (_write_jumps, _write_members, _write_objects)
    names = [f"f{i}" for i in range(len(writers) * count)]
    texts = [writers[i % len(writers)](random, name) for i, name in enumerate(names)]
    calls = " ".join(f"note({-i - 1}); {name}();" for i, name in enumerate(names))
    return f"{_HEAD}{chr(10).join(texts)}\nvoid kernel_main() {{ {calls} }}\n"
