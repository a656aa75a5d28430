"""Random kernels in Python on integers, whose meaning CPython defines.

Divisors are 0 only where the kernel does not come, shifts are small, indices are inside, loops are
short. All results are printed. Integers of a core have 32 bits and wrap around;
`oracles.python_oracle` lets CPython compute so.
"""

from __future__ import annotations

import random

_NAMES = ("a", "b", "c", "d")
_ARRAYS = ("u", "v")
_TABLE = "(3, -1, 4, 1, -5, 9, 2, 6)"
SIZE = 8


class PythonKernel:
    """Writes the source of one kernel, and of the functions that it calls."""

    def __init__(self, choices: random.Random, note: str = "") -> None:
        """Equal choices give equal kernels; `note` is a call of one number to print with."""
        self.note = note
        self.random = choices
        self.lines: list[str] = []
        self.indent = 0
        self.names: list[str] = []
        self.counters = 0
        self.loops = 0
        self.functions: list[str] = []
        self.searches: list[str] = []
        self.in_function = False

    def text(self) -> str:
        """The module: a function `kernel()` without decorator."""
        self.line(f"TABLE = {_TABLE}")
        self.line("LIMIT = 40")
        self.line("ZERO = 0")
        for index in range(self.random.randint(0, 3)):
            self.function(f"f{index}")
        if self.random.random() < 0.5:
            self.search("g")
        self.line("def kernel():")
        self.indent = 1
        self.names = []
        for index, name in enumerate(_NAMES):
            style = self.random.randint(0, 2)
            value = f"get_arg_val(int, {index})"
            if style == 0:
                self.line(f"{name}: int = {value}")
            elif style == 1:
                self.line(f"{name} = {value}")
            else:
                self.line(f"{name} = {self.random.randint(-9, 9)}")
            self.names.append(name)
        self.line(f"u = [{', '.join(str(self.random.randint(-9, 9)) for _ in range(SIZE))}]")
        self.line("v = [0] * 8")
        self.line("w = [[1, 2, 3], [4, 5, 6]]")
        self.block(self.random.randint(4, 8), 3)
        self.print(*_NAMES)
        self.line("for i in range(8):")
        self.indent += 1
        self.print("u[i]", "v[i]")
        self.indent -= 1
        self.line("for row in w:")
        self.line("    for x in row:")
        self.indent += 2
        self.print("x")
        return "\n".join(self.lines) + "\n"

    # Pieces.

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.indent + text)

    def print(self, *values: str) -> None:
        """Print numbers."""
        if not self.note:
            self.line(f"print({', '.join(values)})")
        for value in values if self.note else ():
            self.line(f"{self.note}({value})")

    def pick(self, *choices: str) -> str:
        """One of some texts."""
        return self.random.choice(choices)

    def function(self, name: str) -> None:
        """A function of two numbers, which may return early."""
        self.line(f"def {name}(a, b=7):")
        self.indent += 1
        self.names, self.in_function = ["a", "b"], True
        self.block(self.random.randint(1, 3), 2)
        self.line(f"return {self.bounded()}")
        self.names, self.in_function = [], False
        self.indent -= 1
        self.functions.append(name)

    def search(self, name: str) -> None:
        """A function of an array, which it changes, with a return inside of a loop."""
        self.line(f"def {name}(t, a, b=7):")
        self.indent += 1
        self.names, self.in_function = ["a", "b"], True
        self.line("for j in range(8):")
        self.indent += 1
        self.line(f"if t[j] {self.pick('>', '==', '<')} a:")
        self.line(f"    return {self.pick('j', 't[j] - b', 'b')}")
        self.line(f"t[j] {self.pick('=', '+=', '-=')} {self.leaf()}")
        self.block(1, 1, jumps=True)
        self.indent -= 1
        self.line(f"return {self.bounded()}")
        self.names, self.in_function = [], False
        self.indent -= 1
        self.searches.append(name)

    # Statements.

    def block(self, count: int, depth: int, jumps: bool = False) -> None:
        """Some statements."""
        self.indent += self.indent == 0
        for _ in range(count):
            self.statement(depth, jumps)

    def nested(self, depth: int, jumps: bool) -> None:
        """The body of a branch or loop."""
        self.indent += 1
        names = list(self.names)
        self.block(self.random.randint(1, 3), depth - 1, jumps)
        self.names = names
        self.indent -= 1

    def statement(self, depth: int, jumps: bool) -> None:
        """One statement."""
        kinds = ["assign", "assign", "augment", "swap", "print", "several", "excluded"]
        if not self.in_function:
            kinds += ["element", "matrix", "exchange"]
        if depth > 0:
            kinds += ["if", "if", "for", "while"]
        if jumps:
            kinds += ["jump", "jump"]
        if self.in_function and depth < 2:
            kinds.append("return")
        getattr(self, f"write_{self.random.choice(kinds)}")(depth, jumps)

    def target(self) -> str:
        """A name that can be set."""
        return self.random.choice([name for name in self.names if name in _NAMES])

    def write_assign(self, depth: int, jumps: bool) -> None:
        """Set a name."""
        kind = self.random.randint(0, 5)
        if kind == 0:
            self.line(f"{self.target()} = {self.expression(3)}")
        elif kind == 1 and not self.in_function:
            # Of constants alone, as arguments of functions may be, this would be refused.
            large = self.pick("70001", "-2147483647", "1 << 30", "0x7fffffff", "65537 * 32003")
            factor = self.pick(*_NAMES, *(name for name in self.names if name[0] == "i"))
            self.line(f"{self.target()} = {factor} * ({large}) {self.pick('+', '-', '^')} 5")
        else:
            self.line(f"{self.target()} = {self.bounded()}")

    def write_augment(self, depth: int, jumps: bool) -> None:
        """Change a name."""
        name = self.target()
        operator = self.pick("+", "-", "^", "|", "&", "*")
        self.line(f"{name} {operator}= {self.leaf()}")
        change = self.pick("%= 1009", "//= 3", "//= -7", ">>= 2", "<<= 5", "**= 2", "%= -13")
        self.line(f"{name} {change}")

    def write_several(self, depth: int, jumps: bool) -> None:
        """Set several names to one value, or names in pairs."""
        names = self.target(), self.target(), self.target()
        if self.random.random() < 0.5:
            self.line(f"{names[0]} = {names[1]} = {self.bounded()}")
        else:
            values = self.leaf(), self.bounded(), self.leaf()
            self.line(
                f"({names[0]}, {names[1]}), {names[2]} = ({values[0]}, {values[1]}), {values[2]}"
            )

    def write_exchange(self, depth: int, jumps: bool) -> None:
        """Exchange an element and a name; the index is computed before or after the name is set."""
        place, name = f"{self.pick(*_ARRAYS)}[{self.index()}]", self.target()
        targets = self.pick(f"{place}, {name}", f"{name}, {place}")
        self.line(f"{targets} = {self.leaf()}, {place}")

    def write_excluded(self, depth: int, jumps: bool) -> None:
        """Numbers that no operator takes, where the kernel does not come."""
        self.counters += 1
        name, test, leaf = f"z{self.counters}", self.condition(1), self.leaf()
        wrong = self.pick(
            f"{leaf} // ZERO",
            f"{leaf} % {name}",
            f"70 // {name}",
            f"{leaf} << ({name} - 1)",
            "3 >> (ZERO - 2)",
            f"{leaf} ** (ZERO - 1)",
            "TABLE[ZERO - 9]",
        )
        self.line(f"{name} = 0")
        kind = self.random.randint(0, 4)
        if kind == 0:
            self.line(f"{self.target()} = {wrong} if {name} else {self.leaf()}")
            return
        heads = (
            f"if {name} != 0 and ({test}):",
            f"if ({test}) and ZERO != 0:",
            f"for {name}{name} in range({name}):",
            f"while {name} > 0 and ({test}):",
        )
        self.line(heads[kind - 1])
        self.line(f"    {self.target()} = {wrong}")

    def write_swap(self, depth: int, jumps: bool) -> None:
        """Set two names at once."""
        self.line(f"{self.target()}, {self.target()} = {self.bounded()}, {self.leaf()}")

    def write_print(self, depth: int, jumps: bool) -> None:
        """Print."""
        if self.in_function or self.note:
            self.print(self.leaf())
        else:
            self.line(f'print(f"{{{self.leaf()}}} {{{self.leaf()}}}")')

    def write_element(self, depth: int, jumps: bool) -> None:
        """Set an element."""
        place = f"{self.pick(*_ARRAYS)}[{self.index()}]"
        if self.random.random() < 0.3:
            self.line(f"{place} += {self.leaf()} % 100")
        else:
            self.line(f"{place} = {self.bounded()}")

    def write_matrix(self, depth: int, jumps: bool) -> None:
        """Set an element of two dimensions."""
        row, column = self.pick("0", "1", f"{self.leaf()} & 1"), self.pick("0", "2", "-1")
        self.line(f"w[{row}][{column}] = {self.bounded()}")

    def write_if(self, depth: int, jumps: bool) -> None:
        """A branch."""
        self.line(f"if {self.condition(2)}:")
        self.nested(depth, jumps)
        if self.random.random() < 0.3:
            self.line(f"elif {self.condition(1)}:")
            self.nested(depth, jumps)
        if self.random.random() < 0.5:
            self.line("else:")
            self.nested(depth, jumps)

    def write_for(self, depth: int, jumps: bool) -> None:
        """A counting loop, or one over a table."""
        self.counters += 1
        name = f"i{self.counters}"
        kind = self.random.randint(0, 4)
        if kind == 0:
            self.line(f"for {name} in TABLE:")
        elif kind == 1:
            self.line(f"for {name} in range({self.leaf()} % 5):")
        elif kind == 2:
            self.line(f"for {name} in range({self.leaf()} % 5, {self.leaf()} % 9, 2):")
        elif kind == 3:
            self.line(f"for {name} in range({self.leaf()} % 9, {self.leaf()} % 5 - 3, -3):")
        else:
            target = self.target()
            self.line(f"for {target} in range(1, {self.leaf()} % 4):")
            name = target
        outer = list(self.names)
        self.names = [*outer, name]
        self.nested(depth, True)
        self.names = outer
        if self.random.random() < 0.2:
            self.line("else:")
            self.nested(1, jumps)

    def write_while(self, depth: int, jumps: bool) -> None:
        """A loop that a counter ends."""
        self.counters += 1
        counter = f"n{self.counters}"
        self.line(f"{counter} = {self.random.randint(0, 5)}")
        test = self.condition(1)
        head = self.pick(f"{counter} > 0", f"{counter} > 0 and ({test})", "True")
        self.line(f"while {head}:")
        self.indent += 1
        self.line(f"{counter} -= 1")
        if head == "True":
            self.line(f"if {counter} < 0:")
            self.line("    break")
        self.indent -= 1
        outer = list(self.names)
        self.names = [*outer, counter]
        self.nested(depth, True)
        self.names = outer
        if self.random.random() < 0.2:
            self.line("else:")
            self.nested(1, jumps)

    def write_jump(self, depth: int, jumps: bool) -> None:
        """Leave or go on, or do so on a condition."""
        word = self.pick("break", "continue")
        if self.random.random() < 0.7:
            self.line(f"if {self.condition(1)}:")
            self.line(f"    {word}")
        else:
            self.line(word)

    def write_return(self, depth: int, jumps: bool) -> None:
        """Return early."""
        self.line(f"if {self.condition(1)}:")
        self.line(f"    return {self.bounded()}")

    # Expressions.

    def bounded(self) -> str:
        """An expression of a small value."""
        return f"({self.expression(3)}) % {self.pick('1009', '977', '-853', '512')}"

    def index(self) -> str:
        """An index inside of the arrays."""
        name = self.random.choice(self.names)
        return self.pick("0", "7", "-1", "-8", f"{name} % 8", f"{name} & 7")

    def leaf(self) -> str:
        """A small value."""
        kinds = [self.random.choice(self.names)] * 3
        kinds += [
            str(self.random.randint(-20, 40)),
            "LIMIT",
            f"TABLE[{self.index()}]",
            "len(TABLE)",
        ]
        if not self.in_function:
            kinds += [f"{self.pick(*_ARRAYS)}[{self.index()}]", "w[1][2]", "w[0][-1]"]
        return self.random.choice(kinds)

    def expression(self, depth: int) -> str:
        """A value of at most about 2**28."""
        if depth == 0:
            return self.leaf()
        first, second = self.expression(depth - 1), self.leaf()
        choices = [
            f"({first} {self.pick('+', '-', '^', '|', '&')} {second})",
            f"(({first}) % ({second} * 2 + 1))",
            f"(({first}) // ({second} * 2 + 1))",
            f"(({first}) // {self.pick('4', '7', '-3', '-8')})",
            f"(({first}) % {self.pick('4', '7', '-3', '-8')})",
            f"(({self.leaf()}) * ({second}))",
            f"(({self.leaf()} & 15) << ({second} & 3))",
            f"(({first}) >> ({second} & 7))",
            f"({self.pick('-', '~', '+')}({first}))",
            f"({first} if {self.condition(1)} else {second})",
            f"{self.pick('min', 'max')}({first}, {second}, {self.leaf()})",
            f"abs({first})",
            f"(abs({first}) * 65539 // {self.pick('7', '11')})",
            f"int({self.condition(1)})",
            f"({second} {self.pick('and', 'or')} {self.leaf()})",
            f"(({second} & 7) ** 2)",
        ]
        if self.functions:
            name = self.random.choice(self.functions)
            arguments = self.pick(f"{second}", f"{second}, {self.leaf()}", f"b=2, a={second}")
            choices.append(f"{name}({arguments})")
        if self.searches and not self.in_function:
            choices.append(f"g({self.pick(*_ARRAYS)}, {second})")
        return self.random.choice(choices)

    def condition(self, depth: int) -> str:
        """A truth value."""
        first, second, third = self.leaf(), self.leaf(), self.leaf()
        compare = self.pick("<", "<=", ">", ">=", "==", "!=")
        choices = [
            f"{first} {compare} {second}",
            f"{first} < {second} {self.pick('<=', '!=', '>')} {third}",
            f"{first} {compare} {second} <= {third} != {self.leaf()}",
            f"{first} in (1, 2, 3)",
            f"{first} not in TABLE",
            first,
        ]
        if depth > 0:
            inner, other = self.condition(depth - 1), self.condition(depth - 1)
            choices += [
                f"({inner}) {self.pick('and', 'or')} ({other})",
                f"not ({inner})",
            ]
            if not self.in_function:
                place = f"{self.pick(*_ARRAYS)}[{self.index()}]"
                choices.append(f"({place} != 0 and {first} // {place} > 1)")
        return self.random.choice(choices)
