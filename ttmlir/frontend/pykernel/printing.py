"""What `print` in a kernel prints: one text, with places for values."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from ttmlir.dialects.ttkernel import CBType
from ttmlir.frontend.pykernel.expressions import Expressions
from ttmlir.frontend.pykernel.values import Items, Scalar, Static, Value, describe

_FIELD = re.compile(r"\{\{|\}\}|\{(\d*)\}|[{}]")


@dataclass
class _Text:
    pieces: list[str] = field(default_factory=list[str])
    values: list[Scalar] = field(default_factory=list[Scalar])


class Printing(Expressions):
    """Compiles calls of `print`."""

    def print_call(self, node: ast.Call) -> None:
        """Print texts and numbers."""
        separator, end = " ", "\n"
        for keyword in node.keywords:
            value = self.value(keyword.value)
            match keyword.arg, value:
                case "sep", Static(value=str(text)):
                    separator = text
                case "end", Static(value=str(text)):
                    end = text
                case _:
                    self.builder.refuse(
                        "print(...) in a kernel takes texts for 'sep' and 'end' and nothing else "
                        "by name",
                        keyword.value,
                    )
        text = _Text()
        for index, argument in enumerate(node.args):
            if index:
                self._add_text(text, separator, node)
            self._add(text, argument)
        self._add_text(text, end, node)
        self.builder.at(node)
        self.calls.print("".join(text.pieces), text.values)

    def _add(self, text: _Text, node: ast.expr) -> None:
        match node:
            case ast.JoinedStr(values=parts):
                for part in parts:
                    self._add(text, part)
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                if spec is not None or conversion != -1:
                    self.builder.refuse(
                        "a core prints numbers as they are; leave the format out", node
                    )
                self._add_value(text, self.value(value), value)
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(pattern)), attr="format")
            ):
                self._add_format(text, pattern, node)
            case _:
                self._add_value(text, self.value(node), node)

    def _add_format(self, text: _Text, pattern: str, node: ast.Call) -> None:
        """`"...".format(...)`, with plain or numbered fields."""
        if node.keywords:
            self.builder.refuse("fields in a kernel have no names; use {} or an f-string", node)
        position, count = 0, 0
        for match in _FIELD.finditer(pattern):
            self._add_text(text, pattern[position : match.start()], node)
            position = match.end()
            if match[0] in ("{{", "}}"):
                self._add_text(text, match[0][0], node)
                continue
            if match[1] is None:
                self.builder.refuse("a core prints numbers as they are; use {} alone", node)
            index = int(match[1]) if match[1] else count
            count += 1
            if index >= len(node.args):
                self.builder.refuse(f"there is no value for field {index} of this text", node)
            self._add(text, node.args[index])
        self._add_text(text, pattern[position:], node)

    def _add_value(self, text: _Text, value: Value, node: ast.expr) -> None:
        match value:
            case Static(value=str(piece)):
                self._add_text(text, piece, node)
            case Scalar(type=type_) if not isinstance(type_, CBType) and (
                value.is_number or type_.name == "ttkernel.noc_addr"
            ):
                text.pieces.append("{}")
                text.values.append(value)
            case Items(elements=elements):
                for index, each in enumerate(elements):
                    self._add_text(text, ", " if index else "(", node)
                    self._add_value(text, each, node)
                self._add_text(text, ")", node)
            case _:
                self.builder.refuse(f"a core prints texts and numbers, not {describe(value)}", node)

    def _add_text(self, text: _Text, piece: str, node: ast.expr) -> None:
        if "{}" in piece or (text.pieces and text.pieces[-1] == "{" and piece.startswith("}")):
            self.builder.refuse("a text that is printed must not contain '{}' itself", node)
        text.pieces.append(piece)
