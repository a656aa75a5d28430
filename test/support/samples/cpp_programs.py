"""Random programs of C++ as kernels use it: statements, functions, templates and classes.

What a program notes is defined by C++ for processors of 32 bits whose signed numbers wrap: loops
end, indices are inside, divisors are odd, shifts are below the width, and no operand of an operator
changes what another one reads.
"""

from __future__ import annotations

import re
from random import Random

_INTEGERS = ("uint32_t", "int32_t", "uint16_t", "uint8_t", "int8_t", "int16_t", "uint64_t", "bool")
_ARITHMETIC = ("+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
_COMPOUND = ("=", "+=", "-=", "*=", "&=", "|=", "^=")


class _Writer:
    """Writes one program."""

    def __init__(self, random: Random, name: str) -> None:
        self.random = random
        self.name = name
        self.count = 0
        self.scopes: list[dict[str, str]] = []
        """Variables that can be changed, with their types, from the outermost block inwards."""
        self.constants: list[dict[str, str]] = []
        """Likewise those that cannot."""
        self.functions: list[tuple[str, int]] = []
        """What can be called: text before the parenthesis, and how many numbers it takes."""
        self.objects: list[tuple[str, str]] = []
        """Expressions of objects with methods, and of their number."""
        self.loops = 0
        self.lines: list[str] = []

    # --- Names ----------------------------------------------------------------------------------

    def fresh(self, start: str) -> str:
        """A new name."""
        self.count += 1
        return f"{start}{self.count}"

    def pick(self, *choices: str) -> str:
        """One of them."""
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        """Whether something of this share happens."""
        return self.random.random() < share

    def variables(self, *, mutable: bool) -> list[tuple[str, str]]:
        """What is visible."""
        found = [each for scope in self.scopes for each in scope.items()]
        if not mutable:
            found += [each for scope in self.constants for each in scope.items()]
        return found

    # --- Expressions ----------------------------------------------------------------------------

    def atom(self) -> str:
        """A variable or a number."""
        known = self.variables(mutable=False)
        if known and self.chance(0.75):
            return self.random.choice(known)[0]
        return self.pick(
            str(self.random.randrange(40)),
            f"{self.random.randrange(1 << 32)}u",
            f"{self.random.randrange(256):#x}",
            "true",
            f"-{self.random.randrange(1, 99)}",
        )

    def expression(self, depth: int) -> str:
        """A number of some type."""
        kind = self.random.random()
        if depth <= 0 or kind < 0.15:
            return self.atom()
        if kind < 0.55:
            return self.arithmetic(depth)
        if kind < 0.66:
            operator = self.pick(*_COMPARISONS)
            # Both sides have one type, whose comparison is the same with 32 and 64 bits.
            type_ = self.pick("uint32_t", "int32_t")
            left, right = self.expression(depth - 1), self.expression(depth - 1)
            return f"({type_}({left}) {operator} {type_}({right}))"
        if kind < 0.72:
            operator = self.pick("&&", "||")
            return f"({self.expression(depth - 1)} {operator} {self.expression(depth - 1)})"
        if kind < 0.78:
            return f"{self.pick('!', '~', '-', '+')}({self.expression(depth - 1)})"
        if kind < 0.86:
            return f"{self.cast(self.pick(*_INTEGERS), self.expression(depth - 1))}"
        if kind < 0.91:
            parts = [self.expression(depth - 1) for _ in range(3)]
            return f"({parts[0]} ? uint32_t({parts[1]}) : uint32_t({parts[2]}))"
        if self.functions and kind < 0.97:
            callee, count = self.random.choice(self.functions)
            given = ", ".join(self.expression(depth - 2) for _ in range(count))
            return f"{callee}({given})"
        if self.objects:
            return self.random.choice(self.objects)[1].replace("$", self.expression(depth - 2))
        return self.atom()

    def cast(self, type_: str, text: str) -> str:
        """In one of three ways."""
        return self.pick(
            f"(({type_})({text}))", f"{type_}({text})", f"static_cast<{type_}>({text})"
        )

    def arithmetic(self, depth: int) -> str:
        """Of two numbers of 32 bits, or of one kind."""
        operator = self.pick(*_ARITHMETIC)
        type_ = self.pick("uint32_t", "uint32_t", "int32_t", "uint64_t")
        left = f"{type_}({self.expression(depth - 1)})"
        right = f"{type_}({self.expression(depth - 1)})"
        if operator in ("/", "%"):
            # Neither 0 nor a quotient that is too large.
            left, right = f"uint32_t({left})", f"(uint32_t({right}) | 1u)"
        elif operator in ("<<", ">>"):
            right = f"({right} & 15)"
        return f"({left} {operator} {right})"

    # --- Statements -----------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        """Add a line."""
        self.lines.append(text)

    def block(self, depth: int, count: int | None = None) -> None:
        """Statements in braces."""
        self.scopes.append({})
        self.constants.append({})
        objects = len(self.objects)
        functions = len(self.functions)
        self.emit("{")
        for _ in range(self.random.randint(1, 4) if count is None else count):
            self.statement(depth)
        self.emit("}")
        del self.objects[objects:], self.functions[functions:]
        self.scopes.pop()
        self.constants.pop()

    def statement(self, depth: int) -> None:
        """One of all kinds."""
        kinds = [self.declare, self.declare, self.assign, self.assign, self.note, self.array]
        kinds += [self.pointer, self.reference, self.lambda_, self.object, self.bindings]
        if depth > 0:
            kinds += [self.if_, self.if_, self.for_, self.while_, self.switch, self.do]
            kinds += [self.range_for, self.nested]
        if self.loops and self.chance(0.12):
            self.emit(f"if ({self.expression(1)}) {self.pick('break', 'continue')};")
            return
        kind = self.random.choice(kinds)
        kind(depth)

    def note(self, depth: int) -> None:
        """What the program says."""
        self.emit(f"note(uint32_t({self.expression(3)}));")

    def declare(self, depth: int) -> None:
        """A variable."""
        name, type_ = self.fresh("v"), self.pick(*_INTEGERS)
        value = self.expression(3)
        form = self.random.random()
        if form < 0.2:
            self.emit(f"const {type_} {name} = {value};")
            self.constants[-1][name] = type_
            return
        if form < 0.3:
            self.emit(f"auto {name} = {self.cast(type_, value)};")
        elif form < 0.4:
            self.emit(f"{type_} {name}((({value})));")
        elif form < 0.5:
            self.emit(f"{type_} {name}{{{self.cast(type_, value)}}};")
        elif form < 0.55:
            other = self.fresh("v")
            self.emit(f"{type_} {name} = {value}, {other} = {self.expression(1)};")
            self.scopes[-1][other] = type_
        else:
            self.emit(f"{type_} {name} = {value};")
        self.scopes[-1][name] = type_

    def assign(self, depth: int) -> None:
        """A change of a variable."""
        known = self.variables(mutable=True)
        if not known:
            self.declare(depth)
            return
        name, type_ = self.random.choice(known)
        if type_ != "bool" and self.chance(0.2):
            self.emit(f"{self.pick('++', '--')}{name};" if self.chance(0.5) else f"{name}++;")
            return
        operator = "=" if type_ == "bool" else self.pick(*_COMPOUND)
        self.emit(f"{name} {operator} {self.expression(3)};")

    def array(self, depth: int) -> None:
        """An array, and what is done with its elements."""
        name, count = self.fresh("a"), self.random.randint(2, 5)
        type_ = self.pick("uint32_t", "uint16_t", "int32_t", "uint8_t")
        values = ", ".join(self.cast(type_, self.expression(1)) for _ in range(count))
        index = f"uint32_t({self.expression(2)}) % {count}u"
        if self.chance(0.3):
            self.emit(f"std::array<{type_}, {count}> {name} = {{{values}}};")
            self.emit(f"{name}[{index}] {self.pick(*_COMPOUND)} {self.expression(2)};")
            self.emit(f"note(uint32_t({name}.size() + {name}[{index}]));")
        else:
            self.emit(f"{type_} {name}[{self.pick(str(count), '')}] = {{{values}}};")
            self.emit(f"{name}[{index}] {self.pick(*_COMPOUND)} {self.expression(2)};")
            self.emit(f"note(uint32_t({name}[{index}] + sizeof({name})));")

    def pointer(self, depth: int) -> None:
        """A pointer that goes over an array."""
        name, count, step = self.fresh("a"), self.random.randint(3, 6), self.fresh("q")
        values = ", ".join(f"{self.random.randrange(1000)}" for _ in range(count))
        self.emit(f"uint32_t {name}[{count}] = {{{values}}};")
        if self.chance(0.5):
            self.emit(f"for (uint32_t* {step} = {name}; {step} != {name} + {count}; ++{step}) {{")
            self.emit(f"*{step} {self.pick('+=', '^=', '=')} {self.expression(1)};")
            self.emit(f"note(*{step} + uint32_t({step} - {name}));\n}}")
        else:
            other = self.fresh("q")
            self.emit(f"uint32_t *{step} = {name}, *{other} = &{name}[{count - 1}];")
            self.emit(f"while ({step} < {other}) {{ std::swap(*{step}, *{other}); "
                      f"{step}++; --{other}; }}")  # fmt: skip
            self.emit(f"note({name}[0] * 3 + {name}[{count - 1}]);")

    def reference(self, depth: int) -> None:
        """Another name of a variable."""
        known = [each for each in self.variables(mutable=True) if each[1] != "bool"]
        if not known:
            self.declare(depth)
            return
        (name, type_), other = self.random.choice(known), self.fresh("r")
        self.emit(f"{self.pick(type_, 'auto')}& {other} = {name};")
        self.emit(f"{other} {self.pick(*_COMPOUND)} {self.expression(2)};")
        self.emit(f"note(uint32_t({name}));")

    def lambda_(self, depth: int) -> None:
        """A function object that can be called until the block ends."""
        name, parameter = self.fresh("l"), self.fresh("p")
        kind = self.pick("uint32_t", "auto", "const uint32_t&")
        captures = self.pick("&", "=")
        self.constants.append({parameter: "uint32_t"})
        body = self.expression(2)
        self.constants.pop()
        result = self.pick("", " -> uint32_t")
        self.emit(f"auto {name} = [{captures}]({kind} {parameter}){result} "
                  f"{{ return uint32_t({body}); }};")  # fmt: skip
        self.emit(f"note({name}(uint32_t({self.expression(1)})));")
        if captures == "=":
            self.functions += [(name, 1)] if kind == "uint32_t" else []

    def object(self, depth: int) -> None:
        """An object of one of the program's classes."""
        name = self.fresh("o")
        number = f"(uint32_t({self.expression(2)}) + 0)"
        kind = self.random.randrange(5)
        c, t, d = f"C{self.name}", f"T{self.name}", f"D{self.name}"
        if kind == 0:
            self.emit(f"{c} {name}({number}, {self.random.randrange(9)});")
            self.emit(f"{name}.add({self.expression(1)}).add(3); {name} += {name};")
            self.emit(f"note({name}.get()); note({name} == {c}(1, 2)); note({name}[1]);")
            self.objects.append((name, f"{name}.get()"))
        elif kind == 1:
            other = self.fresh("o")
            self.emit(f"{c} {name}{{{number}, 4}}, {other} = {name};")
            self.emit(f"{other}.add(5); note({name}.get() ^ {other}.get());")
            self.emit(f"note(({name} + {other}).get()); note({c}::made);")
        elif kind == 2:
            type_, size = self.pick("uint32_t", "uint16_t", "uint8_t"), self.random.randint(1, 4)
            self.emit(f"{t}<{type_}, {size}> {name}({number});")
            self.emit(f"note({name}.sum()); note({name}.template scaled<3>());")
            self.emit(f"note(sizeof({name}) + {name}.size);")
        elif kind == 3:
            self.emit(f"{d} {name}({number}); {name}.add({self.expression(1)});")
            self.emit(f"note({name}.get()); note({name}.twice()); note(take{self.name}({name}));")
        else:
            self.emit(f"P{self.name} {name} = {{uint8_t({self.expression(1)}), {number}}};")
            self.emit(f"auto {name}x = {name}; {name}x.b += 7; {name}x.c[1] = 5;")
            self.emit(f"note({name}.a + {name}.b);")
            self.emit(f"note(uint32_t({name}x.b + {name}x.c[1] + sizeof({name})));")

    def bindings(self, depth: int) -> None:
        """Names for the parts of a pair."""
        a, b = self.fresh("b"), self.fresh("b")
        self.emit(f"auto [{a}, {b}] = split{self.name}(uint32_t({self.expression(2)}));")
        self.scopes[-1][a] = "uint32_t"
        self.scopes[-1][b] = "uint16_t"

    def nested(self, depth: int) -> None:
        """A block of its own."""
        self.block(depth - 1)

    def if_(self, depth: int) -> None:
        """With and without else, with a declaration, or known when it is compiled."""
        if self.chance(0.2):
            name = self.fresh("v")
            self.emit(f"if (uint32_t {name} = {self.expression(2)}; {name} & 1)")
        else:
            self.emit(f"if ({self.expression(3)})")
        self.block(depth - 1)
        if self.chance(0.5):
            self.emit("else" if self.chance(0.6) else f"else if ({self.expression(2)})")
            self.block(depth - 1)

    def _loop(self, depth: int) -> None:
        self.loops += 1
        self.block(depth - 1)
        self.loops -= 1

    def for_(self, depth: int) -> None:
        """Some turns, up or down."""
        name, count = self.fresh("i"), self.random.randint(1, 5)
        self.constants.append({name: "uint32_t"})
        if self.chance(0.6):
            self.emit(f"for (uint32_t {name} = 0; {name} < {count}; ++{name})")
        elif self.chance(0.5):
            self.emit(f"for (int {name} = {count}; {name} >= 0; {name} -= 2)")
        else:
            other = self.fresh("i")
            self.emit(f"for (uint32_t {name} = 0, {other} = 9; {name} < {other}; "
                      f"{name}++, {other} -= 2)")  # fmt: skip
        self._loop(depth)
        self.constants.pop()

    def while_(self, depth: int) -> None:
        """A counter that the body cannot change."""
        name = self.fresh("w")
        self.emit(f"uint32_t {name} = {self.random.randint(1, 4)};")
        self.emit(f"while ({name}-- > 0)")
        self._loop(depth)

    def do(self, depth: int) -> None:
        """At least once."""
        name = self.fresh("w")
        self.emit(f"uint8_t {name} = {self.random.randint(0, 3)};")
        self.emit("do")
        self._loop(depth)
        self.emit(f"while ({name} && {name}--);")

    def range_for(self, depth: int) -> None:
        """Over an array."""
        name, each = self.fresh("a"), self.fresh("e")
        values = ", ".join(str(self.random.randrange(200)) for _ in range(3))
        type_ = self.pick("uint16_t", "uint32_t")
        self.emit(f"{type_} {name}[] = {{{values}}};")
        form = self.pick("auto", "const auto&", "auto&", "uint32_t")
        self.emit(f"for ({form} {each} : {name})")
        target = self.constants if form == "const auto&" else self.scopes
        target.append({each: "uint32_t" if form == "uint32_t" else type_})
        self._loop(depth)
        target.pop()
        self.emit(f"note({name}[0] + {name}[2]);")

    def switch(self, depth: int) -> None:
        """With cases that go on in the next one."""
        self.emit(f"switch (uint32_t({self.expression(2)}) % 5u) {{")
        loops, self.loops = self.loops, 0
        for number in self.random.sample(range(5), self.random.randint(1, 4)):
            self.emit(f"case {number}:")
            self.block(depth - 1)
            if self.chance(0.7):
                self.emit("break;")
        if self.chance(0.6):
            self.emit("default:")
            self.block(depth - 1)
        self.loops = loops
        self.emit("}")

    # --- Functions ------------------------------------------------------------------------------

    def function(self, head: str, parameters: dict[str, str], depth: int) -> None:
        """A function whose body returns a number."""
        listed = ", ".join(f"{type_} {name}" for name, type_ in parameters.items())
        self.emit(f"{head}({listed}) {{")
        start = len(self.lines)
        functions = len(self.functions)
        self.scopes.append(dict(parameters))
        self.constants.append({})
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)
        if self.chance(0.4):
            self.emit(f"if ({self.expression(2)}) return {self.expression(2)};")
        self.emit(f"return {self.expression(2)};\n}}")
        self.scopes.pop()
        self.constants.pop()
        self.objects.clear()
        del self.functions[functions:]
        # Calls are evaluated in any order, so what they note would have none.
        self.lines[start:] = [each.replace("note(", "keep(") for each in self.lines[start:]]

    def declare_functions(self) -> None:
        """Classes and functions that all programs of a kernel use."""
        n, r = self.name, self.random
        classes = _CLASSES.replace("@", n)
        self.emit(
            classes.replace("#1", str(r.randrange(1, 90))).replace("#2", str(r.randrange(2, 9)))
        )
        for kind in (0, 1, 2, r.randrange(3)):
            self.functions += self._declare_function(self.fresh(f"f{n}_"), kind, r.randint(1, 3))
        self.functions += (f"sum{n}", 1), (f"sum{n}", 3), (f"fact{n}<{r.randrange(1, 6)}>", 0)

    def _declare_function(self, name: str, kind: int, count: int) -> list[tuple[str, int]]:
        """What can be called then; functions call those before them."""
        types = {self.fresh("p"): self.pick(*_INTEGERS[:-1]) for _ in range(count)}
        if kind == 0:
            self.function(f"uint32_t {name}", types, 1)
            return [(name, count)]
        if kind == 1:
            head = f"template <typename A, uint32_t N = {self.random.randrange(7)}>"
            self.function(f"{head} uint32_t {name}", dict.fromkeys(types, "A"), 1)
            plain = f"{name}<{self.pick(*_INTEGERS[:-1])}>"
            return [(plain, count), (f"{name}<uint16_t, {self.random.randrange(9)}>", count)]
        self.emit(f"template <int N> uint32_t {name}(uint32_t x) {{")
        self.emit(f"if constexpr (N > {self.random.randrange(4)}) {{ return x * N; }}")
        self.emit("else { return x + sizeof(int[N + 1]); }\n}")
        self.emit(f"template <> uint32_t {name}<2>(uint32_t x) {{ return x ^ 77; }}")
        return [(f"{name}<{self.random.randrange(5)}>", 1), (f"{name}<2>", 1)]

    def program(self) -> str:
        """The name of a function that notes numbers."""
        name = self.fresh(f"run{self.name}_")
        self.emit(f"void {name}()")
        self.block(self.random.randint(0, 2), self.random.randint(1, 3))
        return name


