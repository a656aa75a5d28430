"""C++ kernels as functions of ttkernel, arith and scf: the way back from `from_ttkernel`.

The body of a kernel becomes `func.func @kernel_main` with the attribute `ttkernel.thread`; its
arguments are the circular buffers that it uses. Variables become values: those that a loop changes
are carried by it, those that a branch changes are its results. Functions are inlined at
their calls. Every operation has its location in the C++ text.

What the text does not say: a buffer's address is 0, and it holds one 32x32 tile of f32, or rows of
f32 where it is tilized or untilized into. `for` loops that count up to a bound become `scf.for`,
which compares with sign; all others `scf.while`.

Not in the IR, and refused where they stand: `break` and `continue`, `return` before the end; calls,
assignments and reads of memory after `&&`, `||` and `?:`; arrays, structs, strings, pointers to
anything but 32-bit words of L1, comparisons of floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block as IRBlock
from xdsl.ir import Region, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError, Position
from ttmlir.cpp.include_path import IncludePath
from ttmlir.cpp.parse import parse
from ttmlir.cpp.tree import (
    Assign,
    BinaryOperation,
    Block,
    Boolean,
    Break,
    Continue,
    Declaration,
    Define,
    DoWhile,
    Evaluate,
    Expression,
    For,
    Function,
    FunctionCall,
    Header,
    If,
    Include,
    Inclusions,
    Integer,
    Item,
    Name,
    Namespace,
    Node,
    Pragma,
    Return,
    Statement,
    Switch,
    TranslationUnit,
    Unary,
    Undefine,
    Update,
    While,
    assigned,
    descendants,
    is_fixed,
    mentioned,
    sets_first,
)
from ttmlir.cpp.types import INT, PointerType, is_deduced
from ttmlir.dialects.definition.ods import KERNEL_THREAD
from ttmlir.dialects.ttkernel import ReturnOp, ThreadTypeAttr
from ttmlir.frontend.cpp_expressions import (
    KernelExpressions,
    Scope,
    TypedValue,
    ValueBuilder,
    Variable,
    find_ir_type,
)
from ttmlir.ir.rewriting import erase_unused
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.reporting import LocatedError, file_line_col, file_location, note
from ttmlir.mlir.text_files import STANDARD_STREAM, input_name
from ttmlir.nesting import deep_recursion
from ttmlir.target.cpp.from_ttkernel import ENTRY
from ttmlir.terminal import print_warnings

# --- Newer forms ----------------------------------------------------------------------------------
# Forms of C++ that kernels use and the IR does not have.

_KINDS: dict[type[tree.Node], str] = {
    tree.ArrayOf: "the type of an array",
    tree.Assembly: "assembly",
    tree.Binding: "a declaration of several names",
    tree.CountOf: "'sizeof...'",
    tree.Decltype: "decltype",
    tree.Expansion: "a parameter pack",
    tree.Fold: "a fold over a parameter pack",
    tree.FunctionOf: "the type of a function",
    tree.Lambda: "a lambda",
    tree.NamespaceAlias: "the name of a namespace",
    tree.RangeFor: "a loop over a range",
    tree.This: "'this'",
}


def find_newer_form(unit: tree.TranslationUnit) -> tuple[tree.Node, str] | None:
    """The first node of a form that the IR does not have, with what it is called."""
    for node in descendants(unit):
        found = _KINDS.get(type(node)) or _describe(node)
        if found:
            return node, found
    return None


def _describe(node: tree.Node) -> str:
    """What is new about a node; nothing for those that are read."""
    match node:
        case tree.Struct(members=(_, *_)) | tree.Struct(bases=(_, *_)):
            return "a class with more than fields"
        case tree.Struct(kind=kind) if kind != "struct":
            return f"a {kind}"
        case tree.Struct(template_parameters=(_, *_)) | tree.Struct(is_defined=False):
            return "a template of a class"
        case tree.Reference(is_rvalue=True):
            return "'&&'"
        case tree.NamedType(scope=scope) | tree.Name(scope=scope) if scope is not None:
            return "a member of a type with template arguments"
        case tree.Name(template_arguments=(_, *_)):
            return "template arguments without a call"
        case _:
            return _describe_declaration(node) or _describe_expression(node)


def _describe_declaration(node: tree.Node) -> str:
    match node:
        case tree.Function(kind=kind) if kind != "function":
            return f"a {kind}"
        case tree.Function(scope=scope) if scope is not None:
            return "a member function"
        case tree.Declarator(arguments=arguments) if arguments is not None:
            return "a variable with arguments in parentheses"
        case (
            tree.Declaration(template_parameters=(_, *_)) | tree.Alias(template_parameters=(_, *_))
        ):
            return "a template of a variable or alias"
        case tree.TemplateParameter(default=default) if default is not None:
            return "a default template argument"
        case _:
            return ""


def _describe_expression(node: tree.Node) -> str:
    match node:
        case tree.FunctionCall(callee=callee) if not isinstance(callee, (tree.Name, tree.Member)):
            return "a call of what is no function"
        case tree.FunctionCall(callee=tree.Member(), template_arguments=(_, *_)):
            return "a member function with template arguments"
        case tree.FunctionCall(arguments=arguments) if any(
            isinstance(each, tree.Braces) for each in arguments
        ):
            return "braces as an argument"
        case tree.Return(value=tree.Braces()):
            return "braces as a result"
        case tree.Assign(target=target) if not isinstance(
            target, (tree.Name, tree.Index, tree.Member, tree.Unary)
        ):
            return "an assignment to what is no variable"
        case _:
            return ""


# --- To ttkernel ----------------------------------------------------------------------------------

_MAIN = "MAIN"


def read_kernel(
    text: str, file: str, include_folders: Sequence[str] = (), defines: Sequence[str] = ()
) -> ModuleOp:
    """The module with the kernel that a C++ text is; LocatedError for what the IR cannot say.

    Headers that are not found are warned of on standard error.

    Headers are looked for in the folder of the file and in `include_folders`; `defines` are macros
    as `NAME` or `NAME=BODY`.
    """
    # What comes from standard input stands in no folder.
    kernel = "" if file == input_name(STANDARD_STREAM) else file
    headers = IncludePath.of_kernel(kernel, tuple(include_folders))
    try:
        unit = parse(text, file, include_path=headers, defines=dict(map(_split_define, defines)))
    except CppSyntaxError as error:
        raise _located(error) from error
    inclusions = Inclusions(file, text, unit.includes)
    print_warnings(inclusions.find_unfound_headers())
    with deep_recursion():
        newer = find_newer_form(unit)
        if newer is not None:
            node, what = newer
            position = node.position or Position(file, 1, 1)
            location = file_location(position.file, position.line, position.column)
            raise LocatedError(location, f"{what} has no form in the IR")
        try:
            module = _Kernel(unit, Position(file, 1, 1), inclusions).module()
        except CppSyntaxError as error:
            notes = inclusions.notes(error.position.file)
            raise _located(error.with_notes(*notes)) from error
        except LocatedError as error:
            raise _quoted(error, inclusions) from error
    verify(module)
    return module


def _split_define(text: str) -> tuple[str, str]:
    """`NAME` stands for 1, as on the command lines of compilers."""
    name, equals, body = text.partition("=")
    return name, body if equals else "1"


def _located(error: CppSyntaxError) -> LocatedError:
    position = error.position
    location = file_location(position.file, position.line, position.column)
    notes = [note(location, each, show_source=False) for each in error.notes]
    return LocatedError(location, error.message, notes, error.line)


def _quoted(error: LocatedError, inclusions: Inclusions) -> LocatedError:
    """The error with what is known about its position, if that is in a header."""
    [diagnostic] = error.diagnostics
    position = file_line_col(diagnostic.location)
    if position is None or position.file == inclusions.file:
        return error
    line = inclusions.line(Position(position.file, position.line, position.column))
    ways = [
        note(diagnostic.location, each, show_source=False)
        for each in inclusions.notes(position.file)
    ]
    return LocatedError(diagnostic.location, diagnostic.message, (*diagnostic.notes, *ways), line)


def _functions(items: Sequence[Item]) -> Iterator[Function]:
    for item in items:
        match item:
            case Function():
                yield item
            case Namespace():
                yield from _functions(item.items)
            case Include(header=Header(items=inner)):
                yield from _functions(inner)
            case _:
                pass


def _globals(items: Sequence[Item]) -> Iterator[Declaration]:
    """The variables outside of functions."""
    for item in items:
        match item:
            case Declaration():
                yield item
            case Namespace():
                yield from _globals(item.items)
            case Include(header=Header(items=inner)):
                yield from _globals(inner)
            case _:
                pass


class _Kernel(KernelExpressions):
    """Reads statements; a method per kind."""

    def __init__(self, unit: TranslationUnit, start: Position, inclusions: Inclusions) -> None:
        entry = IRBlock()
        defined = (each for each in _functions(unit.items) if each.definition is not None)
        functions = {each.name: each for each in defined}
        super().__init__(ValueBuilder(entry, start), entry, functions, inclusions)
        self._unit = unit
        self._entry = entry

    def module(self) -> ModuleOp:
        """A module with the kernel."""
        builder = self.builder
        is_compute = _MAIN in self.functions
        main = self._main()
        body = main.body
        assert body is not None, "functions without body have been left out"
        for declaration in _globals(self._unit.items):
            self.global_declaration(declaration)
        self.shared = tuple(self.variables)
        builder.at(main)
        location = builder.location
        self.calling.append(main.name)
        self.function_body(body, returns=None)
        builder.add(ReturnOp.create())
        thread = ThreadTypeAttr(ThreadType.TENSIX if is_compute else ThreadType.NOC)
        self.calls.finish()
        types = [argument.type for argument in self._entry.args]
        function = FuncOp(ENTRY, (types, []), Region(self._entry))
        function.attributes[KERNEL_THREAD] = thread
        function.location = location
        self._clean_up()
        module = ModuleOp([function])
        module.location = location
        return module

    def global_declaration(self, declaration: Declaration) -> None:
        """Read variables outside of functions; those of headers only matter where they are used."""
        position = declaration.position
        try:
            self.declaration(declaration)
        except LocatedError as error:
            if position is None or position.file == self.inclusions.file:
                raise
            self.unreadable |= dict.fromkeys((each.name for each in declaration.declarators), error)

    def _main(self) -> Function:
        """The function that is the kernel: `MAIN`, or `kernel_main`, which `MAIN` may call."""
        main = self.functions.get(_MAIN, self.functions.get(ENTRY))
        if main is None:
            self.builder.refuse(
                "there is no kernel in this text; a data movement kernel is a function "
                f"'void {ENTRY}()', a compute kernel 'void {_MAIN}'"
            )
        match main.body:
            case Block(statements=(Evaluate(expression=FunctionCall(callee=Name(text=name))),)) if (
                main.name == _MAIN and name == ENTRY and name in self.functions
            ):
                return self.functions[name]
            case _:
                return main

    def _clean_up(self) -> None:
        """Take out what nothing uses: values that loops pass on, constants that only named a
        buffer."""
        for op in [*self._entry.walk()]:
            if isinstance(op, scf.WhileOp):
                _drop_unused_results(op)
        erase_unused(op for op in self._entry.walk() if op.name in _CONSTANTS)

    # Functions.

    def function_body(self, body: Block, returns: list[TypedValue] | None) -> None:
        """The statements of a function; its result goes to `returns`, if it has one."""
        for index, statement in enumerate(body.statements):
            if not isinstance(statement, Return):
                self.statement(statement)
                continue
            if index != len(body.statements) - 1:
                self.builder.refuse("nothing may follow a 'return' here", statement)
            if statement.value is not None and returns is not None:
                self.builder.at(statement)
                returns.append(self.value(statement.value))

    # Statements.

    def statement(self, statement: Statement) -> None:
        """Read one statement."""
        self.builder.at(statement)
        match statement:
            case Declaration():
                self.declaration(statement)
            case Evaluate(expression=expression):
                self.evaluate(expression)
            case Block():
                with self.scope():
                    self.statements(statement)
            case If():
                self.branch(statement)
            case For():
                self.for_loop(statement)
            case While():
                self.while_loop(statement)
            case DoWhile(body=body, condition=condition):
                self.loop(statement, body, condition, Block())
            case Define() | Undefine() | Pragma():
                # Macros have been expanded.
                pass
            case _:
                self._refuse(statement)

    def _refuse(self, statement: Statement) -> None:
        keyword = type(statement).__name__.lower()
        if isinstance(statement, (Break, Continue, Return)):
            self.builder.refuse(
                f"'{keyword}' has no form in the IR here; loops end by their condition and "
                "kernels at their end, so put what follows into an 'if'"
            )
        if isinstance(statement, Switch):
            self.builder.refuse("'switch' has no form in the IR here; write a chain of 'if'")
        self.builder.refuse("the IR has no names for types and numbers; write them out")

    def statements(self, block: Block) -> None:
        """Read the statements of a block."""
        for statement in block.statements:
            self.statement(statement)

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names that are declared inside are forgotten at the end."""
        outer = set(self.variables)
        yield
        self.variables = {
            name: variable for name, variable in self.variables.items() if name in outer
        }

    @contextmanager
    def block(self, block: IRBlock) -> Generator[None]:
        """Operations that are added inside go to this block."""
        outer, self.builder.block = self.builder.block, block
        yield
        self.builder.block = outer

    # Branches.

    def branch(self, node: If) -> None:
        condition = self.value(node.condition)
        if node.is_constexpr and condition.number is not None:
            chosen = node.then if condition.number else node.otherwise
            if chosen is not None:
                self.statement(chosen)
            return
        truth = self.builder.truth(condition)
        before = dict(self.variables)
        location = self.builder.location
        then, after_then = self._arm(node.then)
        self.variables = dict(before)
        otherwise, after_else = self._arm(node.otherwise)
        changed = [
            name
            for name, variable in before.items()
            if after_then[name].value is not variable.value
            or after_else[name].value is not variable.value
        ]
        self.builder.location = location
        results = [before[name].type for name in changed]
        for block, values in ((then, after_then), (otherwise, after_else)):
            with self.block(block):
                self.builder.add(scf.YieldOp(*self._current(changed, values)))
        has_else = bool(changed) or node.otherwise is not None
        op = scf.IfOp(
            truth,
            [find_ir_type(each) for each in results],
            Region(then),
            Region(otherwise) if has_else else None,
        )
        self.builder.add(op)
        self.variables = dict(before)
        self._take(changed, op.results)

    def _arm(self, statement: Block | If | None) -> tuple[IRBlock, Scope]:
        """A block with the statements of a branch, and the variables after them."""
        block = IRBlock()
        with self.block(block), self.scope():
            match statement:
                case Block():
                    self.statements(statement)
                case If():
                    self.statement(statement)
                case None:
                    pass
        return block, self.variables

    def _current(self, names: Sequence[str], variables: Scope) -> list[SSAValue]:
        return [self.builder.ssa(self.current(variables[name])) for name in names]

    def _take(self, names: Sequence[str], values: Sequence[SSAValue]) -> None:
        """Let variables have the values that a loop or branch leaves."""
        for name, value in zip(names, values, strict=True):
            variable = self.variables[name]
            self.variables[name] = replace(variable, value=TypedValue(variable.type, value))

    # Loops.

    def for_loop(self, node: For) -> None:
        with self.scope():
            if isinstance(node.start, Declaration):
                self.declaration(node.start)
            elif node.start is not None:
                self.evaluate(node.start.expression)
            counted = self._counted(node)
            if counted is not None:
                self._count(node, *counted)
                return
            steps = () if node.step is None else (Evaluate(node.step, position=node.step.position),)
            condition = Boolean(True) if node.condition is None else node.condition
            self.loop(node, Block(), condition, Block((node.body, *steps)))

    def _counted(self, node: For) -> tuple[str, Expression, Expression] | None:
        """Name, bound and step of a loop that counts up to a bound which it does not change."""
        if not isinstance(node.start, Declaration) or len(node.start.declarators) != 1:
            return None
        name = node.start.declarators[0].name
        match node.condition:
            case BinaryOperation(operator="<", left=Name(text=counter), right=bound) if (
                counter == name
            ):
                pass
            case _:
                return None
        match node.step:
            case Update(operator="++", operand=Name(text=counter)) if counter == name:
                step: Expression = Integer("1", position=node.step.position)
            case Assign(operator="+=", target=Name(text=counter), value=step) if counter == name:
                pass
            case _:
                return None
        changed = assigned(node.body)
        if self.variables[name].is_const or name in changed:
            return None
        if any(not is_fixed(each, changed) for each in (bound, step)):
            return None
        number = self.value(step).number
        return (name, bound, step) if number is not None and number > 0 else None

    def _count(self, node: For, name: str, bound: Expression, step: Expression) -> None:
        counter = self.variables[name]
        if find_ir_type(counter.type) != find_ir_type(INT):
            self.builder.refuse("loops count in integers of 32 bits")
        location = self.builder.location
        bounds = [
            self.builder.ssa(self.builder.convert(each, counter.type))
            for each in (self.current(counter), self.value(bound), self.value(step))
        ]
        names = [each for each in assigned(node.body) if each in self.variables]
        initial = self._current(names, self.variables)
        body = IRBlock(arg_types=[find_ir_type(INT), *(value.type for value in initial)])
        outer = dict(self.variables)
        self._take((name, *names), body.args)
        with self.block(body), self.scope():
            self.statements(node.body)
            self.builder.location = location
            self.builder.add(scf.YieldOp(*self._current(names, self.variables)))
        loop = scf.ForOp(bounds[0], bounds[1], bounds[2], initial, body)
        self.builder.location = location
        self.builder.add(loop)
        self.variables = outer
        self._take(names, loop.results)

    def while_loop(self, node: While) -> None:
        """A loop by its condition, or an endless one that one `if` in it leaves."""
        if not isinstance(node.condition, Boolean) or not node.condition.value:
            self.loop(node, Block(), node.condition, node.body)
            return
        for index, statement in enumerate(node.body.statements):
            match statement:
                case If(condition=condition, then=Block(statements=(Break(),)), otherwise=None):
                    before = Block(node.body.statements[:index])
                    after = Block(node.body.statements[index + 1 :])
                    self.loop(node, before, Unary("!", condition), after)
                    return
                case _:
                    pass
        self.builder.refuse("this loop does not end; leave it by its condition")

    def loop(self, node: Node, before: Block, condition: Expression, after: Block) -> None:
        """Run `before`, leave if the condition does not hold, run `after`, and so on."""
        changed = assigned(Block((before, Evaluate(condition), after)))
        changed = [each for each in changed if each in self.variables]
        new = [each for each in changed if self._is_new(each, before)]
        names = [each for each in changed if each not in new]
        location = self.builder.location
        initial = self._current(names, self.variables)
        types = [value.type for value in initial]
        first = IRBlock(arg_types=types)
        outer = dict(self.variables)
        self._take(names, first.args)
        with self.block(first):
            self.statements(before)
            self.builder.location = location
            holds = self._condition(condition)
            # What `before` declares and `after` uses has to be passed on.
            used = mentioned(after) - set(outer)
            passed = [*names, *new, *(each for each in self.variables if each in used)]
            values = self._current(passed, self.variables)
            self.builder.add(scf.ConditionOp(holds, *values))
        results = [value.type for value in values]
        second = IRBlock(arg_types=results)
        self._take(passed, second.args)
        with self.block(second):
            self.statements(after)
            self.builder.location = location
            self.builder.add(scf.YieldOp(*self._current(names, self.variables)))
        loop = scf.WhileOp(initial, results, Region(first), Region(second))
        self.builder.add(loop)
        self.variables = outer
        left = [*names, *new]
        self._take(left, loop.results[: len(left)])

    def _is_new(self, name: str, before: Block) -> bool:
        """Whether a variable has no value yet, and gets one at the start of each iteration."""
        return self.variables[name].value is None and sets_first(before, name)

    def _condition(self, condition: Expression) -> SSAValue:
        """Whether a condition holds; two `!` are none."""
        match condition:
            case Unary(operator="!", operand=Unary(operator="!", operand=inner)):
                return self.builder.truth(self.value(inner))
            case _:
                return self.builder.truth(self.value(condition))

    # Declarations.

    def declaration(self, declaration: Declaration) -> None:
        """Read the variables of a declaration."""
        for declarator in declaration.declarators:
            self.builder.at(declarator)
            if declarator.sizes:
                self.builder.refuse(f"arrays such as '{declarator.name}' have no form in the IR")
            if declarator.name in self.variables:
                self.builder.refuse(
                    f"'{declarator.name}' hides a variable outside; give it another name"
                )
            type_ = self.type_of(declaration.type)
            is_const = "constexpr" in declaration.specifiers or self.is_const(declaration.type)
            if declarator.value is None:
                if type_ is None:
                    self.builder.refuse(f"'{declarator.name}' needs an initial value")
                self.variables[declarator.name] = Variable(type_, None)
                continue
            value = self.initial_value(declaration.type, declarator.value)
            if isinstance(type_, PointerType) and is_deduced(declaration.type):
                is_kept = isinstance(value.ctype, PointerType) and value.ctype.const
                type_ = replace(type_, const=type_.const or is_kept)
            converted = value if type_ is None else self.to_declared(value, type_)
            self.variables[declarator.name] = Variable(
                converted.ctype, self.settled(converted), is_const
            )


_CONSTANTS = ("arith.constant", "emitc.literal", "builtin.unrealized_conversion_cast")


def _drop_unused_results(op: scf.WhileOp) -> None:
    """Pass on only what the loop's second part or its users read."""
    arguments = op.after_region.block.args
    condition = op.before_region.block.last_op
    assert isinstance(condition, scf.ConditionOp), "it has been made so"
    unused = [
        index
        for index, (result, argument) in enumerate(zip(op.results, arguments, strict=True))
        if result.first_use is None and argument.first_use is None
    ]
    kept = [index for index in range(len(op.results)) if index not in unused]
    if not unused:
        return
    passed = [condition.args[index] for index in kept]
    Rewriter.replace_op(condition, new := scf.ConditionOp(condition.condition, *passed))
    new.location = condition.location
    for index in reversed(unused):
        op.after_region.block.erase_arg(arguments[index])
    types = [op.results[index].type for index in kept]
    loop = scf.WhileOp([*op.arguments], types, op.detach_region(0), op.detach_region(0))
    loop.location = op.location
    results: list[SSAValue | None] = [None] * len(op.results)
    for index, result in zip(kept, loop.results, strict=True):
        results[index] = result
    Rewriter.replace_op(op, loop, results)
