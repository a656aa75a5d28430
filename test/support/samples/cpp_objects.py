"""Random programs about bit-fields, lambdas with captures, lists in braces and functions as values.

No operand of an operator changes what another one reads, and an argument of a call has at most one
effect, because their order is not that of g++. Nothing depends on the size of a pointer.
"""

from __future__ import annotations

from random import Random

PRELUDE = """
int sum(std::initializer_list<int> list) {
    int n = 0;
    for (int x : list) { n = n * 3 + x; }
    return n;
}
template <typename T> T last(std::initializer_list<T> list) { return *(list.end() - 1); }
template <typename... T> int spread(T... x) { return sum({static_cast<int>(x)...}); }
template <typename T> uint32_t width(T) { return sizeof(T) * 2 + (T(-1) < T(0)); }
uint32_t which(int) { return 1; }
uint32_t which(uint32_t) { return 2; }
uint32_t which(uint64_t) { return 3; }
uint32_t which(int64_t) { return 4; }
uint32_t add(uint32_t x, uint32_t y) { return x + 3 * y; }
uint32_t mix(uint32_t x, uint32_t y) { return (x ^ y) * 7 + 1; }
uint32_t mix(uint8_t x, uint8_t y) { return x * 256 + y; }
template <typename T> uint32_t any(T x, T y) { return sizeof(T) * 1000 + x % 9 + y % 5; }
using two = uint32_t(uint32_t, uint32_t);
using small = uint32_t (*)(uint8_t, uint8_t);
uint32_t apply(two f, uint32_t n) { return f(n, n + 1); }
uint32_t apply_place(two& f, uint32_t n) { return f(n, 2); }
uint32_t apply_small(small f, uint32_t n) { return f(n, n + 1); }
template <typename F> uint32_t repeat(F&& f, int n) {
    uint32_t t = 0;
    for (int i = 0; i < n; i++) { t = t * 5 + f(i); }
    return t;
}
struct Set {
    uint32_t bits = 0; int count = -1;
    Set() { note(9001); }
    Set(std::initializer_list<int> list) : count(list.size()) {
        for (int x : list) { bits ^= 1u << (x & 31); }
    }
    Set(int a, int b) : bits(a), count(b) {}
    ~Set() { note(9100 + (count & 15)); }
};
"""

_TYPES = (
    *(("uint32_t", 32), ("int32_t", 32), ("uint16_t", 16), ("int16_t", 16), ("uint8_t", 8)),
    *(("int8_t", 8), ("uint64_t", 64), ("int64_t", 64), ("bool", 1)),
)