_CLASSES = """
template <typename T> inline void keep(T value) {}
struct P@ { uint8_t a; uint32_t b; uint16_t c[3]; };
class C@ {
    uint32_t value = #1;
    uint16_t step;
public:
    static uint32_t made;
    C@(uint32_t given, uint16_t by) : value(given), step(by) { made += by; }
    uint32_t get() const { return value; }
    C@& add(uint32_t n) { for (uint32_t i = 0; i < n % 3; ++i) value += step; return *this; }
    C@& operator+=(const C@& other) { value += other.value; return *this; }
    friend C@ operator+(C@ a, const C@& b) { a += b; return a; }
    bool operator==(const C@& other) const { return value == other.value && step == other.step; }
    uint32_t operator[](uint32_t i) const { return i ? step : value; }
};
uint32_t C@::made = 0;
template <typename T, int N> struct T@ {
    static constexpr uint32_t size = N * sizeof(T);
    T data[N];
    explicit T@(uint32_t start) { for (int i = 0; i < N; ++i) data[i] = start + i * #2; }
    uint32_t sum() const { uint32_t total = 0; for (T each : data) total += each; return total; }
    template <int F> T scaled() const { return data[0] * F; }
};
template <typename T> struct T@<T, 1> {
    static constexpr uint32_t size = 100;
    T only;
    explicit T@(uint32_t start) : only(start) {}
    uint32_t sum() const { return only; }
    template <int F> T scaled() const { return only + F; }
};
struct D@ : C@ {
    uint8_t extra{3};
    D@(uint32_t n) : C@(n, #2) { extra += n; }
    uint32_t twice() const { return get() * 2 + extra; }
    D@& add(uint32_t n) { C@::add(n + 1); extra ^= 1; return *this; }
};
inline uint32_t take@(C@ object) { object.add(2); return object.get(); }
inline std::pair<uint32_t, uint16_t> split@(uint32_t n) { return {n >> 4, uint16_t(n & 15)}; }
template <typename... A> uint32_t sum@(A... a) { return (0u + ... + uint32_t(a)); }
template <uint32_t N> constexpr uint32_t fact@() {
    if constexpr (N == 0) return 1; else return N * fact@<N - 1>();
}
"""


