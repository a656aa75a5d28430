"""Python from the emitpy dialect, with func: what `ttmlir-translate --mlir-to-python` prints."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects import emitpy
from ttmlir.mlir.reporting import OpError
from ttmlir.target.notes import Notes
from ttmlir.terminal import shown_name

_INDENT = "    "
_LISTS = ("utils.create_list", "util.create_list")
"""Calls that are written as displays of lists."""


def emit_python(module: ModuleOp, *, file_id: str = "", notes: Notes | None = None) -> str:
    """The text of a module; `file_id` names the one `emitpy.file` that is written.

    With `notes` variables get short names, and long arguments lines of their own.
    """
    emitter = _Emitter(file_id, notes)
    emitter.module(module)
    return "\n".join(emitter.lines).strip("\n") + "\n"


class _Emitter:
    """Writes operations line by line; each scope names its own variables."""

    def __init__(self, file_id: str, notes: Notes | None = None) -> None:
        self.lines: list[str] = []
        self._notes = notes
        self._last_comment = ""
        self._file_id = file_id
        self._depth = 0
        self._names: dict[SSAValue, str] = {}
        self._globals: set[str] = set()
        self._used: list[dict[str, int]] = [{}]
        self._rules: dict[type[Operation], Callable[..., None]] = {
            emitpy.AssignGlobalOp: self._assign_global,
            emitpy.AssignOp: self._assign,
            emitpy.ClassOp: self._class,
            emitpy.ExpressionOp: self._expression,
            emitpy.FileOp: self._file,
            emitpy.GlobalOp: self._global,
            emitpy.GlobalStatementOp: self._global_statement,
            emitpy.IfOp: self._if,
            emitpy.ImportOp: self._import,
            emitpy.NestedFuncOp: self._nested_function,
            emitpy.NestedFuncReturnOp: self._return,
            emitpy.SetAttrOp: self._set_attr,
            emitpy.VerbatimOp: self._verbatim,
            emitpy.WhileOp: self._while,
            FuncOp: self._function,
            ModuleOp: self.module,
            ReturnOp: self._return,
        }
        self._values: dict[type[Operation], Callable[..., str]] = {
            CallOp: self._call,
            emitpy.CallOpaqueOp: self._call_opaque,
            emitpy.ConstantOp: self._constant,
            emitpy.CreateDictOp: self._dict,
            emitpy.GetAttrOp: self._get_attr,
            emitpy.LiteralOp: self._literal_text,
            emitpy.SubscriptOp: self._subscript,
        }

    def module(self, op: Operation) -> None:
        """Everything in a module."""
        is_after_statement = False
        for each in op.regions[0].blocks[0].ops if op.regions[0].blocks else ():
            is_definition = isinstance(each, FuncOp | emitpy.ClassOp)
            if (is_definition or is_after_statement) and self.lines:
                self._blank(2)
            self._op(each)
            is_after_statement = is_definition

    def _op(self, op: Operation) -> None:
        rule = self._rules.get(type(op))
        if rule is not None:
            rule(op)
            return
        value = self._values.get(type(op))
        if value is None:
            raise OpError(op, f"unable to find printer for op '{op.name}' in Python")
        text = value(op)
        if isinstance(op, emitpy.LiteralOp) and _is_used_once_as_index(op):
            self._names[op.results[0]] = text
            return
        if op.results:
            text = f"{self._declared(op)} = {text}"
        if self._notes is not None:
            text = self._annotated(op, text, self._notes)
        self._line(text)

    def _annotated(self, op: Operation, text: str, notes: Notes) -> str:
        before, after = notes.before(op), notes.after(op)
        if before and before != self._last_comment:
            self._last_comment = before
            text = f"# {before}\n{text}"
        return f"{text}  # {after}" if after else text

    # --- Names ---

    def _declared(self, op: Operation) -> str:
        stem = self._notes.stem(op) if self._notes is not None else ""
        return ", ".join(
            self._declare(result, stem or _stem(op), is_exact=bool(stem)) for result in op.results
        )

    def _declare(self, value: SSAValue, stem: str, *, is_exact: bool = False) -> str:
        used = self._used[-1]
        if self._notes is not None and stem in self._notes.reserved:
            is_exact = False
        if is_exact and stem not in used and stem not in self._globals:
            used[stem] = 0
            self._names[value] = stem
            return stem
        number = used.get(stem, 0)
        name = f"{stem}_{number}"
        while name in used or name in self._globals:
            number += 1
            name = f"{stem}_{number}"
        used[stem], used[name] = number + 1, 0
        self._names[value] = name
        return name

    def _name(self, value: SSAValue) -> str:
        return self._names[value]

    # --- Text ---

    def _line(self, text: str) -> None:
        for line in text.split("\n"):
            self.lines.append(_INDENT * self._depth + line if line else "")

    def _blank(self, count: int) -> None:
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        self.lines += [""] * (count if not self._depth else 1)

    def _suite(self, head: str, ops: Iterable[Operation]) -> None:
        self._line(head)
        self._depth += 1
        before = len(self.lines)
        for op in ops:
            self._op(op)
        if len(self.lines) == before:
            self._line("pass")
        self._depth -= 1

    def _applied(self, callee: str, values: Sequence[SSAValue]) -> str:
        return f"{callee}({', '.join(map(self._name, values))})"

    def _filled(self, value: str, operands: Sequence[SSAValue]) -> str:
        if not operands:
            return value
        pieces = emitpy.pieces_of(value)
        names = [*map(self._name, operands), ""]
        return "".join(piece + name for piece, name in zip(pieces, names, strict=True))

    # --- Values ---

    def _call(self, op: Operation) -> str:
        return self._applied(cast("CallOp", op).callee.root_reference.data, op.operands)

    def _constant(self, op: Operation) -> str:
        return _literal(op.properties["value"])

    def _get_attr(self, op: Operation) -> str:
        return f"{self._name(op.operands[0])}.{_string(op, 'attr_name')}"

    def _literal_text(self, op: Operation) -> str:
        return _string(op, "value")

    def _subscript(self, op: Operation) -> str:
        value, index = map(self._name, op.operands)
        return f"{value}[{index}]"

    def _call_opaque(self, op: Operation) -> str:
        callee, args = _string(op, "callee"), op.properties.get("args")
        if args is None:
            items = [*map(self._name, op.operands)]
        else:
            names = cast("ArrayAttr[StringAttr]", op.properties["keyword_args"]).data
            values = cast("ArrayAttr[Attribute]", args).data
            items = [
                (f"{name.data}=" if name.data else "") + self._argument(op, value)
                for name, value in zip(names, values, strict=True)
            ]
        if callee in _LISTS:
            return f"[{', '.join(items)}]"
        text = f"{callee}({', '.join(items)})"
        if len(_INDENT * self._depth + text) + 24 <= 100 or len(items) < 2:
            return text
        if self._notes is not None:
            width = 99 - len(_INDENT) * self._depth
            items = [_wrapped(item, width - len(_INDENT)) for item in items]
        inner = "".join(f"{_indented(item)},\n" for item in items)
        return f"{callee}(\n{inner})"

    def _argument(self, op: Operation, value: Attribute) -> str:
        number = cast("IntegerAttr", value)
        if isinstance(value, IntegerAttr) and isinstance(number.type, IndexType):
            return self._name(op.operands[number.value.data])
        return _literal(cast("Attribute", value))

    def _dict(self, op: Operation) -> str:
        if "literal_expr" in op.properties:
            return _string(op, "literal_expr")
        names = [*map(self._name, op.operands)]
        pairs = zip(names[::2], names[1::2], strict=True)
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"

    # --- Statements ---

    def _import(self, op: Operation) -> None:
        self._line(cast("emitpy.ImportOp", op).python())

    def _assign(self, op: Operation) -> None:
        if op.results:
            self._line(f"{self._declared(op)} = {self._name(op.operands[0])}")
        else:
            target, value = map(self._name, op.operands)
            self._line(f"{target} = {value}")

    def _set_attr(self, op: Operation) -> None:
        target, value = map(self._name, op.operands)
        self._line(f"{target}.{_string(op, 'attr_name')} = {value}")

    def _verbatim(self, op: Operation) -> None:
        self._line(self._filled(_string(op, "value"), op.operands))

    def _global(self, op: Operation) -> None:
        name = _checked(op, _string(op, "sym_name"))
        self._globals.add(name)
        self._line(f"{name} = {_literal(op.properties['initial_value'])}")

    def _global_statement(self, op: Operation) -> None:
        name = _symbol(op)
        self._line(f"global {name}")
        self._names[op.results[0]] = name

    def _assign_global(self, op: Operation) -> None:
        self._line(f"{_symbol(op)} = {self._name(op.operands[0])}")

    def _file(self, op: Operation) -> None:
        name = _string(op, "id")
        if self._file_id in ("", name):
            if not self._file_id:
                self._line(f"# File: {name!r}")
            self.module(op)

    def _expression(self, op: Operation) -> None:
        block = op.regions[0].blocks[0]
        for argument, operand in zip(block.args, op.operands, strict=True):
            self._names[argument] = self._name(operand)
        *inside, end = block.ops
        for each in inside:
            self._names[each.results[0]] = self._values[type(each)](each)
        text = self._name(end.operands[0])
        if "do_not_inline" in op.properties or not op.results[0].has_one_use():
            self._line(f"{self._declared(op)} = {text}")
        else:
            self._names[op.results[0]] = text

    def _if(self, op: Operation) -> None:
        condition = self._filled(_string(op, "condition"), op.operands)
        self._suite(f"if {condition}:", _without_end(op.regions[0].blocks[0]))
        if op.regions[1].blocks:
            self._suite("else:", _without_end(op.regions[1].blocks[0]))

    def _while(self, op: Operation) -> None:
        assert isinstance(op, emitpy.WhileOp)
        block = op.regions[0].blocks[0]
        others = [*op.operands][: len(op.operands) - len(op.results)]
        for argument, result, init in zip(block.args, op.results, op.inits(), strict=True):
            name = self._declare(result, "carried")
            self._names[argument] = name
            self._line(f"{name} = {self._name(init)}")
        if "trip_count" in op.properties:
            count = cast("IntegerAttr", op.properties["trip_count"]).value.data
            head = f"for _ in range({count}):"
        else:
            head = f"while {self._filled(_string(op, 'condition'), [*others, *block.args])}:"
        self._suite(head, _without_end(block))
        end = block.last_op
        if end is not None and end.operands:
            self._depth += 1
            targets = ", ".join(map(self._name, block.args))
            self._line(f"{targets} = {', '.join(map(self._name, end.operands))}")
            self._depth -= 1

    def _return(self, op: Operation) -> None:
        names = ", ".join(map(self._name, op.operands))
        self._line(f"return {names}".rstrip())

    def _function(self, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        # Others refer to a function by its name, which is to be no more than a name.
        function = _checked(op, op.sym_name.data)
        if not op.body.blocks:
            return
        if len(op.body.blocks) > 1:
            raise OpError(op, "only functions of one block can be written in Python")
        block = op.body.blocks[0]
        self._used.append({})
        self._last_comment = ""
        names = [
            self._declare(argument, self._argument_name(op, number, argument), is_exact=True)
            for number, argument in enumerate(block.args)
        ]
        if isinstance(op.parent_op(), emitpy.ClassOp):
            kind = emitpy.method_kind(op)
            if kind != "instance":
                self._line(f"@{kind}")
        self._suite(f"def {function}({', '.join(names)}):", block.ops)
        self._used.pop()

    def _argument_name(self, op: FuncOp, number: int, argument: SSAValue) -> str:
        given = emitpy.argument_name(op, number)
        if given:
            return _checked(op, given)
        return _ARGUMENTS.get(str(argument.type), f"arg{number}")

    def _nested_function(self, op: Operation) -> None:
        block = op.regions[0].blocks[0]
        name = self._declare(op.results[0], "nested_func")
        names = [self._declare(argument, "inner") for argument in block.args]
        self._suite(f"def {name}({', '.join(names)}):", block.ops)

    def _class(self, op: Operation) -> None:
        assert isinstance(op, emitpy.ClassOp)
        bases = [
            base.root_reference.data if isinstance(base, SymbolRefAttr) else _literal(base)
            for base in op.bases()
        ]
        head = f"class {_checked(op, _string(op, 'sym_name'))}"
        head += f"({', '.join(bases)}):" if bases else ":"
        self._line(head)
        self._depth += 1
        before = len(self.lines)
        for number, each in enumerate(op.regions[0].blocks[0].ops):
            if number:
                self._blank(1)
            self._op(each)
        if len(self.lines) == before:
            self._line("pass")
        self._depth -= 1


_ARGUMENTS = {
    str(emitpy.opaque_type("[ttnn.Tensor]")): "input",
    str(emitpy.opaque_type("ttnn.MeshDevice")): "device",
}
"""What arguments of functions are called by their types."""


def _indented(text: str) -> str:
    return "\n".join(_INDENT + line for line in text.split("\n"))


def _wrapped(text: str, width: int) -> str:
    """A call or a list with its items in lines of their own, where it is longer than a line."""
    start = re.match(r"[\w.=]*[(\[]", text)
    if len(text) <= width or start is None or text[-1] not in ")]":
        return text
    items = _split_items(text[start.end() : -1])
    inner = "".join(f"{_indented(_wrapped(item, width - len(_INDENT)))},\n" for item in items)
    return f"{start.group()}\n{inner}{text[-1]}"


def _split_items(text: str) -> list[str]:
    """What the commas outside of brackets and strings divide."""
    items, depth, first = list[str](), 0, 0
    for found in re.finditer(r"\"(?:\\.|[^\"])*\"|'(?:\\.|[^'])*'|[](){}[]|, ", text):
        mark = found.group()
        if mark == ", " and not depth:
            items.append(text[first : found.start()])
            first = found.end()
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
    return [*items, text[first:]]


def _checked(op: Operation, name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise OpError(op, f"'{shown_name(name)}' is no name in Python; rename it")
    return name


def _string(op: Operation, name: str) -> str:
    return cast("StringAttr", op.properties[name]).data


def _symbol(op: Operation) -> str:
    return cast("SymbolRefAttr", op.properties["name"]).root_reference.data


def _without_end(block: Block) -> list[Operation]:
    return [op for op in block.ops if not isinstance(op, emitpy.YieldOp | emitpy.WhileYieldOp)]


def _is_used_once_as_index(op: Operation) -> bool:
    uses = [use.operation for use in op.results[0].uses]
    return bool(uses) and all(isinstance(use, emitpy.SubscriptOp) for use in uses)


def _stem(op: Operation) -> str:
    """What a variable is called: after its function, or as the operation says."""
    name = op.attributes.get(emitpy.NAME)
    if isinstance(name, StringAttr) and name.data.isidentifier():
        return name.data
    match op:
        case emitpy.CallOpaqueOp():
            stem = _string(op, "callee")
        case CallOp():
            stem = op.callee.root_reference.data
        case emitpy.CreateDictOp():
            stem = _string(op, "dict_name")
        case emitpy.ConstantOp() | emitpy.LiteralOp():
            stem = "const"
        case _:
            stem = "var"
    stem = re.sub(r"\W", "_", stem)
    return f"{stem}_" if keyword.iskeyword(stem) or not stem.isidentifier() else stem


def _literal(attr: Attribute) -> str:
    match attr:
        case emitpy.OpaqueAttr():
            return attr.value.data
        case StringAttr():
            return repr(attr.data)
        case IntegerAttr() if str(attr.type) == "i1":
            return str(bool(attr.value.data))
        case IntegerAttr() | FloatAttr():
            value = attr.value.data
            return f'float("{value}")' if value != value or value in (1e999, -1e999) else str(value)
        case ArrayAttr():
            return f"[{', '.join(map(_literal, attr.data))}]"
        case _:
            return str(attr)