class _Writer:
    """A function that is being written, with the classes before it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.prefix = f"p{seed}_"
        self.count = 0
        self.numbers: list[str] = []
        """Variables that can be changed."""
        self.calls: list[str] = []
        """Lambdas that take a number."""
        self.structs: list[tuple[str, list[str]]] = []
        """Classes and their members."""
        self.objects: list[tuple[str, list[str]]] = []
        """Variables of classes, and their members."""

    def name(self, kind: str) -> str:
        """A name that no other variable has."""
        self.count += 1
        return f"{kind}{self.count}"

    def pick(self, *choices: str) -> str:
        """One of them."""
        return self.random.choice(choices)

    def literal(self) -> str:
        """A number of `int`."""
        return str(self.random.choice((0, 1, -1, 7, 100, 255, -129, 65535, 2147483647)))

    def atom(self) -> str:
        """A number that nothing changes meanwhile."""
        kind = self.random.random()
        if self.objects and kind < 0.45:
            name, members = self.random.choice(self.objects)
            return f"{name}.{self.random.choice(members)}"
        if self.numbers and kind < 0.85:
            return self.random.choice(self.numbers)
        return f"({self.literal()})"

    def value(self, depth: int = 2) -> str:
        """An expression without effects."""
        kind = self.random.random()
        if depth == 0 or kind < 0.25:
            return self.atom()
        a, b = self.value(depth - 1), self.value(depth - 1)
        if kind < 0.55:
            return f"({a} {self.pick('+', '-', '*', '&', '|', '^')} {b})"
        if kind < 0.62:
            return f"({a} {self.pick('<', '>', '==', '>=')} {self.atom()})"
        if kind < 0.68:
            return f"({self.atom()} {self.pick('<<', '>>')} {self.random.randrange(8)})"
        if kind < 0.74:
            return f"({self.pick('-', '~', '+', '!')}{a})"
        if kind < 0.8:
            return f"({self.pick('uint32_t', 'int16_t', 'uint8_t', 'int64_t')})({a})"
        if kind < 0.86:
            return f"({a} ? {b} : {self.atom()})"
        if kind < 0.92:
            return f"({a} {self.pick('/', '%')} {self.random.randrange(1, 30)})"
        return self.pick(f"which({self.atom()})", f"width({self.atom()})", f"spread({a}, {b})")

    def describe_class(self) -> str:
        """A class with bit-fields, beside other members."""
        name, members, text = self.prefix + self.name("S"), list[str](), ""
        for _ in range(self.random.randrange(2, 8)):
            type_, bits = self.random.choice(_TYPES)
            member = self.name("m")
            kind = self.random.random()
            if kind < 0.75:
                members.append(member)
                text += f" {type_} {member} : {self.random.randrange(1, bits + 1)};"
            elif kind < 0.9:
                members.append(member)
                text += f" {type_} {member};"
            else:
                text += f" {type_} : {self.random.randrange(bits + 1)};"
        if not members:
            members.append("only")
            text += " uint32_t only : 5;"
        if self.random.random() < 0.3:
            text += f" uint32_t twice() const {{ return {members[0]} * 2; }}"
        packed = "__attribute__((packed)) " if self.random.random() < 0.2 else ""
        self.structs.append((name, members))
        return f"struct {packed}{name} {{{text} }};\n"

    def block(self, depth: int) -> str:
        """Statements in braces; what they declare ends with them."""
        numbers, calls, objects = list(self.numbers), list(self.calls), list(self.objects)
        count = self.random.randrange(4, 9)
        text = " ".join(self.statement(depth) for _ in range(count))
        text += "".join(f" note({each});" for each in self.numbers[-3:])
        self.numbers, self.calls, self.objects = numbers, calls, objects
        return f"{{ {text} }}"

    def statement(self, depth: int) -> str:
        """One statement."""
        kinds = [self._number, self._object, self._change, self._change, self._list, self._set]
        kinds += [self._lambda, self._lambda, self._note, self._function, self._call]
        if depth > 0 and self.random.random() < 0.25:
            return self._branch(depth)
        return self.random.choice(kinds)()

    def _number(self) -> str:
        name, (type_, _) = self.name("n"), self.random.choice(_TYPES)
        text = f"{self.pick(type_, 'auto')} {name} = {self.value()};"
        self.numbers.append(name)
        return text

    def _object(self) -> str:
        type_, members = self.random.choice(self.structs)
        name = self.name("s")
        given = [f"({self.literal()})" for _ in members[: self.random.randrange(len(members) + 1)]]
        forms = [f"{type_} {name}{{}};", f"{type_} {name} = {type_}();"]
        if len(given) == 1:
            forms.append(f"{type_} {name}{{}}; {name}.{members[0]} = {given[0]};")
        same = [each for each, known in self.objects if known is members]
        if same:
            other = self.random.choice(same)
            forms += [f"{type_} {name} = {other};", f"{type_} {name}{{{other}}};"]
            forms.append(f"{type_} {name}; {name} = {other};")
        text = self.random.choice(forms)
        self.objects.append((name, members))
        return text

    def _place(self) -> str:
        if self.objects and self.random.random() < 0.7:
            name, members = self.random.choice(self.objects)
            return f"{name}.{self.random.choice(members)}"
        return self.random.choice(self.numbers) if self.numbers else ""

    def _change(self) -> str:
        place = self._place()
        if not place:
            return self._number()
        operator = self.pick("=", "=", "+=", "-=", "*=", "^=", "|=", "&=")
        text = f"{place} {operator} {self.value()}"
        return self.pick(f"{text};", f"note({text});")

    def _note(self) -> str:
        type_, _ = self.random.choice(self.structs)
        forms = [f"note({self.value()});"] * 4 + [f"note(sizeof({type_}));"]
        forms.append(f"note(which({self.value(1)}));")
        return self.random.choice(forms)

    def _elements(self) -> str:
        count = self.random.randrange(1, 5)
        return ", ".join(f"static_cast<int>({self.value(1)})" for _ in range(count))

    def _list(self) -> str:
        name, elements = self.name("l"), self._elements()
        inner = f"note({name} + {self.atom()});"
        forms = [
            f"note(sum({{{elements}}}));",
            f"note(last({{{elements}}}));",
            f"for (int {name} : {{{elements}}}) {{ {inner} }}",
            f"for (const auto& {name} : {{{elements}}}) {{ {inner} }}",
            f"auto {name} = {{{elements}}}; note({name}.size()); note(sum({name}));",
            f"std::initializer_list<int> {name} = {{{elements}}}; note({name}.begin()[0]);",
            f"note(std::max({{{elements}}}));",
            f"note(std::min({{{elements}}}));",
        ]
        return self.random.choice(forms)

    def _set(self) -> str:
        name, elements, a, b = self.name("t"), self._elements(), self.literal(), self.literal()
        forms = [
            f"Set {name}{{{elements}}};",
            f"Set {name} = {{{elements}}};",
            f"Set {name}({{{elements}}});",
            f"Set {name}({a}, {b});",
            f"Set {name}{{{a}, {b}}};",
            f"Set {name};",
            f"Set {name}{{}};",
            f"const Set& {name} = Set{{{elements}}};",
        ]
        return f"{self.random.choice(forms)} note({name}.bits); note({name}.count);"

    def _lambda(self) -> str:
        name, number = self.name("f"), self.random.choice(self.numbers) if self.numbers else "1"
        inner = self.value(1)
        forms = [
            f"auto {name} = [=](int q) {{ return q * 3 + {inner}; }};",
            f"auto {name} = [&](int q) {{ return q * 3 + {inner}; }};",
            f"auto {name} = [k = {self.value(1)}](int q) mutable {{ k += q; return k; }};",
            f"auto {name} = [=, k = {self.value(1)}](auto q) {{ return k - q + {inner}; }};",
            f"auto {name} = [](int q) {{ return q ^ 0x55; }};",
            f"auto {name} = [=](int q) {{ return [=](int r) {{ return r + q + {inner}; }}(4); }};",
        ]
        if self.numbers:
            change = f"{number} += q; return {number};"
            forms += [
                f"auto {name} = [&](int q) {{ {change} }};",
                f"auto {name} = [&{number}](int q) {{ {change} }};",
                f"auto {name} = [{number}](int q) mutable {{ {change} }};",
                f"auto {name} = [=](int q) mutable {{ {change} }};",
                f"auto {name} = [&k = {number}](int q) {{ k -= q; return k; }};",
                f"auto {name} = [=, &{number}](int q) {{ {number} = {inner} + q; return q; }};",
            ]
        if self.calls:
            other = self.random.choice(self.calls)
            forms += [
                f"auto {name} = {other};",
                f"auto {name} = [=](int q) mutable {{ auto g = {other}; return g(q) + 1; }};",
                f"auto {name} = [&](int q) {{ return {other}(q) * 2; }};",
            ]
        if self.objects:
            held, members = self.random.choice(self.objects)
            part = f"{held}.{self.random.choice(members)}"
            forms += [
                f"auto {name} = [{held}](int q) mutable {{ {part} += q; return {part}; }};",
                f"auto {name} = [&{held}](int q) {{ {part} ^= q; return {part}; }};",
                f"auto {name} = [=](int q) {{ return {part} + q; }};",
            ]
        text = self.random.choice(forms)
        self.calls.append(name)
        return text

    def _call(self) -> str:
        if not self.calls:
            return self._note()
        name = self.random.choice(self.calls)
        forms = [f"note({name}({self.literal()}));", f"note({name}({self.atom()}));"]
        forms += [
            f"note(repeat({name}, 3));",
            f"{{ auto g = {name}; note(g(5)); note({name}(5)); }}",
        ]
        return self.random.choice(forms)

    def _function(self) -> str:
        name, given = self.name("g"), self.atom()
        chosen = self.pick("add", "mix", "any", "&mix", "any<uint32_t>")
        lambda_ = "[](uint32_t x, uint32_t y) { return x * 3 - y; }"
        forms = [
            f"note(apply({chosen}, {given}));",
            f"note(apply_place({chosen.removeprefix('&')}, {given}));",
            f"note(apply_small({self.pick('mix', 'any')}, {given}));",
            f"two* {name} = {chosen}; note({name}({given}, 2.75f));",
            f"small {name} = mix; note({name}({given}, 300));",
            f"uint32_t (&{name})(uint8_t, uint8_t) = mix; note({name}({given}, 2));",
            f"auto {name} = {lambda_}; note(apply({name}, {given}));",
            f"note(apply({lambda_}, {given}));",
        ]
        return self.random.choice(forms)

    def _branch(self, depth: int) -> str:
        test, name = self.value(1), self.name("i")
        forms = [
            f"if ({test}) {self.block(depth - 1)} else {self.block(depth - 1)}",
            f"for (int {name} = 0; {name} < 3; {name}++) {self.block(depth - 1)}",
            self.block(depth - 1),
        ]
        return self.random.choice(forms)


def make_objects(seed: int, count: int) -> str:
    """A kernel of so many functions, each with classes of its own."""
    text, calls = PRELUDE, ""
    for number in range(count):
        writer = _Writer(seed * 1000 + number)
        text += "".join(writer.describe_class() for _ in range(2))
        text += f"void run_{number}() {writer.block(2)}\n"
        calls += f" note({number}); run_{number}();"
    return f"{text}void kernel_main() {{{calls} }}\n"
