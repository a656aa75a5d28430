"""Kernel trees survive the way to text and back; the text is C++ to a C++ compiler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttmlir.cpp.include_path import kernel_header
from ttmlir.cpp.parse import parse
from ttmlir.cpp.render import render
from ttmlir.cpp.tree import (
    ASSIGNMENT_OPERATORS,
    BINARY_OPERATORS,
    SPECIFIERS,
    TYPE_QUALIFIERS,
    UNARY_OPERATORS,
    UPDATE_OPERATORS,
    Alias,
    Assign,
    BinaryOperation,
    Block,
    Boolean,
    Braces,
    Break,
    Case,
    Cast,
    Character,
    Conditional,
    Construct,
    Continue,
    Declaration,
    Declarator,
    Define,
    DoWhile,
    Enumeration,
    Enumerator,
    Evaluate,
    Expression,
    Floating,
    For,
    Function,
    FunctionCall,
    If,
    Include,
    Index,
    Initializer,
    Integer,
    Member,
    Name,
    NamedType,
    Namespace,
    Null,
    Parameter,
    Pointer,
    Pragma,
    Reference,
    Return,
    SizeOf,
    Statement,
    StaticAssert,
    String,
    Struct,
    Switch,
    TemplateParameter,
    TranslationUnit,
    Unary,
    Undefine,
    Update,
    UsingName,
    UsingNamespace,
    While,
)
from ttmlir.schema.versions import load

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.cpp"))
GOLDEN = Path(__file__).parents[2] / "golden"
COMPILER = shutil.which("g++")

by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)


# Generated trees.

VARIABLES = st.sampled_from(["i", "n_tiles", "l1_addr", "v12", "count"])
MEMBERS = st.sampled_from(["page_size", "x", "next"])
FUNCTIONS = st.sampled_from(["f", "get_arg_val", "tt::f", "::tt::deep::g"])
BUILT_IN = st.sampled_from(["uint32_t", "int32_t", "bool", "uint8_t", "size_t", "float"])
CLASSES = st.sampled_from(["Foo", "InterleavedAddrGenFast", "tt::CB", "::tt::CB"])


def tuples(strategy: st.SearchStrategy, at_most: int = 3, at_least: int = 0) -> st.SearchStrategy:
    """Short tuples."""
    return st.lists(strategy, min_size=at_least, max_size=at_most).map(tuple)


def unique(words: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the words, in any order."""
    return st.lists(st.sampled_from(words), unique=True, max_size=len(words)).map(tuple)


LEAVES = st.one_of(
    st.sampled_from(["0", "7", "0x1Fu", "0b101", "1'024UL", "017", "4294967296ll"]).map(Integer),
    st.sampled_from(["1.5f", "1e-3", "2.", ".5", "3.0e+4F"]).map(Floating),
    st.booleans().map(Boolean),
    st.sampled_from(["", "block ", r"\"\n", "µ // no comment"]).map(String),
    st.sampled_from(["a", r"\n", r"\'"]).map(Character),
    st.just(Null()),
    VARIABLES.map(Name),
    st.sampled_from(["tt::CBIndex::c_0", "::tt::CB::c_in0"]).map(Name),
)
TEMPLATE_LEAVES = st.one_of(
    BUILT_IN.map(NamedType),
    BUILT_IN.map(NamedType).map(Pointer),
    st.sampled_from(["N", "tt::DataFormat::Bfp8_b"]).map(Name),
    st.sampled_from(["0", "16"]).map(Integer),
    st.booleans().map(Boolean),
)
PLAIN_TYPES = st.one_of(
    st.builds(NamedType, BUILT_IN, qualifiers=unique(TYPE_QUALIFIERS)),
    st.just(NamedType("unsigned long")),
    st.builds(NamedType, CLASSES, tuples(TEMPLATE_LEAVES, 2), unique(TYPE_QUALIFIERS)),
)
POINTERS = st.one_of(
    st.builds(Pointer, PLAIN_TYPES, st.booleans()),
    st.builds(Pointer, st.builds(Pointer, PLAIN_TYPES, st.booleans()), st.booleans()),
    PLAIN_TYPES.map(Reference),
    PLAIN_TYPES.map(Pointer).map(Reference),
)
TYPES = PLAIN_TYPES | POINTERS


