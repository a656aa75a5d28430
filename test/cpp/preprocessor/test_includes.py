"""Headers are found where C++ compilers find them, and nowhere else."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.include_path import IncludePath
from ttmlir.cpp.parse import parse
from ttmlir.cpp.preprocess import MAX_INCLUDE_DEPTH, MAX_INCLUDED_LENGTH, MAX_INCLUDES
from ttmlir.limits import MAX_SOURCE_LENGTH


def write(root: Path, files: dict[str, str]) -> None:
    """Files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read(root: Path, *folders: str, home: str = "", name: str = "k.cpp") -> tree.TranslationUnit:
    """The tree of a kernel, with the headers in some folders."""
    path = root / name
    given = tuple(root / each for each in folders)
    include_path = IncludePath.of_kernel(path, given, root / home if home else "")
    return parse(path.read_text(), str(path), include_path=include_path)


def variables(unit: tree.TranslationUnit | tree.Header) -> list[str]:
    """The names of the variables at the top, in the order in which they are declared."""
    found = list[str]()
    for item in unit.items:
        match item:
            case tree.Include(header=tree.Header() as header):
                found += variables(header)
            case tree.Declaration(declarators=declarators):
                found += [each.name for each in declarators]
            case _:
                pass
    return found


def last_value(unit: tree.TranslationUnit) -> tree.Expression | tree.Braces | None:
    """The initial value of the variable that the kernel declares last."""
    declared = unit.items[-1]
    assert isinstance(declared, tree.Declaration)
    return declared.declarators[0].value


def statuses(unit: tree.TranslationUnit) -> list[str]:
    """What became of each `#include` of the kernel."""
    return [each.status for each in unit.includes]


