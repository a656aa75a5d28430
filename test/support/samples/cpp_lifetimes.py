"""Random programs about when objects begin, move and end: their classes note all of it.

Arguments of a call have at most one effect, because their order is not that of g++.
"""

from __future__ import annotations

from random import Random

PRELUDE = """
struct Logged {
    int v;
    Logged(int v) : v(v) { note(1000 + v); }
    Logged(const Logged& other) : v(other.v) { note(2000 + v); }
    Logged(Logged&& other) : v(other.v) { other.v = -other.v; note(3000 + v); }
    Logged& operator=(const Logged& other) { v = other.v; note(4000 + v); return *this; }
    Logged& operator=(Logged&& other) { v = other.v; other.v = 0; note(5000 + v); return *this; }
    ~Logged() { note(6000 + v); }
    int add(int n) { v += n; return v; }
};
struct Holder { Logged first; int number; Logged second; };
struct Derived : Logged { Logged own; Derived(int n) : Logged(n), own(n + 1) { note(7000 + n); } };
struct Owner {
    Logged kept;
    Owner(Logged&& given) : kept(std::move(given)) {}
    Owner(const Logged& given) : kept(given) {}
    const Logged& show() const { return kept; }
    Logged give() { return std::move(kept); }
};
Logged make(int n) { return Logged(n); }
Logged choose(int n) { if (n % 2) { return Logged(n + 1); } return make(n + 2); }
int by_value(Logged x) { x.add(1); return x.v; }
int by_const(const Logged& x) { return x.v; }
int by_place(Logged& x) { return x.add(2); }
int by_move(Logged&& x) { Logged taken(std::move(x)); return taken.v; }
int kind(const Logged&) { return 1; }
int kind(Logged&&) { return 2; }
template <typename T> int forward_value(T&& x) { return by_value(std::forward<T>(x)); }
template <typename T> int forward_kind(T&& x) { return kind(std::forward<T>(x)); }
template <typename... T> int sum(T&&... x) { return (by_const(std::forward<T>(x)) + ... + 0); }
int leave(int n) {
    Logged a(n);
    for (int i = 0; i < 3; i++) { Logged b(n + i); if (i == n % 4) { return a.v + b.v; } }
    return a.v;
}
"""

_LEAST = 3
"""Statements of a block."""