def larger_expressions(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Expressions with the given ones as their operands."""
    elements = tuples(st.builds(Initializer, inner, st.none() | MEMBERS))
    members = st.builds(Member, inner, MEMBERS, st.booleans())
    template_arguments = tuples(TEMPLATE_LEAVES | inner, 2)
    dereferences = inner.map(lambda operand: Unary("*", operand))
    places = VARIABLES.map(Name) | st.builds(Index, inner, inner) | members | dereferences
    return st.one_of(
        st.builds(Unary, st.sampled_from(UNARY_OPERATORS), inner),
        st.builds(Update, st.sampled_from(UPDATE_OPERATORS), places, st.booleans()),
        st.builds(BinaryOperation, st.sampled_from(BINARY_OPERATORS), inner, inner),
        st.builds(Conditional, inner, inner, inner),
        st.builds(Assign, places, st.sampled_from(ASSIGNMENT_OPERATORS), inner),
        st.builds(Cast, st.just("c"), TYPES, inner),
        st.builds(Cast, st.just("functional"), BUILT_IN.map(NamedType), inner),
        st.builds(Cast, st.sampled_from(["static_cast", "reinterpret_cast"]), TYPES, inner),
        st.builds(SizeOf, POINTERS | BUILT_IN.map(NamedType) | inner),
        places,
        st.builds(FunctionCall, FUNCTIONS.map(Name), tuples(inner), template_arguments),
        st.builds(FunctionCall, members, tuples(inner)),
        st.builds(Construct, st.builds(NamedType, st.sampled_from(["Foo", "Bar"])), elements),
    )


EXPRESSIONS = st.recursive(LEAVES, larger_expressions, max_leaves=8)
BRACES = st.recursive(
    st.builds(Braces, tuples(st.builds(Initializer, EXPRESSIONS, st.none() | MEMBERS))),
    lambda inner: st.builds(Braces, tuples(st.builds(Initializer, inner))),
    max_leaves=3,
)
DECLARATORS = st.builds(
    Declarator, VARIABLES, tuples(st.none() | EXPRESSIONS, 2), st.none() | EXPRESSIONS | BRACES
)
DECLARATIONS = st.one_of(
    st.builds(Declaration, PLAIN_TYPES, tuples(DECLARATORS, 3, 1), unique(SPECIFIERS)),
    st.builds(Declaration, POINTERS, tuples(DECLARATORS, 1, 1), unique(SPECIFIERS)),
)
DIRECTIVES = st.one_of(
    st.sampled_from(
        [Define("M1", "1 + 2"), Define("M2", "(x) * y", ("x", "y")), Define("M3"), Define("M4", "")]
    ),
    st.sampled_from(["M1", "M3"]).map(Undefine),
    st.just(Pragma("GCC unroll 8")),
)
ENUMERATORS = st.builds(Enumerator, st.sampled_from(["READ", "WRITE"]), st.none() | EXPRESSIONS)
MEANINGS = st.one_of(
    st.builds(Alias, st.sampled_from(["word", "semaphore_t"]), TYPES),
    st.sampled_from(["tt::CBIndex", "::tt::deep::f"]).map(UsingName),
    st.builds(
        Enumeration,
        st.just("Mode"),
        tuples(ENUMERATORS),
        st.none() | BUILT_IN.map(NamedType),
        st.booleans(),
    ),
    st.builds(StaticAssert, EXPRESSIONS, st.none() | st.sampled_from(["", r"too \"many\""])),
)
SIMPLE_STATEMENTS = st.one_of(
    DECLARATIONS,
    MEANINGS,
    EXPRESSIONS.map(Evaluate),
    st.builds(Return, st.none() | EXPRESSIONS),
    st.just(Break()),
    st.just(Continue()),
    DIRECTIVES,
)


def larger_statements(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
    """Statements with the given ones in their bodies."""
    blocks = tuples(inner).map(Block)
    branches = st.builds(If, EXPRESSIONS, blocks, st.none() | blocks, st.booleans())
    # Directly behind a label, the grammar takes an enumeration for the beginning of a variable.
    behind_labels = tuples(inner).filter(
        lambda statements: not (statements and isinstance(statements[0], Enumeration))
    )
    cases = st.builds(Case, st.none() | EXPRESSIONS, behind_labels)
    starts = st.none() | DECLARATIONS | EXPRESSIONS.map(Evaluate)
    return st.one_of(
        blocks,
        branches,
        st.builds(If, EXPRESSIONS, blocks, branches),
        st.builds(For, starts, st.none() | EXPRESSIONS, st.none() | EXPRESSIONS, blocks),
        st.builds(While, EXPRESSIONS, blocks),
        st.builds(DoWhile, blocks, EXPRESSIONS),
        st.builds(Switch, EXPRESSIONS, tuples(cases)),
    )


STATEMENTS = st.recursive(SIMPLE_STATEMENTS, larger_statements, max_leaves=4)
FIELDS = st.builds(
    Declaration,
    TYPES,
    st.builds(Declarator, MEMBERS, value=st.none() | EXPRESSIONS).map(lambda d: (d,)),
)
TEMPLATE_PARAMETERS = st.builds(
    TemplateParameter, st.sampled_from(["T", "N"]), st.none() | BUILT_IN.map(NamedType)
)
ITEMS = st.one_of(
    MEANINGS,
    st.builds(Include, st.sampled_from(["stdint.h", "a/b.h"]), st.booleans()),
    DIRECTIVES,
    st.just(UsingNamespace("tt::deep")),
    DECLARATIONS,
    st.builds(Struct, st.just("Block"), tuples(FIELDS)),
    st.builds(
        Function,
        st.sampled_from(["kernel_main", "helper"]),
        tuples(
            st.builds(Parameter, TYPES, st.none() | VARIABLES)
            | st.builds(Parameter, TYPES, VARIABLES, EXPRESSIONS)
        ),
        st.none() | tuples(STATEMENTS).map(Block),
        TYPES,
        unique(SPECIFIERS),
        st.just(()) | tuples(TEMPLATE_PARAMETERS, 2, 1),
    ),
    st.builds(Function, st.just("MAIN"), definition=tuples(STATEMENTS).map(Block)),
)
UNITS = st.builds(
    TranslationUnit,
    tuples(
        ITEMS | st.builds(Namespace, st.sampled_from(["NAMESPACE", "a::b", ""]), tuples(ITEMS, 2)),
        3,
    ),
)


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(UNITS)
def test_generated_trees_survive_text(unit: TranslationUnit) -> None:
    """Every tree is read back from its own text."""
    assert parse(render(unit)) == unit


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(EXPRESSIONS)
def test_generated_expressions_survive_text(expression: Expression) -> None:
    """Every expression is read back as a statement, a condition and an initial value."""
    body = Block(
        (
            Evaluate(expression),
            If(expression, Block()),
            Declaration(NamedType("uint32_t"), (Declarator("i", value=expression),)),
            Return(expression),
        )
    )
    unit = TranslationUnit((Function("f", definition=body),))
    assert parse(render(unit)) == unit


# Kernels written by hand.


@by_kernel
def test_hand_written_kernels_are_stable(kernel: Path) -> None:
    """Text, tree, text, tree: the trees are equal, and the second text is the first."""
    tree = parse(kernel.read_text(encoding="utf-8"), str(kernel))
    text = render(tree)
    assert parse(text) == tree
    assert render(parse(text)) == text


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@by_kernel
def test_a_compiler_accepts_rendered_kernels(kernel: Path, tmp_path: Path) -> None:
    """g++ accepts the kernel as it was written and as it is rendered."""
    source = kernel.read_text(encoding="utf-8")
    tree = parse(source, str(kernel))
    calls = tmp_path / "calls.h"
    calls.write_text(kernel_header())
    for item in tree.items:
        if isinstance(item, Include) and not item.standard:
            header = tmp_path / item.path
            header.parent.mkdir(parents=True, exist_ok=True)
            header.touch()
    for text in (source, render(tree)):
        command = [str(COMPILER), "-std=c++20", "-fsyntax-only", "-Wno-int-to-pointer-cast", "-x"]
        command += ["c++", "-include", str(calls), "-I", str(tmp_path), "-"]
        result = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
        assert result.returncode == 0, result.stderr


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_rendered_expressions_mean_what_the_tree_says(tmp_path: Path) -> None:
    """A compiled program computes from rendered expressions what Python computes from the trees."""
    one, two, seven = (Integer(text) for text in ("1", "2", "7"))
    cases = {
        BinaryOperation("-", seven, BinaryOperation("-", two, one)): 7 - (2 - 1),
        BinaryOperation("*", BinaryOperation("+", one, two), seven): (1 + 2) * 7,
        BinaryOperation("-", two, Unary("-", Unary("-", seven))): 2 - 7,
        BinaryOperation("<", BinaryOperation("<", seven, two), BinaryOperation(">", seven, one)): (
            7 < 2
        )
        < (7 > 1),
        BinaryOperation("&", seven, BinaryOperation("==", two, two)): 7 & (2 == 2),
        BinaryOperation("<<", one, BinaryOperation("+", two, one)): 1 << (2 + 1),
        BinaryOperation("%", BinaryOperation("/", seven, two), two): 7 // 2 % 2,
        Conditional(Conditional(one, Integer("0"), two), seven, Conditional(two, two, one)): 2,
        Unary("!", BinaryOperation("&&", one, Unary("~", Integer("0")))): 0,
        Cast("c", NamedType("int"), BinaryOperation("/", Floating("7.5"), two)): 3,
        BinaryOperation("/", Cast("c", NamedType("int"), Floating("7.5")), two): 3,
        BinaryOperation(",", one, seven): 7,
    }
    checks = "".join(
        f"  if (({render(tree)}) != {int(value)}) return {number};\n"
        for number, (tree, value) in enumerate(cases.items(), start=1)
    )
    program = tmp_path / "program"
    command = [str(COMPILER), "-std=c++20", "-w", "-x", "c++", "-", "-o", str(program)]
    subprocess.run(command, input=f"int main() {{\n{checks}}}\n", text=True, check=True)
    assert subprocess.run([program], check=False).returncode == 0


def test_layout_is_that_of_the_emitc_printer() -> None:
    """A kernel as the compiler prints it is rendered letter by letter."""
    text = (Path(__file__).parent / "kernels" / "generated_multiply.cpp").read_text()
    assert render(parse(text)) == text


def kernel_sources(value: object) -> Iterator[str]:
    """The C++ texts anywhere in a decoded binary."""
    match value:
        case str() if "void kernel_main()" in value:
            yield value
        case dict():
            yield from (text for each in value.values() for text in kernel_sources(each))
        case list() | tuple():
            yield from (text for each in value for text in kernel_sources(each))
        case _:
            return


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.ttm")), ids=lambda path: path.name)
def test_kernels_of_compiled_programs_survive_letter_by_letter(path: Path) -> None:
    """tt-mlir's own kernels are read, and rendered as they were but for stray semicolons."""
    sources = list(kernel_sources(load(path.read_bytes(), path.name).root.as_dict()))
    assert sources
    for source in sources:
        tree = parse(source, path.name)
        assert render(tree).rstrip() == source.replace("};\n", "}\n").rstrip()
        assert parse(render(tree)) == tree


# Forms.


def body_of(text: str) -> tuple[Statement, ...]:
    """The statements of a function with this body."""
    (function,) = parse(f"void f() {{ {text} }}").items
    assert isinstance(function, Function)
    assert function.body is not None
    return function.body.statements


def test_nodes_know_where_they_stand() -> None:
    """Positions are those of the source, also behind macros, and take no part in equality."""
    unit = parse("#define N (2 +\\\n 3)\n\nvoid f() {\n\tg(N);\n}\n", "k.cpp")
    _, function = unit.items
    assert isinstance(function, Function)
    assert str(function.position) == "k.cpp:4:1"
    assert function.body is not None
    (statement,) = function.body.statements
    assert str(statement.position) == "k.cpp:5:2"
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.expression, FunctionCall)
    assert str(statement.expression.arguments[0].position) == "k.cpp:5:4"
    assert statement == Evaluate(
        FunctionCall(Name("g"), (BinaryOperation("+", Integer("2"), Integer("3")),))
    )