def test_order_of_search(tmp_path: Path) -> None:
    """Quoted names beside the file first, then the folders in their order."""
    for folder in ("kernels", "one", "two"):
        for name in ("a.h", "b.h", "c.h")[: {"kernels": 1, "one": 2, "two": 3}[folder]]:
            write(tmp_path, {f"{folder}/{name}": f"int {folder}_{name[0]};\n"})
    text = '#include "a.h"\n#include <a.h>\n#include "b.h"\n#include <c.h>\n'
    write(tmp_path, {"kernels/k.cpp": text})
    unit = read(tmp_path, "one", "two", name="kernels/k.cpp")
    assert variables(unit) == ["kernels_a", "one_a", "one_b", "two_c"]
    run = subprocess.run(
        ["g++", "-E", "-P", "-I", "one", "-I", "two", "kernels/k.cpp"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert re.findall(r"int (\w+);", run.stdout) == variables(unit)


def test_headers_look_beside_themselves(tmp_path: Path) -> None:
    """Not beside the kernel; `..` is fine as long as it stays in a folder that is given."""
    files = {
        "k.cpp": '#include "sub/a.h"\n',
        "sub/a.h": '#include "b.h"\n#include "../c.h"\nint a;\n',
        "sub/b.h": "int near;\n",
        "b.h": "int far;\n",
        "c.h": "int c;\n",
    }
    write(tmp_path, files)
    assert variables(read(tmp_path)) == ["near", "c", "a"]


def test_guards(tmp_path: Path) -> None:
    """`#pragma once` and include guards; a header without either is read each time."""
    files = {
        "k.cpp": '#include "once.h"\n#include "guard.h"\n#include "sub/../once.h"\n'
        '#include "guard.h"\n#define NAME x\n#include "often.h"\n#undef NAME\n#define NAME y\n'
        '#include "often.h"\n',
        "once.h": "#pragma once\nint a;\n",
        "guard.h": '#ifndef GUARD\n#define GUARD\n#include "once.h"\nint b;\n#endif\n',
        "often.h": "int NAME;\n",
        "sub/x.h": "",
    }
    write(tmp_path, files)
    unit = read(tmp_path)
    assert variables(unit) == ["a", "b", "x", "y"]
    assert statuses(unit) == ["read", "read", "again", "read", "read", "read"]


def test_headers_within_items(tmp_path: Path) -> None:
    """A table in an initialiser, statements in a function, members of a namespace."""
    files = {
        "k.cpp": 'int t[] = {\n#include "table.inc"\n};\nnamespace n {\n#include "items.h"\n}\n'
        'void kernel_main() {\n#include "body.h"\n}\n',
        "table.inc": "#define ONE 1\nONE, 2,\n",
        "items.h": "int inner;\n",
        "body.h": "int x = ONE;\n",
    }
    write(tmp_path, files)
    table, namespace, function = read(tmp_path).items
    assert isinstance(table, tree.Declaration)
    braces = table.declarators[0].value
    assert isinstance(braces, tree.Braces)
    assert [each.value for each in braces.elements] == [tree.Integer("1"), tree.Integer("2")]
    assert isinstance(namespace, tree.Namespace)
    assert namespace.items[0].position == tree.Position(str(tmp_path / "items.h"), 1, 1)
    assert isinstance(function, tree.Function)
    assert function.body is not None
    assert str(function.body.statements[0].position) == f"{tmp_path / 'body.h'}:1:1"


def test_questions_for_headers(tmp_path: Path) -> None:
    """`__has_include` asks the same folders; macros may make the name."""
    text = (
        '#if __has_include("a.h") && __has_include(<one.h>) && !__has_include("none.h")\nint yes;\n'
        "#endif\n#ifdef __has_include\nint known;\n#endif\n#define WHICH <one.h>\n"
        "#if __has_include(WHICH) and __has_include(<cstdint>)\n#include WHICH\n#endif\n"
    )
    write(tmp_path, {"k.cpp": text, "a.h": "int a;\n", "inc/one.h": "int one;\n"})
    assert variables(read(tmp_path, "inc")) == ["yes", "known", "one"]


@pytest.mark.parametrize(
    ("header", "written"),
    [
        ("ttnn/cpp/ttnn/kernel/x.hpp", "ttnn/kernel/x.hpp"),
        ("ttnn/cpp/ttnn/kernel/x.hpp", "cpp/ttnn/kernel/x.hpp"),
        ("ttnn/cpp/ttnn/kernel/x.hpp", "ttnn/cpp/ttnn/kernel/x.hpp"),
        ("tt_metal/fabric/x.hpp", "tt_metal/fabric/x.hpp"),
        ("tt_metal/fabric/x.hpp", "fabric/x.hpp"),
    ],
)
def test_trees_of_tt_metal(tmp_path: Path, header: str, written: str) -> None:
    """Names that the compiler of kernels finds below TT_METAL_HOME."""
    write(tmp_path, {"k/k.cpp": f'#include "{written}"\n', f"home/{header}": "int found;\n"})
    assert variables(read(tmp_path, home="home", name="k/k.cpp")) == ["found"]


@pytest.mark.parametrize(
    ("header", "written"),
    [
        ("tt_metal/hw/inc/api/dataflow/dataflow_api.h", "api/dataflow/dataflow_api.h"),
        ("tt_metal/hw/inc/unknown_registers.h", "unknown_registers.h"),
        ("tt_metal/include/compute_kernel_api/tilize.h", "compute_kernel_api/tilize.h"),
        ("tt_metal/hw/inc/dataflow_api.h", "tt_metal/hw/inc/dataflow_api.h"),
    ],
)
def test_headers_that_program_the_chip_are_not_read(
    tmp_path: Path, header: str, written: str
) -> None:
    """The package knows what they declare, or does without it."""
    write(tmp_path, {"k.cpp": f'#include "{written}"\n', f"home/{header}": "asm volatile(x);\n"})
    unit = read(tmp_path, home="home")
    assert statuses(unit) == ["built-in"]
    # What the package's own text of a header declares, if that.
    assert set(variables(unit)) <= {"noc_mode"}


def test_same_header_under_other_macros(tmp_path: Path) -> None:
    """What is kept of a header is not used where it says something else."""
    files = {
        "k.cpp": '#define SIZE 4\n#include "a.h"\n',
        "l.cpp": '#define SIZE 8\n#include "a.h"\n',
        "m.cpp": '#include "a.h"\n',
        "a.h": '#include "b.h"\n#if defined(SIZE) && SIZE > 4\nint large;\n#elif defined(SIZE)\n'
        "int small;\n#endif\n",
        "b.h": "#ifdef SIZE\nint size = SIZE;\n#else\nint none;\n#endif\n",
    }
    write(tmp_path, files)
    for _ in range(2):
        assert variables(read(tmp_path)) == ["size", "small"]
        assert variables(read(tmp_path, name="l.cpp")) == ["size", "large"]
        assert variables(read(tmp_path, name="m.cpp")) == ["none"]


def test_same_header_in_the_same_way_is_read_once(tmp_path: Path) -> None:
    """The tree of a header is shared by kernels that have other macros for other things."""
    files = {
        "k.cpp": '#define OTHER 4\n#include "a.h"\nint k = MADE;\n',
        "l.cpp": '#include "a.h"\nint l = MADE;\n',
        "a.h": "#pragma once\n#define MADE 7\ninline int f() { return MADE; }\n",
    }
    write(tmp_path, files)
    headers = [read(tmp_path, name=name).includes[0].header for name in ("k.cpp", "l.cpp")]
    assert headers[0] is headers[1]
    assert last_value(read(tmp_path, name="l.cpp")) == tree.Integer("7")


def test_changed_headers_are_read_again(tmp_path: Path) -> None:
    """Also those that a header includes, and those that were not there before."""
    files = {
        "k.cpp": '#include "a.h"\n',
        "a.h": '#include "b.h"\n#if __has_include("c.h")\nint c;\n#endif\n',
        "b.h": "int first;\n",
    }
    write(tmp_path, files)
    assert variables(read(tmp_path)) == ["first"]
    write(tmp_path, {"b.h": "int second;\n"})
    assert variables(read(tmp_path)) == ["second"]
    write(tmp_path, {"c.h": ""})
    assert variables(read(tmp_path)) == ["second", "c"]


def test_counting_headers_is_not_kept(tmp_path: Path) -> None:
    """`__COUNTER__` in a header goes on counting."""
    text = '#include "a.h"\n#include "a.h"\nint last = __COUNTER__;\n'
    write(tmp_path, {"k.cpp": text, "a.h": "int a = __COUNTER__;\n"})
    for _ in range(2):
        assert last_value(read(tmp_path)) == tree.Integer("2")


def test_errors_say_how_one_gets_there(tmp_path: Path) -> None:
    """The place is in the header, with its line, and notes lead from the kernel to it."""
    files = {
        "k.cpp": 'int a;\n#include "a.h"\n',
        "a.h": "\n  #include <b.h>\n",
        "inc/b.h": "int b;\n#if 1 / 0\n#endif\n",
    }
    write(tmp_path, files)
    with pytest.raises(CppSyntaxError) as caught:
        read(tmp_path, "inc")
    assert str(caught.value) == (
        f"{tmp_path}/inc/b.h:2:7: error: division by zero\n#if 1 / 0\n      ^\n"
        f"note: in file included from {tmp_path}/a.h:2:3\n"
        f"note: in file included from {tmp_path}/k.cpp:2:1"
    )


# What a kernel may not reach.


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../outside.h",
        "sub/../../outside.h",
        "link.h",
        "folder_link/outside.h",
        "sub",
        "pipe",
        "/dev/zero",
        "zero",
        "large.h",
        "binary.h",
        "..\\\\outside.h",
        "x" * 5000,
        "sub/../" * 200 + "sub/x.h",
    ],
)
@pytest.mark.parametrize("form", ['#include "{}"\n', "#include <{}>\n"])
def test_nothing_outside_is_opened(tmp_path: Path, name: str, form: str) -> None:
    """Neither by `..` nor by links, and nothing that is no plain text of bounded size."""
    write(tmp_path, {"outside.h": "int leaked;\n", "in/k.cpp": form.format(name), "in/sub/x.h": ""})
    (tmp_path / "in" / "link.h").symlink_to(tmp_path / "outside.h")
    (tmp_path / "in" / "folder_link").symlink_to(tmp_path)
    (tmp_path / "in" / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "in" / "pipe")
    (tmp_path / "in" / "large.h").write_bytes(b" " * (MAX_SOURCE_LENGTH + 1))
    (tmp_path / "in" / "binary.h").write_bytes(b"\xff\xfe\x00")
    unit = read(tmp_path, name="in/k.cpp")
    assert statuses(unit) == ["missing"]
    assert variables(unit) == []


