"""Kernels in the dialects ttkernel, arith and scf as kernel trees.

The text of such a tree is that of tt-mlir: circular buffers first, a variable `v1`, `v2`, ... for
each result, a loop's carried values in variables that are declared before it and assigned at the
end of each turn. A kernel is a region of a `ttmetal.dispatch` or a `func.func` with the attribute
`ttkernel.thread`. Nodes carry the places of the operations that they are made from.

Supported: the calls of ttkernel; integers and plain floats of arith; `scf.for`, `scf.if`
and `scf.while`; `memref.alloca`, `memref.load` and `memref.store`, arrays in C++; of emitc, unary
operators, comments as `emitc.verbatim`, and `emitc.literal` for what C++ has a name for, with a
`builtin.unrealized_conversion_cast` to a type of ttkernel. Anything else is refused with the error
of that operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import cast

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import (
    LocationAttr,
    MemRefType,
    SymbolRefAttr,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir import Block as IRBlock

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.cpp.frames import frame
from ttmlir.cpp.render import render
from ttmlir.cpp.tree import (
    Assign,
    BinaryOperation,
    Block,
    Boolean,
    Break,
    Comment,
    Declaration,
    Declarator,
    Evaluate,
    Expression,
    For,
    FunctionCall,
    If,
    Index,
    Integer,
    Name,
    Place,
    Position,
    Return,
    Statement,
    TranslationUnit,
    Type,
    Unary,
    While,
)
from ttmlir.dialects.emitc import LiteralOp, VerbatimOp
from ttmlir.dialects.ttkernel import BuiltinOp, CallOp, CBType, ReturnOp
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.mlir.reporting.locations import file_line_col
from ttmlir.nesting import deep_recursion
from ttmlir.target.cpp.arithmetic import CB_TYPE, Arithmetic, cpp_type
from ttmlir.target.cpp.calls import call_expression
from ttmlir.target.cpp.expressions import text_of

# MLIR's printer ends every statement in a loop or branch with a semicolon, loops included.
_NESTED_END = re.compile(r"^( {4,}\})$", re.MULTILINE)

_SUPPORTED = (
    "kernels are written in C++ from calls of ttkernel, scalar arith, local memrefs and scf.for, "
    "scf.if, scf.while"
)


def kernel_tree(owner: Operation, region: Region, thread: ThreadType) -> TranslationUnit:
    """The source of the kernel in a region of `owner`; OpError for what C++ cannot say."""
    if len(region.blocks) != 1:
        raise OpError(owner, f"has a kernel of {len(region.blocks)} blocks; {_SUPPORTED}")
    writer = _KernelWriter(_position(owner.location))
    with deep_recursion():
        body = writer.body(owner, region.block)
    return frame(body, thread, writer.headers, _position(owner.location))


def kernel_text(owner: Operation, region: Region, thread: ThreadType) -> str:
    """The C++ of the kernel in a region of `owner`, letter by letter that of tt-mlir."""
    text = render(kernel_tree(owner, region, thread))
    return _NESTED_END.sub(r"\1;", text) + "\n"


def _position(location: LocationAttr) -> Position | None:
    place = file_line_col(location)
    return None if place is None else Position(place.file, place.line, place.column)


class _KernelWriter:
    """Appends statements; a method per kind of operation."""

    def __init__(self, position: Position | None) -> None:
        self.headers = list[str]()
        self._names: dict[SSAValue, Name] = {}
        self._count = 0
        self._statements: list[Statement] = []
        self._position = position
        self._arithmetic = Arithmetic(lambda op, index: self._name(op.operands[index]), self._let)
        self._rules: dict[type[Operation], Callable[[Operation], None]] = {
            BuiltinOp: self._builtin,
            LiteralOp: self._literal,
            FuncReturnOp: self._return,
            ReturnOp: self._return,
            UnrealizedConversionCastOp: self._same,
            VerbatimOp: self._comment,
            memref.AllocaOp: self._allocate,
            memref.LoadOp: self._load,
            memref.StoreOp: self._store,
            scf.ForOp: self._for,
            scf.IfOp: self._if,
            scf.WhileOp: self._while,
        }

    def body(self, owner: Operation, block: IRBlock) -> Block:
        """The statements of the whole kernel."""
        for argument in block.args:
            if not isinstance(argument.type, CBType):
                raise OpError(
                    owner,
                    f"has a kernel with an argument of type '{argument.type}'; arguments of "
                    "kernels are circular buffers",
                )
            port = argument.type.buffer.data.port
            self._names[argument] = self._let(CB_TYPE, Name(port.cpp_name))
        self._operations(block)
        return Block(tuple(self._statements), position=self._position)

    # Variables.

    def _new_name(self) -> Name:
        self._count += 1
        return Name(f"v{self._count}", position=self._position)

    def _let(self, type_: Type, value: Expression | None) -> Name:
        name = self._new_name()
        declarator = Declarator(name.text, value=value, position=self._position)
        self._add(Declaration(type_, (declarator,), position=self._position))
        return name

    def _name(self, value: SSAValue) -> Name:
        name = self._names.get(value)
        if name is None:
            raise CannotEmitError(
                "uses a value from outside of the kernel; a kernel takes circular buffers only"
            )
        return name

    def _declare_all(self, values: Iterable[SSAValue]) -> list[Name]:
        """A variable without value for each."""
        return [self._let(cpp_type(value.type), None) for value in values]

    def _bind(self, values: Sequence[SSAValue], names: Sequence[Name]) -> None:
        self._names.update(zip(values, names, strict=True))

    def _assign_all(self, targets: Sequence[Name], values: Sequence[SSAValue]) -> None:
        """Assign at once: a variable that is still to be read is copied before it changes."""
        sources = [self._name(value) for value in values]
        for index, target in enumerate(targets):
            later = sources[index + 1 :]
            if target in later and sources[index] != target:
                copy = self._let(cpp_type(values[index].type), target)
                sources[index + 1 :] = [copy if each == target else each for each in later]
            self._add(self._evaluate(Assign(target, "=", sources[index])))

    # Statements.

    def _add(self, statement: Statement) -> None:
        self._statements.append(statement)

    def _evaluate(self, expression: Expression) -> Evaluate:
        return Evaluate(expression, position=self._position)

    @contextmanager
    def _nested(self) -> Generator[list[Statement]]:
        """Statements that are added inside go to a list of their own."""
        outer = self._statements
        self._statements = []
        yield self._statements
        self._statements = outer

    def _operations(self, block: IRBlock) -> None:
        for op in block.ops:
            outer, self._position = self._position, _position(op.location)
            try:
                self._operation(op)
            except CannotEmitError as error:
                raise OpError(op, str(error)) from error
            self._position = outer

    def _operation(self, op: Operation) -> None:
        rule = self._rules.get(type(op))
        if rule is not None:
            rule(op)
        elif isinstance(op, CallOp):
            self._call(op)
        elif not isinstance(op, scf.YieldOp | scf.ConditionOp):
            value = self._arithmetic.expression(op)
            if value is None:
                raise CannotEmitError(f"has no form in a kernel; {_SUPPORTED}")
            self._let_result(op, value)

    def _call(self, op: CallOp) -> None:
        operands = tuple(map(self._name, op.operands))
        self._let_result(op, call_expression(op, operands, self._position))
        self.headers.append(type(op).CALL.header)

    def _builtin(self, op: Operation) -> None:
        symbol = op.properties["op"]
        assert isinstance(symbol, SymbolRefAttr), "the verifier has checked the attribute"
        callee = Name(symbol.root_reference.data, position=self._position)
        arguments = tuple(map(self._name, op.operands))
        self._let_result(op, FunctionCall(callee, arguments, position=self._position))

    def _literal(self, op: Operation) -> None:
        assert isinstance(op, LiteralOp)
        self._names[op.results[0]] = Name(text_of(op, "value"), position=self._position)

    def _comment(self, op: Operation) -> None:
        text = text_of(op, "value")
        if not all(line.startswith("//") and line[-1:] != "\\" for line in text.split("\n")):
            raise CannotEmitError("has no form in a kernel unless it is a comment, '// ...'")
        self._add(Comment(text, position=self._position))

    def _same(self, op: Operation) -> None:
        """A change of types that are one type in C++."""
        if len(op.operands) != 1 or len(op.results) != 1:
            raise CannotEmitError("has no form in a kernel unless it casts one value to one")
        self._names[op.results[0]] = self._name(op.operands[0])

    def _let_result(self, op: Operation, value: Expression) -> None:
        """A variable for the result, or the value as a statement."""
        if op.results:
            self._bind(op.results, [self._let(cpp_type(op.results[0].type), value)])
        else:
            self._add(self._evaluate(value))

    def _return(self, op: Operation) -> None:
        if op.operands:
            raise CannotEmitError("returns a value, which a kernel does not")
        self._add(Return(position=self._position))

    # Arrays.

    def _allocate(self, op: Operation) -> None:
        type_ = op.results[0].type
        if not isinstance(type_, MemRefType) or op.operands or not type_.has_static_shape():
            raise CannotEmitError("has no form in a kernel unless its extents are constants")
        name = self._new_name()
        sizes = tuple(Integer(str(extent)) for extent in type_.get_shape())
        element = cpp_type(cast("MemRefType[Attribute]", type_).element_type)
        declarator = Declarator(name.text, sizes=sizes, position=self._position)
        self._add(Declaration(element, (declarator,), position=self._position))
        self._bind(op.results, [name])

    def _element(self, array: SSAValue, indices: Iterable[SSAValue]) -> Place:
        element: Place = self._name(array)
        for index in indices:
            element = Index(element, self._name(index), position=self._position)
        return element

    def _load(self, op: Operation) -> None:
        array, *indices = op.operands
        self._let_result(op, self._element(array, indices))

    def _store(self, op: Operation) -> None:
        value, array, *indices = op.operands
        target = self._element(array, indices)
        self._add(self._evaluate(Assign(target, "=", self._name(value), position=self._position)))

    # Control flow.

    def _for(self, op: Operation) -> None:
        assert isinstance(op, scf.ForOp)
        carried = self._declare_all(op.results)
        self._assign_all(carried, op.iter_args)
        induction, *arguments = op.body.block.args
        name = self._new_name()
        self._bind((induction, *arguments), (name, *carried))
        lower, upper, step = map(self._name, (op.lb, op.ub, op.step))
        start = Declaration(
            cpp_type(induction.type),
            (Declarator(name.text, value=lower, position=self._position),),
            position=self._position,
        )
        body = self._block(op.body.block, carried)
        condition, advance = BinaryOperation("<", name, upper), Assign(name, "+=", step)
        self._add(For(start, condition, advance, body, position=self._position))
        self._bind(op.results, carried)

    def _if(self, op: Operation) -> None:
        assert isinstance(op, scf.IfOp)
        results = self._declare_all(op.results)
        condition = self._name(op.cond)
        then = self._block(op.true_region.block, results)
        blocks = op.false_region.blocks
        otherwise = self._block(op.false_region.block, results) if blocks else None
        self._add(If(condition, then, otherwise, position=self._position))
        self._bind(op.results, results)

    def _while(self, op: Operation) -> None:
        """An endless loop that is left where the condition does not hold."""
        assert isinstance(op, scf.WhileOp)
        before, after = op.before_region.block, op.after_region.block
        carried = self._declare_all(op.arguments)
        self._assign_all(carried, op.arguments)
        self._bind(before.args, carried)
        condition = before.last_op
        assert isinstance(condition, scf.ConditionOp), "the verifier has checked the terminator"
        passed = list(condition.args)
        results = carried if passed == list(before.args) else self._declare_all(op.results)
        with self._nested() as statements:
            self._operations(before)
            if results is not carried:
                self._assign_all(results, passed)
            leave = Unary("!", self._name(condition.condition))
            self._add(If(leave, Block((Break(position=self._position),)), position=self._position))
            self._bind(after.args, results)
            self._operations(after)
            self._yield(after, carried)
        body = Block(tuple(statements), position=self._position)
        self._add(While(Boolean(True), body, position=self._position))
        self._bind(op.results, results)

    def _block(self, block: IRBlock, targets: Sequence[Name]) -> Block:
        """The body of a loop or branch, which assigns what it yields."""
        with self._nested() as statements:
            self._operations(block)
            self._yield(block, targets)
        return Block(tuple(statements), position=self._position)

    def _yield(self, block: IRBlock, targets: Sequence[Name]) -> None:
        terminator = block.last_op
        if targets and terminator is not None:
            self._assign_all(targets, terminator.operands)
