"""Writing small ttir functions as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ttmlir.optable import DEFINITIONS

ALIASES = """\
#device = #tt.operand_constraint<any_device>
#tile = #tt.operand_constraint<any_device_tile>
#system = #tt.operand_constraint<system|scalar>
"""


def tensor(*shape: int, element: str = "f32") -> str:
    """A tensor type."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


@dataclass
class FunctionText:
    """A function that is written operation by operation; values are their names."""

    arguments: Sequence[str] = ()
    """Types of the arguments `%arg0`, `%arg1` ..."""
    name: str = "f"
    constraint: str = "#device"
    """Accepted by every operand, unless an operation says otherwise."""
    lines: list[str] = field(default_factory=list[str])
    types: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Name the arguments."""
        self.types = {f"%arg{i}": type for i, type in enumerate(self.arguments)}

    def define(self, text: str, type: str) -> str:
        """An operation in full; the name of its result."""
        name = f"%v{len(self.types)}"
        self.lines.append(f"  {name} = {text}")
        self.types[name] = type
        return name

    def empty(self, type: str) -> str:
        """A destination."""
        return self.define(f"tensor.empty() : {type}", type)

    def constant(self, value: str, type: str) -> str:
        """A constant; `value` stands between `dense<` and `>`."""
        text = f'"ttir.constant"() <{{value = dense<{value}> : {type}}}> : () -> {type}'
        return self.define(text, type)

    def op(
        self,
        mnemonic: str,
        inputs: Sequence[str],
        type: str,
        attributes: str = "",
        *,
        out: str = "",
        constraint: str = "",
    ) -> str:
        """An operation in destination-passing style, with a destination of its own by default."""
        out = out or self.empty(type)
        operands = [*inputs, out]
        constraints = ", ".join([constraint or self.constraint] * len(operands))
        properties = [f"operand_constraints = [{constraints}]", *filter(None, [attributes])]
        if DEFINITIONS[mnemonic].family.is_elementwise:
            properties.append(f"operandSegmentSizes = array<i32: {len(inputs)}, 1>")
        types = ", ".join(self.types[operand] for operand in operands)
        return self.define(
            f'"ttir.{mnemonic}"({", ".join(operands)}) <{{{", ".join(properties)}}}> '
            f": ({types}) -> {type}",
            type,
        )

    def returning(self, *values: str) -> str:
        """The text of a module with the function, which returns these values."""
        return ALIASES + self.function(*values)

    def function(self, *values: str) -> str:
        """The text of the function alone."""
        arguments = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(self.arguments))
        types = ", ".join(self.types[value] for value in values)
        lines = "\n".join(self.lines)
        return (
            f"func.func @{self.name}({arguments}) -> ({types}) {{\n{lines}\n"
            f"  return {', '.join(values)} : {types}\n}}\n"
        )