def test_links_within_a_folder_are_followed(tmp_path: Path) -> None:
    """A tree may be built of links, as long as all of it is given."""
    write(
        tmp_path,
        {"k.cpp": '#include "b.h"\n#include "a.h"\n', "real/a.h": "#pragma once\nint a;\n"},
    )
    (tmp_path / "a.h").symlink_to(tmp_path / "real" / "a.h")
    (tmp_path / "b.h").symlink_to(tmp_path / "real" / "a.h")
    unit = read(tmp_path)
    assert variables(unit) == ["a"]
    assert statuses(unit) == ["read", "again"]


def test_a_text_without_a_file_has_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel in a string reads nothing of the current folder."""
    write(tmp_path, {"a.h": "int a;\n", "tt_metal/b.h": "int b;\n"})
    monkeypatch.chdir(tmp_path)
    unit = parse('#include "a.h"\n#include <b.h>\n', "k.cpp", include_path=IncludePath())
    assert statuses(unit) == ["missing", "missing"]


def test_without_a_path_nothing_is_looked_for(tmp_path: Path) -> None:
    """The tree only says what was written."""
    assert statuses(parse('#include "a.h"\n', str(tmp_path / "k.cpp"))) == ["unread"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.h": '#include "a.h"\n'}, f"more than {MAX_INCLUDE_DEPTH} levels deep"),
        (
            {"a.h": '#include "b.h"\n' * 40, "b.h": '#include "c.h"\n' * 40, "c.h": "\n"},
            f"more than {MAX_INCLUDES} headers are included",
        ),
        (
            {"a.h": '#include "b.h"\n' * 20, "b.h": " " * (MAX_SOURCE_LENGTH - 1) + "\n"},
            f"the headers have more than {MAX_INCLUDED_LENGTH} characters in all",
        ),
        ({"a.h": '{\n#include "a.h"\n'}, f"more than {MAX_INCLUDE_DEPTH} levels deep"),
        ({"a.h": "#if 1\n"}, "this conditional has no #endif"),
        ({"a.h": "#endif\n"}, "#endif without #if"),
        ({"a.h": "/* open"}, "the comment that begins here has no end"),
    ],
)
def test_headers_have_limits(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """Bombs end with an error in the header, the same one in each try."""
    write(tmp_path, {"k.cpp": '#include "a.h"\n', **files})
    texts = list[str]()
    for _ in range(2):
        with pytest.raises(CppSyntaxError, match=re.escape(message)) as caught:
            read(tmp_path)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "in file included from" in texts[0]


def test_brackets_of_any_depth_are_no_deep_recursion(tmp_path: Path) -> None:
    """What is wrong in a header matters where it is used, however wrong it is."""
    text = "int f() { return " + "(" * 50_000 + "; }\nint b = " + "[" * 50_000 + ";\n"
    write(tmp_path, {"k.cpp": '#include "a.h"\n', "a.h": text})
    assert variables(read(tmp_path)) == []