def test_literals_have_values() -> None:
    """A literal keeps its spelling and knows its value."""
    spelled = {"017": 15, "0x1Fu": 31, "0b101UL": 5, "1'024": 1024, "0": 0}
    assert {text: Integer(text).value for text in spelled} == spelled
    assert Integer("7u").is_unsigned
    assert not Integer("7").is_unsigned
    assert Floating("1.5f").value == 1.5


@pytest.mark.parametrize("left", ["a", "(a)", "f(1)", "2", "a[1]", "s.a", "(b + 1)"])
def test_a_minus_without_space_is_a_difference(left: str) -> None:
    """A sign belongs to a number only where no operand stands before it."""
    assert body_of(f"x = {left} -1;") == body_of(f"x = {left} - 1;")
    assert body_of(f"x = {left}-1;") == body_of(f"x = {left} - 1;")


def test_postfix_binds_before_prefix() -> None:
    """`-x++` negates the value from before the step, `*p++` reads before it."""
    step = Update("++", Name("p"), postfix=True)
    assert body_of("x = ~-p++;") == body_of("x = ~(-(p++));")
    assert body_of("*p++;") == (Evaluate(Unary("*", step)),)


def test_bodies_are_blocks() -> None:
    """Braces around one statement, and semicolons alone, make no difference."""
    assert body_of("if (a) b = 1; else while (c) ;;") == body_of(
        "if (a) { b = 1; } else { while (c) { } }"
    )