class _Writer:
    """A function that is being written."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0

    def name(self, kind: str) -> str:
        """A name that no other variable has."""
        self.count += 1
        return f"{kind}{self.count}"

    def number(self) -> int:
        """A value."""
        return self.random.randrange(1, 90)

    def value(self, places: list[str]) -> str:
        """An expression of an object: a place, one that is moved, or a new one."""
        number = self.number()
        made = f"Logged({number})", f"make({number})", f"choose({number})"
        if not places or self.random.random() < 0.4:
            return self.random.choice(made)
        place = self.random.choice(places)
        return self.random.choice((place, f"std::move({place})"))

    def moved(self, places: list[str]) -> str:
        """An object that nobody needs any more."""
        found = self.value(places)
        return f"std::move({found})" if found in places else found

    def block(self, places: list[str], depth: int) -> str:
        """Statements in braces; what they declare ends with them."""
        inner = list(places)
        count = self.random.randrange(_LEAST, _LEAST + 3)
        return "{ " + " ".join(self.statement(inner, depth) for _ in range(count)) + " }"

    def statement(self, places: list[str], depth: int) -> str:
        """One statement; declared objects join the places."""
        kinds = [self._declaration, self._declaration, self._call, self._assignment, self._lambda]
        kinds += [self._temporary, self._holder, self._array, self._library]
        if depth > 0:
            kinds += [self._if, self._loop, self._switch]
            if self.random.random() < 0.3:
                return self.block(places, depth - 1)
        return self.random.choice(kinds)(places, depth)

    def _declaration(self, places: list[str], _: int) -> str:
        name, value, number = self.name("x"), self.value(places), self.number()
        forms = [
            f"Logged {name}({number});",
            f"Logged {name} = {number};",
            f"Logged {name}{{{value}}};",
            f"Logged {name} = {value};",
            f"auto {name} = {value};",
            f"Logged&& {name} = {self.moved(places)};",
            f"Owner o{name}({value}); Logged& {name} = o{name}.kept;",
            f"Owner o{name}({value}); Logged {name} = o{name}.give();",
        ]
        if value in places:
            forms += [f"auto&& {name} = {value};", f"Logged& {name} = {value};"]
        if places:
            a, b = self.random.choice(places), self.random.choice(places)
            condition = f"{a}.v % {self.random.randrange(2, 4)} == 0"
            forms += [
                f"Logged {name} = {condition} ? {a} : {b};",
                f"Logged {name} = {condition} ? Logged({number}) : make({number + 1});",
                f"Logged& {name} = {condition} ? {a} : {b};",
            ]
        written = self.random.choice(forms)
        places.append(name)
        return written

    def _call(self, places: list[str], _: int) -> str:
        value = self.value(places)
        calls = [
            f"note(by_value({value}));",
            f"note(by_const({value}));",
            f"note(by_move({self.moved(places)}));",
            f"note(forward_value({value}));",
            f"note(forward_kind({value}));",
            f"note(kind({value}));",
            f"note(sum({value}));",
            f"note(leave({self.number()}));",
        ]
        if places:
            calls.append(f"note(by_place({self.random.choice(places)}));")
        return self.random.choice(calls)

    def _assignment(self, places: list[str], depth: int) -> str:
        if not places:
            return self._call(places, depth)
        return f"{self.random.choice(places)} = {self.value(places)};"

    def _lambda(self, places: list[str], depth: int) -> str:
        name, value = self.name("f"), self.value(places)
        forms = [
            f"auto {name} = [](auto&& q) {{ return by_value(std::forward<decltype(q)>(q)); }};"
            f" note({name}({value}));",
            f"auto {name} = [](auto&&... q) {{ return sum(std::forward<decltype(q)>(q)...); }};"
            f" note({name}({value}));",
            f"auto {name} = [q = {value}](int n) mutable {{ return q.add(n); }};"
            f" note({name}({self.number()})); note({name}(1));",
            f"note([](Logged q) {{ return q.v; }}({value}));",
            f"auto {name} = []() {{ return Logged({self.number()}); }}; note({name}().v);",
        ]
        if places:
            place = self.random.choice(places)
            forms += [
                f"auto {name} = [k = {place}]() {{ return k.v; }}; note({name}());",
                f"auto {name} = [&k = {place}](int n) {{ return k.add(n); }}; note({name}(3));",
                f"auto {name} = [=]() {{ return {place}.v; }}; auto g{name} = {name};"
                f" note(g{name}());",
                f"auto {name} = [&]() {self.block(places, 0)}; {name}();",
            ]
        return self.random.choice(forms)

    def _temporary(self, places: list[str], _: int) -> str:
        value, number = self.value(places), self.number()
        forms = [
            f"Logged({number});",
            f"note(make({number}).v);",
            f"note(Logged({number}).add(4));",
            f"{{ const Logged& kept = {value}; note(kept.v); }}",
            f"note(Derived({number}).own.v);",
            f"{{ Derived both({number}); note(both.add(1)); note(both.own.v); }}",
            f"{{ Derived both({number}); Derived other = both; note(other.own.v); }}",
            f"{{ Derived both({number}); Derived other(std::move(both)); note(both.v); }}",
            f"{{ Derived both({number}); auto held = [both]() {{ return both.v; }};"
            f" note(held()); }}",
            f"note(Owner({value}).show().v);",
        ]
        return self.random.choice(forms)

    def _holder(self, places: list[str], _: int) -> str:
        name, other, number = self.name("h"), self.name("h"), self.number()
        value = self.value(places)
        begin = f"Holder {name}{{{value}, {number}, {number + 1}}};"
        forms = [
            f"{begin} note({name}.first.v);",
            f"{begin} Holder {other} = {name}; note({other}.second.v);",
            f"{begin} Holder {other} = std::move({name}); note({name}.first.v + {other}.number);",
            f"{begin} Holder {other}{{1, 2, 3}}; {other} = {name}; note({other}.first.v);",
            f"{begin} Holder {other}{{1, 2, 3}}; {other} = std::move({name});",
            f"{begin} auto& [p{name}, q{name}, r{name}] = {name}; r{name} = p{name};",
        ]
        places.append(f"{name}.first")
        return self.random.choice(forms)

    def _array(self, places: list[str], _: int) -> str:
        name, value, number = self.name("a"), self.value(places), self.number()
        begin = f"Logged {name}[2] = {{{value}, {number}}};"
        forms = [
            f"for (auto& each : {name}) {{ note(each.add(1)); }}",
            f"for (auto each : {name}) {{ note(each.add(1)); }}",
            f"for (const auto& each : {name}) {{ if (each.v % 2) continue; note(each.v); }}",
            f"{name}[0] = {name}[1];",
            f"{name}[1] = std::move({name}[0]);",
        ]
        places.append(f"{name}[{self.random.randrange(2)}]")
        return f"{begin} {self.random.choice(forms)}"

    def _library(self, places: list[str], depth: int) -> str:
        if not places:
            return self._declaration(places, depth)
        a, b = self.random.choice(places), self.random.choice(places)
        forms = [
            f"note(std::exchange({a}, Logged({self.number()})).v);",
            f"std::swap({a}, {b});" if a != b else f"note({a}.v);",
        ]
        return self.random.choice(forms)

    def _if(self, places: list[str], depth: int) -> str:
        test = f"{self.random.choice(places)}.v % 2" if places else str(self.random.randrange(2))
        if self.random.random() < 0.3:
            name = self.name("c")
            test = f"Logged {name} = {self.value(places)}; {name}.v % 3"
        body, other = self.block(places, depth - 1), self.block(places, depth - 1)
        return f"if ({test}) {body} else {other}"

    def _loop(self, places: list[str], depth: int) -> str:
        name, inner = self.name("i"), list(places)
        first = self.statement(inner, depth - 1)
        way_out = self.random.choice(("break", "continue"))
        leave = f"if ({name} == {self.random.randrange(3)}) {{ {way_out}; }}"
        second = self.statement(inner, 0)
        return f"for (int {name} = 0; {name} < 3; {name}++) {{ {first} {leave} {second} }}"

    def _switch(self, places: list[str], depth: int) -> str:
        number = self.random.randrange(3)
        cases = " ".join(
            f"case {each}: {self.block(places, depth - 1)} {self.random.choice(('break;', ''))}"
            for each in range(3)
        )
        return f"switch ({number}) {{ {cases} }}"


def make_lifetimes(seed: int, count: int) -> str:
    """A kernel of so many functions."""
    text, calls = PRELUDE, ""
    for number in range(count):
        writer = _Writer(seed * 1000 + number)
        text += f"void run_{number}() {writer.block([], 2)}\n"
        calls += f" note({number}); run_{number}();"
    return f"{text}void kernel_main() {{{calls} }}\n"
