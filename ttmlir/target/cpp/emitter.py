"""C++ from the emitc dialect, with func and cf: what `ttmlir-translate --mlir-to-cpp` prints.

The text is that of MLIR's own emitter (mlir/lib/Target/Cpp/TranslateToCpp.cpp, LLVM 19), blank
lines and superfluous semicolons included, except that

- a function without body is declared, not defined with an empty body;
- `*` and `&` apply to nested expressions;
- 16-bit floats have the names that LLVM 20 gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.nesting import deep_recursion
from ttmlir.target.cpp.expressions import (
    ExpressionRenderer,
    elements_of,
    is_expression_part,
    is_inlined,
    property_of,
    string_text,
    text_of,
)
from ttmlir.target.cpp.literals import literal_text
from ttmlir.target.cpp.names import Names
from ttmlir.target.cpp.types import declaration_text, result_text, type_text

_INDENT = "  "

# Operations without a line of their own: their text stands where their result is used.
_DEFERRED = frozenset({"emitc.get_global", "emitc.literal", "emitc.subscript"})

# In the body of a function these end without a semicolon.
_BLOCK_LIKE = frozenset(
    {"cf.cond_br", "emitc.declare_func", "emitc.for", "emitc.if", "emitc.verbatim"}
)


def emit_cpp(
    module: ModuleOp,
    *,
    declare_variables_at_top: bool = False,
    elide_above: int | None = None,
) -> str:
    """The C++ text of a module.

    With `declare_variables_at_top` all variables of a function stand at its head, which functions
    of several blocks need. Constants of more than `elide_above` elements are left out of the text.
    An operation, type or attribute without a C++ form raises the error of that operation.
    """
    emitter = _Emitter(declare_variables_at_top, elide_above)
    with deep_recursion():
        emitter.emit(module, semicolon=False)
    return "".join(emitter.pieces)


class _Emitter:
    """Appends pieces of text; a method per operation that is a statement."""

    def __init__(self, variables_at_top: bool, elide_above: int | None) -> None:
        self.pieces = list[str]()
        self.variables_at_top = variables_at_top
        self.elide_above = elide_above
        self.names = Names()
        self.indent = ""
        self.expressions = ExpressionRenderer(self.names.of, self.literal)

    def literal(self, attribute: Attribute) -> str:
        return literal_text(attribute, elide_above=self.elide_above)

    def emit(self, op: Operation, *, semicolon: bool) -> None:
        """Write one operation; the caller says whether a semicolon ends it."""
        try:
            written = self._statement(op)
        except CannotEmitError as error:
            raise OpError(op, str(error)) from error
        if written:
            self.pieces.append(";\n" if semicolon else "\n")

    def _statement(self, op: Operation) -> bool:
        """Write an operation up to its end of line; False if it has no text here."""
        if op.name in _DEFERRED:
            self.names.define(op.results[0], self._deferred_text(op))
            return False
        if op.name == "emitc.expression":
            if is_inlined(op):
                return False
            self._assign(op, self.expressions.render_region(op))
        elif is_expression_part(op):
            self._assign(op, self.expressions.render(op))
        elif (statement := _STATEMENTS.get(op.name)) is not None:
            statement(self, op)
        else:
            raise CannotEmitError(
                "unable to find printer for op; C++ is printed from the dialects emitc, func and cf"
            )
        return True

    def _deferred_text(self, op: Operation) -> str:
        match op.name:
            case "emitc.literal":
                return text_of(op, "value")
            case "emitc.get_global":
                return text_of(op, "name")
            case _:
                array, *indices = map(self.names.of, op.operands)
                return array + "".join(f"[{index}]" for index in indices)

    # Text.

    def line_start(self, text: str) -> None:
        """Begin a line in the current indentation."""
        self.pieces.append(self.indent + text)

    def line(self, text: str) -> None:
        """Write a whole line in the current indentation."""
        self.pieces.append(f"{self.indent}{text}\n")

    @contextmanager
    def indented(self) -> Generator[None]:
        outer = self.indent
        self.indent = outer + _INDENT
        yield
        self.indent = outer

    # Variables.

    def _declare(self, value: SSAValue) -> str:
        return declaration_text(value.type, self.names.declare(value))

    def _assign(self, op: Operation, text: str) -> None:
        """Write the results of an operation as variables that get a value."""
        self.line_start(self._assignment_start(op) + text)

    def _assignment_start(self, op: Operation) -> str:
        match op.results:
            case ():
                return ""
            case (result,) if self.variables_at_top:
                return f"{self.names.of(result)} = "
            case (result,):
                return f"{self._declare(result)} = "
            case results:
                if not self.variables_at_top:
                    for result in results:
                        self.line(f"{self._declare(result)};")
                return f"std::tie({', '.join(map(self.names.of, results))}) = "

    def _declare_all_in(self, op: Operation) -> None:
        for nested in _variables_in(op):
            for result in nested.results:
                self.line(f"{self._declare(result)};")

    # Statements.

    def module(self, op: Operation) -> None:
        with self.names.scope():
            for nested in op.regions[0].block.ops:
                self.emit(nested, semicolon=False)

    def include(self, op: Operation) -> None:
        path = text_of(op, "include")
        standard = property_of(op, "is_standard_include") is not None
        self.line_start(f"#include <{path}>" if standard else f'#include "{path}"')

    def verbatim(self, op: Operation) -> None:
        first, *others = text_of(op, "value").split("\n")
        self.line_start(first)
        self.pieces.extend(f"\n{self.indent if line else ''}{line}" for line in others)

    def constant(self, op: Operation) -> None:
        """A constant or variable; an empty opaque value leaves it without initial value."""
        value = property_of(op, "value")
        if value is None:
            raise CannotEmitError("requires attribute 'value'")
        text = self.literal(value)
        if text:
            self._assign(op, text)
        else:
            self.line_start("" if self.variables_at_top else self._declare(op.results[0]))

    def call(self, op: Operation) -> None:
        self._assign(op, self.expressions.call(op)[0])

    def assign(self, op: Operation) -> None:
        variable, value = op.operands
        self.line_start(f"{self.names.of(variable)} = {self.expressions.operand(value)}")

    def global_variable(self, op: Operation) -> None:
        specifiers = "".join(
            f"{word} "
            for word in ("extern", "static", "const")
            if property_of(op, f"{word}_specifier") is not None
        )
        type_, value = property_of(op, "type"), property_of(op, "initial_value")
        if type_ is None:
            raise CannotEmitError("requires attribute 'type'")
        text = specifiers + declaration_text(type_, text_of(op, "sym_name"))
        initial = "" if value is None else f" = {self.literal(value)}"
        self.line_start(f"{text}{initial};")

    def loop(self, op: Operation) -> None:
        lower, upper, step = op.operands
        body = op.regions[0].block
        name = self.names.declare(body.args[0])
        limit = self.expressions.operand(upper)
        if isinstance(upper.owner, Operation) and is_inlined(upper.owner):
            limit = f"({limit})"
        self.line(
            f"for ({type_text(body.args[0].type)} {name} = {self.expressions.operand(lower)}; "
            f"{name} < {limit}; {name} += {self.expressions.operand(step)}) {{"
        )
        self._nested(op.regions[0])

    def branch_if(self, op: Operation) -> None:
        self.line(f"if ({self.expressions.operand(op.operands[0])}) {{")
        self._nested(op.regions[0])
        if len(op.regions) > 1 and op.regions[1].blocks:
            self.pieces.append(" else {\n")
            self._nested(op.regions[1])

    def _nested(self, region: Region) -> None:
        """The operations of a loop or branch but the last, which is a yield; and the brace."""
        with self.indented():
            for op in region.block.ops:
                if op.next_op is not None:
                    self.emit(op, semicolon=True)
        self.line_start("}")

    def branch(self, op: Operation) -> None:
        self._pass_arguments(op.successors[0], op.operands)
        self.line_start(f"goto {self.names.label(op.successors[0])}")

    def conditional_branch(self, op: Operation) -> None:
        condition, *values = op.operands
        true, false = op.successors
        self.line(f"if ({self.expressions.operand(condition)}) {{")
        self._jump(true, values[: len(true.args)])
        self.line("} else {")
        self._jump(false, values[len(true.args) :])
        self.line_start("}")

    def _jump(self, target: Block, values: Iterable[SSAValue]) -> None:
        with self.indented():
            self._pass_arguments(target, values)
            self.line(f"goto {self.names.label(target)};")

    def _pass_arguments(self, target: Block, values: Iterable[SSAValue]) -> None:
        for argument, value in zip(target.args, values, strict=True):
            self.line(f"{self.names.of(argument)} = {self.names.of(value)};")

    def return_values(self, op: Operation) -> None:
        match list(op.operands):
            case []:
                self.line_start("return")
            case [value]:
                self.line_start(f"return {self.expressions.operand(value)}")
            case values:
                named = (f"/* {k} */{self.literal(v)}" for k, v in op.attributes.items())
                listed = ", ".join((self.expressions.operands(values), *named))
                self.line_start(f"return std::make_tuple({listed})")

    # Functions.

    def declare_function(self, op: Operation) -> None:
        function = SymbolTable.lookup_symbol(op, text_of(op, "sym_name"))
        if function is None or function.name != "emitc.func":
            raise CannotEmitError(f"there is no emitc.func @{text_of(op, 'sym_name')} to declare")
        with self.names.scope():
            arguments = _body_of(function)[0].args if _body_of(function) else None
            self.line_start(self._signature(function, arguments) + ";")

    def function(self, op: Operation) -> None:
        blocks = _body_of(op)
        if len(blocks) > 1 and not self.variables_at_top:
            raise CannotEmitError(
                "with multiple blocks needs variables declared at top; "
                "add --declare-variables-at-top"
            )
        with self.names.scope():
            if not blocks:
                self.line_start(self._signature(op, None) + ";")
                return
            self.line(self._signature(op, blocks[0].args) + " {")
            with self.indented():
                self._body(op, blocks)
            self.line("}")

    def _signature(self, function: Operation, arguments: Iterable[SSAValue] | None) -> str:
        type_ = property_of(function, "function_type")
        if not isinstance(type_, FunctionType):
            raise CannotEmitError("requires attribute 'function_type'")
        if arguments is None:
            listed = ", ".join(map(type_text, type_.inputs))
        else:
            listed = ", ".join(map(self._declare, arguments))
        results = result_text(type_.outputs.data)
        return f"{_specifiers(function)}{results} {text_of(function, 'sym_name')}({listed})"

    def _body(self, function: Operation, blocks: list[Block]) -> None:
        if self.variables_at_top:
            self._declare_all_in(function)
        targets = {target for block in blocks for target in _successors(block)}
        for block in blocks:
            self.names.label(block)
        for block in blocks[1:]:
            for argument in block.args:
                self.line(f"{type_text(argument.type)} {self.names.declare(argument)};")
        for block in blocks:
            if block in targets:
                self.pieces.append(f"{self.names.label(block)}:\n")
            for op in block.ops:
                self.emit(op, semicolon=op.name not in _BLOCK_LIKE)


def _body_of(function: Operation) -> list[Block]:
    return list(function.regions[0].blocks)


def _successors(block: Block) -> Iterable[Block]:
    return () if block.last_op is None else block.last_op.successors


def _specifiers(function: Operation) -> str:
    return "".join(f"{string_text(word)} " for word in elements_of(function, "specifiers") or ())


def _variables_in(op: Operation) -> Iterator[Operation]:
    """Operations at any depth whose results are variables."""
    for region in op.regions:
        for nested in (nested for block in region.blocks for nested in block.ops):
            if nested.name == "emitc.expression":
                if not is_inlined(nested):
                    yield nested
                continue
            if nested.name not in _DEFERRED:
                yield nested
            yield from _variables_in(nested)


_STATEMENTS: dict[str, Callable[[_Emitter, Operation], None]] = {
    "builtin.module": _Emitter.module,
    "cf.br": _Emitter.branch,
    "cf.cond_br": _Emitter.conditional_branch,
    "emitc.assign": _Emitter.assign,
    "emitc.constant": _Emitter.constant,
    "emitc.declare_func": _Emitter.declare_function,
    "emitc.for": _Emitter.loop,
    "emitc.func": _Emitter.function,
    "emitc.global": _Emitter.global_variable,
    "emitc.if": _Emitter.branch_if,
    "emitc.include": _Emitter.include,
    "emitc.return": _Emitter.return_values,
    "emitc.variable": _Emitter.constant,
    "emitc.verbatim": _Emitter.verbatim,
    "func.call": _Emitter.call,
    "func.func": _Emitter.function,
    "func.return": _Emitter.return_values,
}