def test_designated_initializers() -> None:
    """Members that are named keep their names."""
    (declaration,) = body_of("const A<true> s = {.base = 1, .format = B::c};")
    elements = (Initializer(Integer("1"), "base"), Initializer(Name("B::c"), "format"))
    type_ = NamedType("A", (Boolean(True),), ("const",))
    assert declaration == Declaration(type_, (Declarator("s", value=Braces(elements)),))


def test_comparisons_in_braces() -> None:
    """Without parentheses `{p < q, r > t}` is read as the arguments of a template."""
    less, more = (
        BinaryOperation("<", Name("p"), Name("q")),
        BinaryOperation(">", Name("r"), Name("t")),
    )
    named = (Initializer(less, "a"), Initializer(more, "b"))
    for elements in ((Initializer(less), Initializer(more)), named):
        declarator = Declarator("s", value=Braces(elements))
        statement = Declaration(NamedType("S"), (declarator,))
        text = render(Function("f", definition=Block((statement,))))
        assert "(p < q)" in text
        assert "(r > t)" in text
        (function,) = parse(text).items
        assert isinstance(function, Function)
        assert function.body == Block((statement,))


def test_direct_list_initialization_is_initialization() -> None:
    """`T a{1}` is `T a = {1}` but for a note, and an array parameter is a pointer."""
    [direct], [copied] = body_of("uint32_t a{1};"), body_of("uint32_t a = {1};")
    assert isinstance(copied, Declaration)
    [declarator] = copied.declarators
    noted = replace(declarator, is_direct=True)
    assert direct == replace(copied, declarators=(noted,))
    assert parse("void f(uint32_t a[4]);") == parse("void f(uint32_t* a);")
    assert parse("void f(void);") == parse("void f();")


def test_preprocessor_decides() -> None:
    """Conditionals, macros of both kinds and given definitions leave their outcome."""
    text = """
#if defined(BLOCK) && (BLOCK * 2 >= 8 || !1)
#  ifdef MISSING
    #error never
#  elif BLOCK == 4  // here
#define TWICE(x) ((x) * 2)
#define SIZE TWICE(BLOCK + 1)
#  else
    not C++ at all (
#  endif
#else
int wrong;
#endif
#undef MISSING
#ifndef SIZE
int wrong_too;
#endif
int right = SIZE /* a
comment */ + TWICE ( TWICE(1) );
"""
    *_, declaration = parse(text, defines={"BLOCK": "4"}).items
    assert render(declaration) == "int right = (4 + 1) * 2 + 1 * 2 * 2;\n"


def test_the_tree_and_its_modules_leave_the_ir_alone() -> None:
    """Who runs kernels loads neither xDSL nor, before the first text is parsed, tree-sitter."""
    program = (
        "import sys, ttmlir.cpp.tree, ttmlir.cpp.render, ttmlir.cpp.parse\n"
        "assert not {'xdsl', 'tree_sitter', 'tree_sitter_cpp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
