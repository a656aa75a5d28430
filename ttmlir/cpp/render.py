"""C++ text from a kernel tree, in the layout of the emitc printer.

Two spaces of indentation, `(uint32_t) x` for casts, braces around every body, a blank line after a
function. Parentheses stand where C++ needs them, and around comparisons inside of other
expressions, because `f(a < b, c > (d))` could also call a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ttmlir.cpp.errors import CannotEmitError, Position
from ttmlir.cpp.tree import (
    PRECEDENCE,
    Alias,
    ArrayOf,
    Assembly,
    Assign,
    BinaryOperation,
    Binding,
    Block,
    Boolean,
    Braces,
    Break,
    Capture,
    Case,
    Cast,
    Character,
    Comment,
    Conditional,
    Construct,
    Continue,
    CountOf,
    Declaration,
    Declarator,
    Decltype,
    Define,
    DoWhile,
    Enumeration,
    Enumerator,
    Evaluate,
    Expansion,
    Expression,
    Floating,
    Fold,
    For,
    Function,
    FunctionCall,
    FunctionOf,
    Goto,
    If,
    Include,
    Index,
    Initializer,
    Integer,
    Item,
    Label,
    Lambda,
    Member,
    MemberInitializer,
    Name,
    NameDeclaration,
    NamedType,
    Namespace,
    NamespaceAlias,
    New,
    Null,
    OffsetOf,
    Parameter,
    PointedMember,
    Pointer,
    Pragma,
    RangeFor,
    Reference,
    Return,
    SizeOf,
    Statement,
    StaticAssert,
    String,
    Struct,
    Switch,
    TemplateArgument,
    TemplateParameter,
    This,
    TranslationUnit,
    Type,
    Unary,
    Undefine,
    Unreadable,
    Update,
    UsingName,
    UsingNamespace,
    While,
)
from ttmlir.cpp.types import is_built_in_type
from ttmlir.nesting import deep_recursion

_INDENT = "  "

_ASSIGNMENT = PRECEDENCE["="]
_ABOVE_CONDITIONAL = PRECEDENCE["||"]
_PREFIX = len(PRECEDENCE)
_POSTFIX = _PREFIX + 1

# `<` opens a list of template arguments, and `>` or `>>` closes it.
_ANGLES = frozenset({"<", ">", ">>"})
_COMPARISONS = frozenset({"<", ">", "<=", ">="})

_PLAIN_OPERANDS = (
    *(NamedType, Pointer, Reference, ArrayOf, FunctionOf, Decltype, CountOf),
    *(Integer, Boolean, Character, Name, Null),
)


def render(node: TranslationUnit | Item | Statement | Type | Expression) -> str:
    """The text of a tree; of whole lines, except for types and expressions."""
    with deep_recursion():
        match node:
            case TranslationUnit():
                return _join(line for item in node.items for line in _item(item))
            case NamedType() | Pointer() | Reference() | ArrayOf() | FunctionOf() | Decltype():
                return _type(node)
            case NamespaceAlias() | Binding() | RangeFor() | Assembly():
                return _join(_statement(node))
            case Include() | UsingNamespace() | Namespace() | Struct() | Function() | Unreadable():
                return _join(_item(node))
            case Alias() | UsingName() | Enumeration() | StaticAssert() | Switch():
                return _join(_statement(node))
            case Declaration() | Define() | Undefine() | Pragma() | Block() | Evaluate() | If():
                return _join(_statement(node))
            case For() | While() | DoWhile() | Break() | Continue() | Return() | Comment():
                return _join(_statement(node))
            case Goto() | Label():
                return _join(_statement(node))
            case _:
                return _expression(node, top=True)


def line_positions(tree: TranslationUnit) -> tuple[Position | None, ...]:
    """For each line of `render(tree)`, the position of the innermost statement that it is of."""
    with deep_recursion():
        lines = [line for item in tree.items for line in _item(item)]
    return tuple(line.position if isinstance(line, _Line) else None for line in lines)


class _Line(str):
    """A line that knows the position of its statement."""

    position: Position | None

    def __new__(cls, text: str, position: Position | None) -> _Line:
        """The line at a position."""
        line = super().__new__(cls, text)
        line.position = position
        return line


def _join(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _indent(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if not line or line.startswith("#"):
            yield line
        elif isinstance(line, _Line):
            yield _Line(f"{_INDENT}{line}", line.position)
        else:
            yield f"{_INDENT}{line}"


# Items.


def _item(item: Item | Statement) -> Iterator[str]:
    match item:
        case Include(path=path, standard=standard):
            yield f"#include <{path}>" if standard else f'#include "{path}"'
        case Namespace(name=name, items=items):
            yield f"namespace {name} {{" if name else "namespace {"
            for nested in items:
                yield from _item(nested)
            yield "}"
        case Function():
            yield from _function(item)
        case Unreadable(error=error):
            raise CannotEmitError(error.message)
        case _:
            yield from _statement(item)


def _function(function: Function) -> Iterator[str]:
    words = "".join(f"{word} " for word in function.specifiers if word != "friend")
    words = f"friend {words}" if "friend" in function.specifiers else words
    yield from _template(function.template_parameters, function.specialized)
    head = words + _function_head(function)
    is_main = function.name == "MAIN"
    if function.is_defaulted or function.is_deleted:
        yield f"{head} = {'default' if function.is_defaulted else 'delete'};"
        return
    match function.body:
        case None:
            yield f"{head};"
        case Block(statements=(Evaluate() as only,)) if is_main:
            yield f"{head} {{ {_evaluation(only)}; }}"
        case body:
            if function.initializers:
                head += f" : {', '.join(map(_member_initializer, function.initializers))}"
            yield from _with_body(head, body)
            yield ""


def _function_head(function: Function) -> str:
    """The name of a function with its result and parameters."""
    name = function.name
    if function.scope is not None:
        name = f"{_type(function.scope)}::{name}"
    if function.specialized is not None:
        name += f"<{', '.join(map(_template_argument, function.specialized))}>"
    if function.name == "MAIN":
        return f"{_type(function.result)} {name}"
    listed = [*map(_parameter, function.parameters), *["..."] * function.is_variadic]
    parameters = f"({', '.join(listed)})"
    constness = " const" * function.is_const + f" {function.category}" * bool(function.category)
    match function.kind:
        case "function" if _stands_around(function.result):
            return f"auto {name}{parameters}{constness} -> {_type(function.result)}"
        case "function":
            return f"{_type(function.result)} {name}{parameters}{constness}"
        case "conversion":
            return f"operator {_type(function.result)}(){constness}"
        case _:
            return f"{name}{parameters}{constness}"


def _stands_around(type_: Type) -> bool:
    """Whether a type would stand on both sides of a name."""
    match type_:
        case Pointer(pointee=FunctionOf()) | Reference(referent=ArrayOf() | FunctionOf()):
            return True
        case _:
            return False


def _member_initializer(initializer: MemberInitializer) -> str:
    listed = ", ".join(map(_argument, initializer.arguments))
    brackets = "{}" if initializer.braced else "()"
    return f"{_type(initializer.type)}{brackets[0]}{listed}{brackets[1]}"


def _template(parameters: Sequence[TemplateParameter], specialized: object = None) -> Iterator[str]:
    """The line before a template."""
    if parameters or specialized is not None:
        yield f"template <{', '.join(map(_template_parameter, parameters))}>"


def _parameter(parameter: Parameter) -> str:
    dots = "..." if parameter.is_pack else ""
    text = _declared(parameter.type, f"{dots}{parameter.name or ''}")
    if parameter.default is not None:
        text = f"{text} = {_initial_value(parameter.default, top=True)}"
    return text


def _declared(type_: Type, name: str) -> str:
    """A name with its type, of which parts may stand after the name."""
    match type_:
        case Reference(referent=(ArrayOf() | FunctionOf()) as inner, is_rvalue=is_rvalue):
            return _declared(inner, f"({'&&' if is_rvalue else '&'}{name})")
        case Pointer(pointee=FunctionOf() as function):
            holder = ""
            if function.holder is not None:
                holder = f"{_type(replace(function.holder, qualifiers=()))}::"
            return _declared(function, f"({holder}*{name})")
        case ArrayOf(element=element, size=size):
            count = "" if size is None else _expression(size, _ASSIGNMENT)
            return _declared(element, f"{name}[{count}]")
        case FunctionOf(result=result, parameters=parameters):
            const = type_.holder is not None and "const" in type_.holder.qualifiers
            listed = ", ".join(map(_parameter, parameters))
            return f"{_type(result)} {name}({listed}){' const' * const}"
        case _:
            return f"{_type(type_)} {name}".rstrip()


def _template_parameter(parameter: TemplateParameter) -> str:
    dots = "..." if parameter.is_pack else ""
    name = f"{dots}{parameter.name}"
    if parameter.is_template:
        text = f"template <typename> typename {name}"
    elif parameter.type is None:
        text = f"typename {name}".rstrip()
    else:
        text = _declared(parameter.type, name)
    if parameter.default is None:
        return text
    return f"{text} = {_template_argument(parameter.default)}"


# Classes.


def _struct(node: Struct) -> Iterator[str]:
    yield from _template(node.template_parameters, node.specialized)
    packed = "__attribute__((packed)) " if node.is_packed else ""
    head = f"{node.kind} {packed}{_alignments(node.alignments)}{_struct_name(node)}".rstrip()
    if not node.is_defined:
        yield f"{head};"
        return
    if node.bases:
        head += f" : {', '.join(map(_template_argument, node.bases))}"
    yield f"{head} {{"
    if node.kind == "class" and (node.members or node.fields):
        yield "public:"
    inner = {each.name: each for each in node.members if isinstance(each, Struct)}
    for member in node.members:
        if not isinstance(member, Struct) or not member.name.startswith("("):
            yield from _indent(_item(member))
    for field in node.fields:
        yield from _indent(_field(field, inner))
    yield "};"


def _alignments(written: tuple[TemplateArgument, ...]) -> str:
    return "".join(f"alignas({_template_argument(each)}) " for each in written)


def _struct_name(node: Struct) -> str:
    if node.name.startswith("("):
        return ""
    if node.specialized is None:
        return node.name
    return f"{node.name}<{', '.join(map(_template_argument, node.specialized))}>"


def _field(field: Declaration, inner: dict[str, Struct]) -> Iterator[str]:
    """A field; an unnamed type is written where it is used."""
    type_ = field.type
    if not isinstance(type_, NamedType) or not type_.name.startswith("("):
        yield _declaration(field)
        return
    *lines, last = _struct(inner[type_.name])
    names = ", ".join(map(_declarator, field.declarators))
    yield from lines
    yield f"{last.removesuffix(';')} {names}".rstrip() + ";"


# Statements.


def _statement(statement: Statement) -> Iterator[str]:
    for line in _lines(statement):
        yield line if isinstance(line, _Line) else _Line(line, statement.position)


def _lines(statement: Statement) -> Iterator[str]:
    match statement:
        case Declaration():
            yield from _template(statement.template_parameters)
            yield _declaration(statement)
        case Evaluate():
            yield f"{_evaluation(statement)};"
        case If() | Switch() | For() | While() | DoWhile() | Block():
            yield from _compound(statement)
        case Return(value=value):
            yield "return;" if value is None else f"return {_initial_value(value, top=True)};"
        case Alias(template_parameters=parameters):
            yield from _template(parameters)
            yield _name_declaration(statement)
        case UsingName() | Enumeration() | StaticAssert():
            yield _name_declaration(statement)
        case Break() | Continue():
            yield f"{type(statement).__name__.lower()};"
        case Define() | Undefine() | Pragma():
            yield _directive(statement)
        case Comment(text=text):
            yield from text.split("\n")
        case _:
            yield from _newer_lines(statement)


def _newer_lines(statement: Statement) -> Iterator[str]:
    match statement:
        case Goto(label=label):
            yield f"goto {label};"
        case Label(name=name):
            yield f"{name}:;"
        case Struct():
            yield from _struct(statement)
        case UsingNamespace(name=name):
            yield f"using namespace {name};"
        case NamespaceAlias(name=name, target=target):
            yield f"namespace {name} = {target};"
        case Binding():
            yield f"{_binding(statement)} = {_initial_value(statement.value, top=True)};"
        case Assembly(text=text):
            yield f'asm volatile("{text}");'
        case RangeFor():
            yield from _with_body(_range_head(statement), statement.body)
        case _:
            raise AssertionError(f"{type(statement).__name__} is no statement")


def _compound(statement: If | Switch | For | While | DoWhile | Block) -> Iterator[str]:
    match statement:
        case If():
            yield from _branch(statement)
        case Switch(condition=condition, cases=cases):
            yield f"switch ({_expression(condition, top=True)}) {{"
            yield from _indent(line for case in cases for line in _case(case))
            yield "}"
        case For() | While():
            yield from _with_body(_loop_head(statement), statement.body)
        case DoWhile(body=body, condition=condition):
            *lines, last = _with_body("do", body)
            yield from lines
            yield f"{last} while ({_expression(condition, top=True)});"
        case Block(statements=statements):
            # `void f() { {} }` could initialise something called `f`.
            yield from _with_body("", statement) if statements else ("{", f"{_INDENT};", "}")


def _case(case: Case) -> Iterator[str]:
    if case.value is None:
        yield "default:"
    else:
        ends = (case.value,) if case.last is None else (case.value, case.last)
        values = (_expression(each, _ABOVE_CONDITIONAL, top=True) for each in ends)
        yield f"case {' ... '.join(values)}:"
    yield from _body(case.statements)


def _name_declaration(statement: NameDeclaration) -> str:
    match statement:
        case Alias(name=name, type=type_):
            return f"using {name} = {_type(type_)};"
        case UsingName(name=name, is_enumeration=is_enumeration, is_pack=is_pack):
            return f"using {'enum ' if is_enumeration else ''}{name}{'...' if is_pack else ''};"
        case StaticAssert(condition=condition, message=message):
            text = "" if message is None else f', "{message}"'
            return f"static_assert({_expression(condition, _ASSIGNMENT, top=True)}{text});"
        case Enumeration(name=name, enumerators=enumerators, base=base, is_scoped=is_scoped):
            shown = "" if name.startswith("(") else name
            head = f"enum {'class ' if is_scoped else ''}{shown}".rstrip()
            head += "" if base is None else f" : {_type(base)}"
            return f"{head} {{ {', '.join(map(_enumerator, enumerators))} }};"


def _enumerator(enumerator: Enumerator) -> str:
    if enumerator.value is None:
        return enumerator.name
    return f"{enumerator.name} = {_expression(enumerator.value, _ASSIGNMENT, top=True)}"


def _directive(directive: Define | Undefine | Pragma) -> str:
    match directive:
        case Define(name=name, body=body, parameters=parameters):
            listed = "" if parameters is None else f"({', '.join(parameters)})"
            return f"#define {name}{listed} {body}".rstrip()
        case Undefine(name=name):
            return f"#undef {name}"
        case Pragma(text=text):
            return f"#pragma {text}"


def _with_body(head: str, body: Block) -> Iterator[str]:
    yield f"{head} {{".lstrip()
    yield from _body(body.statements)
    yield "}"


def _body(statements: Sequence[Statement]) -> Iterator[str]:
    return _indent(line for each in _with_unnamed(statements) for line in each)


def _with_unnamed(items: Sequence[Item | Statement]) -> Iterator[Iterator[str]]:
    """The lines of statements; an unnamed type is written where it is used."""
    unnamed = dict[str, Struct]()
    for item in items:
        match item:
            case Struct(name=name) if name.startswith("("):
                unnamed[name] = item
            case Declaration(type=NamedType(name=name)) if name in unnamed:
                yield (_Line(line, item.position) for line in _field(item, unnamed))
            case _:
                yield _item(item)


def _branch(branch: If) -> Iterator[str]:
    word = "if constexpr" if branch.is_constexpr else "if"
    head = f"{word} ({_expression(branch.condition, top=True)})"
    while True:
        yield f"{head} {{"
        yield from _body(branch.then.statements)
        match branch.otherwise:
            case None:
                yield "}"
                return
            case Block() as block:
                yield from _with_body("} else", block)
                return
            case If() as branch:
                word = "if constexpr" if branch.is_constexpr else "if"
                head = f"}} else {word} ({_expression(branch.condition, top=True)})"


def _loop_head(loop: For | While) -> str:
    if isinstance(loop, While):
        return f"while ({_expression(loop.condition, top=True)})"
    match loop.start:
        case None:
            start = ";"
        case Declaration():
            start = _declaration(loop.start)
        case Evaluate():
            start = f"{_evaluation(loop.start)};"
    condition = "" if loop.condition is None else f" {_expression(loop.condition, top=True)}"
    step = "" if loop.step is None else f" {_expression(loop.step, top=True)}"
    return f"for ({start}{condition};{step})"


def _evaluation(statement: Evaluate) -> str:
    """An expression as a statement; in parentheses if it could be read as a declaration."""
    expression = statement.expression
    text = _expression(expression, top=True)
    match expression:
        case BinaryOperation(operator=operator) if operator not in ("<<", ","):
            return f"({text})"
        case Name():
            return f"({text})"
        case _:
            first, bracket, _ = text.partition("(")
            return f"({text})" if bracket and first and is_built_in_type(first) else text


def _declaration(declaration: Declaration) -> str:
    words = _alignments(declaration.alignments)
    words += "".join(f"{word} " for word in declaration.specifiers)
    top = len(declaration.declarators) == 1
    prefix = "" if declaration.scope is None else f"{_type(declaration.scope)}::"
    declared = [
        f"{_marks(each.type)}{prefix}{_declarator(each, top=top)}"
        for each in declaration.declarators
    ]
    match declaration.type:
        case Pointer(pointee=FunctionOf()) | Reference(referent=ArrayOf() | FunctionOf()) if top:
            only = declaration.declarators[0]
            name = _declarator(replace(only, value=None, arguments=None), top=True)
            rest = declared[0].removeprefix(name)
            return f"{words}{_declared(declaration.type, name)}{rest};"
        case _:
            return f"{words}{_type(declaration.type)} {', '.join(declared)};"


def _marks(type_: Type | None) -> str:
    """What stands before a name whose type is made from that of its declaration."""
    match type_:
        case Pointer(pointee=pointee, const=const):
            return f"{_marks(pointee)}*{' const ' if const else ''}"
        case Reference(referent=referent, is_rvalue=is_rvalue):
            return f"{_marks(referent)}{'&&' if is_rvalue else '&'}"
        case _:
            return ""


def _declarator(declarator: Declarator, *, top: bool = False) -> str:
    sizes = "".join(
        "[]" if size is None else f"[{_expression(size, _ASSIGNMENT)}]" for size in declarator.sizes
    )
    value = ""
    if declarator.arguments is not None:
        value = f"({', '.join(map(_bracketed_argument, declarator.arguments))})"
    elif declarator.value is not None:
        sign = "" if declarator.is_direct else " = "
        value = f"{sign}{_initial_value(declarator.value, top=top)}"
    if declarator.bits is not None:
        value = f" : {_expression(declarator.bits, _ASSIGNMENT)}"
    return f"{declarator.name}{sizes}{value}"


def _bracketed_argument(argument: Expression | Braces) -> str:
    """An argument of a declaration, in parentheses where it could be a parameter."""
    text = _argument(argument)
    is_plain = isinstance(argument, (Braces, Integer, Floating, Boolean, String, Name))
    return text if is_plain else f"({text})"


def _argument(argument: Expression | Braces) -> str:
    return _initial_value(argument)


def _binding(binding: Binding) -> str:
    words = "".join(f"{word} " for word in binding.specifiers)
    return f"{words}{_type(binding.type)} [{', '.join(binding.names)}]"


def _range_head(loop: RangeFor) -> str:
    declaration = loop.declaration
    if isinstance(declaration, Binding):
        return f"for ({_binding(declaration)} : {_initial_value(declaration.value, top=True)})"
    (declarator,) = declaration.declarators
    words = "".join(f"{word} " for word in declaration.specifiers)
    range_ = declarator.value
    assert range_ is not None
    name = f"{words}{_type(declaration.type)} {declarator.name}"
    return f"for ({name} : {_initial_value(range_, top=True)})"


# Types.


def _scope(type_: Type) -> str:
    """What stands before a member of a type: one of a template without arguments as `Q<>::`."""
    has_list = not isinstance(type_, NamedType) or bool(type_.template_arguments)
    return f"{_type(type_)}{'' if has_list else '<>'}::"


def _type(type_: Type) -> str:
    match type_:
        case NamedType(name=name, template_arguments=arguments, qualifiers=qualifiers):
            words = "".join(f"{word} " for word in qualifiers)
            if type_.scope is not None:
                name = f"typename {_scope(type_.scope)}{'template ' if arguments else ''}{name}"
            return words + name + _template_list(arguments)
        case Pointer(pointee=FunctionOf()):
            return _declared(type_, "")
        case Pointer(holder=NamedType() as holder, pointee=pointee, const=const):
            return f"{_type(pointee)} {_type(holder)}::*{' const' * const}"
        case Pointer(pointee=pointee, const=const):
            return f"{_type(pointee)}* const" if const else f"{_type(pointee)}*"
        case Reference(referent=ArrayOf() | FunctionOf()):
            return _declared(type_, "")
        case Reference(referent=referent, is_rvalue=is_rvalue):
            return f"{_type(referent)}{'&&' if is_rvalue else '&'}"
        case ArrayOf() | FunctionOf():
            return _declared(type_, "")
        case Decltype(expression=expression, in_brackets=in_brackets):
            operand = _expression(expression, top=True)
            return f"decltype(({operand}))" if in_brackets else f"decltype({operand})"


def _template_list(arguments: Sequence[TemplateArgument]) -> str:
    return f"<{', '.join(map(_template_argument, arguments))}>" if arguments else ""


def _template_argument(argument: TemplateArgument) -> str:
    if isinstance(argument, Expansion):
        return f"{_template_argument(argument.pattern)}..."
    text = _type_or_expression(argument)
    return text if isinstance(argument, _PLAIN_OPERANDS) else f"({text})"


def _type_or_expression(node: TemplateArgument) -> str:
    if isinstance(node, NamedType | Pointer | Reference | ArrayOf | FunctionOf | Decltype):
        return _type(node)
    return _expression(node)


# Expressions.


def _expression(expression: Expression, at_least: int = 0, *, top: bool = False) -> str:
    """The text of an expression, in parentheses if it binds less than `at_least`.

    `top` says that no `<` or `>` stands before or after it.
    """
    text, level = _with_level(expression, top)
    angled = isinstance(expression, BinaryOperation) and expression.operator in _ANGLES and not top
    return f"({text})" if angled or level < at_least else text


def _with_level(expression: Expression, top: bool) -> tuple[str, int]:
    match expression:
        case BinaryOperation():
            return _binary(expression, top), PRECEDENCE[expression.operator]
        case Assign(
            target=target, value=Construct(type=Decltype(expression=named), elements=elements)
        ) if named == target:
            return f"{_expression(target, _PREFIX)} = {_braces(elements)}", _ASSIGNMENT
        case Assign(target=target, operator=operator, value=value):
            right = _expression(value, _ASSIGNMENT, top=top)
            return f"{_expression(target, _PREFIX)} {operator} {right}", _ASSIGNMENT
        case Conditional():
            parts = (expression.condition, expression.true_value, expression.false_value)
            condition, true, false = (_expression(part, _ABOVE_CONDITIONAL) for part in parts)
            return f"{condition} ? {true} : {false}", _ASSIGNMENT
        case Unary() | Cast(kind="c") | SizeOf():
            return _prefix(expression), _PREFIX
        case Update(operator=operator, operand=operand, postfix=True):
            return _expression(operand, _POSTFIX) + operator, _PREFIX
        case Update(operator=operator, operand=operand):
            return operator + _expression(operand, _POSTFIX), _PREFIX
        case _:
            return _primary(expression), _POSTFIX


def _binary(binary: BinaryOperation, top: bool) -> str:
    level = PRECEDENCE[binary.operator]
    if binary.operator == ",":
        # `(a -= 1, b)` begins like the folding of a parameter pack.
        parts = (
            _expression(part, lowest if top or not isinstance(part, Assign) else _PREFIX)
            for part, lowest in ((binary.left, level), (binary.right, level + 1))
        )
        return ", ".join(parts)
    left_level = level + 1 if binary.operator in _COMPARISONS else level
    left = _expression(binary.left, left_level)
    right = _expression(binary.right, level + 1)
    return f"{left} {binary.operator} {right}"


def _prefix(expression: Unary | Cast | SizeOf) -> str:
    match expression:
        case Unary(operator=operator, operand=operand):
            text = _expression(operand, _PREFIX)
            joins = text.startswith(operator) and operator in "+-&"
            return f"{operator}({text})" if joins else operator + text
        case Cast(type=type_, value=value):
            # `(T) -x` is a difference where `T` may be a variable.
            is_type = not isinstance(type_, NamedType) or is_built_in_type(type_.name)
            return f"({_type(type_)}) {_expression(value, _PREFIX if is_type else _POSTFIX)}"
        case SizeOf(operand=operand, is_alignment=is_alignment):
            # `sizeof(a[i])` could be about a type of arrays.
            text = _type_or_expression(operand)
            word = "alignof" if is_alignment else "sizeof"
            return (
                f"{word}({text})" if isinstance(operand, _PLAIN_OPERANDS) else f"{word}(({text}))"
            )


def _primary(expression: Expression) -> str:
    match expression:
        case FunctionCall(
            callee=callee, arguments=arguments, template_arguments=template_arguments
        ):
            listed = ", ".join(map(_argument, arguments))
            called = _expression(callee, _POSTFIX)
            if template_arguments and isinstance(callee, Member):
                head, dot, member = called.rpartition("->" if callee.arrow else ".")
                called = f"{head}{dot}template {member}"
            return f"{called}{_template_list(template_arguments)}({listed})"
        case Construct(type=type_, elements=elements):
            return _type(type_) + _braces(elements)
        case Index(base=base, index=index):
            return f"{_base(base)}[{_expression(index, _ASSIGNMENT)}]"
        case New(place=place, type=type_, arguments=arguments, braced=braced):
            brackets = "{}" if braced else "()"
            listed = ", ".join(map(_argument, arguments or ()))
            made = "" if arguments is None else f"{brackets[0]}{listed}{brackets[1]}"
            return f"(new ({_expression(place, _ASSIGNMENT)}) {_type(type_)}{made})"
        case PointedMember(base=base, pointer=pointer):
            return f"({_base(base)}.*({_expression(pointer, _ASSIGNMENT)}))"
        case Member(base=base, member=member, arrow=arrow):
            return f"{_base(base)}{'->' if arrow else '.'}{member}"
        case Cast(kind="functional", type=type_, value=value):
            return f"{_type(type_)}({_expression(value, _ASSIGNMENT)})"
        case Cast(kind=kind, type=type_, value=value):
            return f"{kind}<{_type(type_)}>({_expression(value, _ASSIGNMENT)})"
        case _:
            return _newer_primary(expression)


def _newer_primary(expression: Expression) -> str:
    match expression:
        case Lambda():
            return _lambda(expression)
        case OffsetOf(type=type_, member=member):
            return f"offsetof({_type(type_)}, {member})"
        case Fold(operator=operator, pattern=pattern, start=start, leftward=leftward):
            text = _expression(pattern, _PREFIX)
            if start is not None:
                return f"({text} {operator} ... {operator} {_expression(start, _PREFIX)})"
            return f"(... {operator} {text})" if leftward else f"({text} {operator} ...)"
        case Expansion(pattern=pattern):
            return f"{_type_or_expression(pattern)}..."
        case _:
            return _word(expression)


def _lambda(node: Lambda) -> str:
    """A lambda on one line: its statements are those of a block."""
    captures = [node.default] if node.default else []
    captures += map(_capture, node.captures)
    parameters = ", ".join(map(_parameter, node.parameters))
    words = " mutable" if node.is_mutable else ""
    result = "" if node.result is None else f" -> {_type(node.result)}"
    lines = [line.strip() for line in _body(node.body.statements)]
    body = " ".join(lines)
    listed = ", ".join(map(_template_parameter, node.template_parameters))
    template = f"<{listed}>" if listed else ""
    return f"[{', '.join(captures)}]{template}({parameters}){words}{result} {{ {body} }}"


def _capture(capture: Capture) -> str:
    sign = "&" if capture.by_reference else ""
    if capture.value is not None:
        return f"{sign}{capture.name} = {_initial_value(capture.value)}"
    return f"{sign}{capture.name}{'...' if capture.is_pack else ''}"


def _base(base: Expression) -> str:
    """What stands before an index or a member; a sign before a number would stick to it."""
    text = _expression(base, _POSTFIX)
    return f"({text})" if isinstance(base, Integer | Floating) else text


def _word(expression: Expression) -> str:
    match expression:
        case Integer(text=text) | Floating(text=text):
            return text
        case Name(text=text, template_arguments=arguments, scope=scope):
            if scope is not None:
                text = f"{_scope(scope).removeprefix('typename ')}{text}"
            return text + _template_list(arguments)
        case This():
            return "this"
        case CountOf(pack=pack):
            return f"sizeof...({pack})"
        case Boolean(value=value):
            return "true" if value else "false"
        case String(text=text):
            return f'"{text}"'
        case Character(text=text):
            return f"'{text}'"
        case Null():
            return "nullptr"
        case _:
            raise AssertionError(f"{type(expression).__name__} is no expression of one word")


def _braces(elements: Sequence[Initializer]) -> str:
    listed = (
        ("" if element.member is None else f".{element.member} = ") + _initial_value(element.value)
        for element in elements
    )
    return f"{{{', '.join(listed)}}}"


def _initial_value(value: Expression | Braces, *, top: bool = False) -> str:
    if isinstance(value, Braces):
        return _braces(value.elements)
    return _expression(value, _ASSIGNMENT, top=top)