def make_kernel(seed: int, count: int) -> str:
    """So many programs, one after another; -1 stands between what they note."""
    writer = _Writer(Random(seed), str(seed))
    writer.declare_functions()
    calls = "".join(f"{writer.program()}(); note(-1);\n" for _ in range(count))
    return "\n".join((*writer.lines, f"void kernel_main() {{\n{calls}}}\n"))


_WORD = re.compile(r"[A-Za-z_]\w*|\d\w*|,")
_NAME = re.compile(r"[vabroqelpiw]\d+|f\d+_\d+")
_WIDTHS = ("uint32_t", "uint16_t", "int32_t", "uint8_t")
_METHODS = ("add", "get", "sum", "twice", "size")


def damage(kernel: str, random: Random) -> str:
    """A kernel in which a word of its programs is another one: mostly it is no C++ any more."""
    start = kernel.index("void run")
    number = re.findall(r"class C(\d+)", kernel)[0]
    words = [each for each in _WORD.finditer(kernel) if each.start() > start]
    while True:
        kind, word = random.randrange(6), random.choice(words)
        text = word.group()
        others: tuple[str, ...] = ()
        if kind == 0 and _NAME.fullmatch(text):
            others = (f"{text}x",)
        elif kind == 1 and text in _WIDTHS:
            others = (f"const {text}",)
        elif kind == 2 and text == ",":
            others = ("",)
        elif kind == 3 and text in _METHODS:
            others = ("value", "step", "nothing", "data")
        elif kind == 4 and text in ("auto", "uint32_t", "bool"):
            others = ("void", f"C{number}", "nope_t")
        elif kind == 5 and text.isdecimal():
            others = ("v1", "nope")
        if others:
            return kernel[: word.start()] + random.choice(others) + kernel[word.end() :]
