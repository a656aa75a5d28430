"""Names of files that come from files, and files that appear as a whole or not at all."""

from __future__ import annotations

import ast
import os
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir import files
from ttmlir.files import (
    MAX_FILE_NAME,
    open_replacement,
    path_below,
    read_file,
    read_text,
    safe_file_name,
    write_file,
)

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = [
    *("", ".", "..", "../x", "x/../../../../escaped", "/etc/passwd", "a/b", "a\\b", "C:x", "~"),
    *("\0", "a\0b", "a\nb", "\x1b[2J", "a" * 129, "a" * 5000, "con", "NUL", "nul.json", "COM1"),
    *(".hidden", "x.", "-rf", "x ", " x", "é", "e\u0301", "\u202ename", "\ud800", "$(x)", "`x`"),
    *("a_b~0123", "*", "x|y", "x>y", "x;y", "x&y", '"', "'"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_unsafe_names_become_safe(name: str) -> None:
    """What leads elsewhere, or cannot be a name, gets another: short, printable, in its folder."""
    safe = safe_file_name(name)
    assert safe != name
    assert re.fullmatch(r"[A-Za-z0-9_+@=~][A-Za-z0-9_.+@=~-]*", safe)
    assert len(safe) <= MAX_FILE_NAME
    assert safe == safe_file_name(name)


@pytest.mark.parametrize("name", ["main", "forward_2", "jit.f", "a-b", "a+b=c@d", "x" * 128])
def test_plain_names_are_kept(name: str) -> None:
    """Names that are safe as they are stay readable."""
    assert safe_file_name(name) == name


def test_no_two_names_get_the_same_file() -> None:
    """Names that differ only in what is replaced or cut off, and names made of a safe one."""
    names = [*HOSTILE, "a_b", "a b", "a:b", "a" * 128, "a" * 130, "_", "__"]
    names += [safe_file_name(name) for name in names]
    assert len({safe_file_name(name) for name in set(names)}) == len(set(names))


@given(st.text(), st.text())
def test_any_two_names_get_two_files(first: str, second: str) -> None:
    """The same for any text."""
    assert (safe_file_name(first) == safe_file_name(second)) == (first == second)
    assert os.path.basename(os.path.normpath(safe_file_name(first))) == safe_file_name(first)


@pytest.mark.parametrize("size", [0, 1, 3_000_000, 3_000_001])
def test_file_is_read_up_to_the_limit(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that has one byte more is refused."""
    monkeypatch.setattr(files, "MAX_TEXT_LENGTH", 3_000_000)
    data = bytes(i % 251 for i in range(size))
    (tmp_path / "file").write_bytes(data)
    if size <= 3_000_000:
        assert read_file(tmp_path / "file") == data
        return
    with pytest.raises(OSError, match="it has more than 3000000 bytes, the most that are read"):
        read_file(tmp_path / "file")


def test_endless_device_is_refused() -> None:
    """It is not read to its end."""
    with pytest.raises(OSError, match="it has more than 268435456 bytes, the most that are read"):
        read_file("/dev/zero")


def test_line_ends_of_a_text_are_those_of_python(tmp_path: Path) -> None:
    """As `Path.read_text` reads it."""
    path = tmp_path / "text"
    path.write_bytes("a\r\né\rb\n\r\r\n".encode())
    assert read_text(path) == path.read_text("utf-8")


def test_a_mark_in_front_of_a_text_is_none_of_it(tmp_path: Path) -> None:
    """Editors write it to say that the text is UTF-8."""
    path = tmp_path / "text"
    path.write_text("a\ufeff", encoding="utf-8-sig")
    assert read_text(path) == "a\ufeff"


def test_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    """Until the body ends the file is what it was before."""
    path = tmp_path / "x.bin"
    path.write_bytes(b"before")
    with open_replacement(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_failure_leaves_what_was_there(tmp_path: Path) -> None:
    """An exception in the middle of writing leaves the old file and no other."""
    path = tmp_path / "x.bin"
    path.write_bytes(b"before")

    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_file(path, chunks())
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A file that may not grow to its size is not left cut off, and an old one stays."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        for path in (old, new):
            with pytest.raises(OSError, match="File too large"):
                write_file(path, [b"x" * 1000] * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert old.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [old]


def test_an_empty_path_names_no_file() -> None:
    """It is not the current folder."""
    with pytest.raises(FileNotFoundError):
        write_file("", b"x")
    with pytest.raises(FileNotFoundError), open_replacement(""):
        pass


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Not the one beside it that is written first."""
    path = tmp_path / "missing" / "x.bin"
    with pytest.raises(FileNotFoundError) as raised:
        write_file(path, b"x")
    assert raised.value.filename == str(path)


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    """A replaced file keeps its permissions, a new one has the usual ones, links are followed."""
    path, link = tmp_path / "x.bin", tmp_path / "link"
    mask = os.umask(0o027)
    try:
        write_file(path, b"1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        link.symlink_to(path)
        write_file(link, b"2")
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission to write stays, although its folder could be changed."""
    # The superuser may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    path = tmp_path / "x.bin"
    path.write_bytes(b"before")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_file(path, b"after")
    assert path.read_bytes() == b"before"


def test_devices_are_written_to() -> None:
    """Devices stay devices: nothing is renamed over them."""
    write_file("/dev/null", b"x")
    with open_replacement("/dev/null") as file:
        file.write(b"x")
    for data in (b"x", [b"x"]):
        with pytest.raises(OSError, match="No space left on device"):
            write_file("/dev/full", data)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_pipes_are_written_to() -> None:
    """Standard output by its name in a pipe gets the bytes."""
    program = "from ttmlir.files import write_file; write_file('/dev/stdout', [b'a', b'b'])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout == b"ab"


def test_paths_below_a_folder(tmp_path: Path) -> None:
    """Files in it and in folders in it, whether they are there or not; nothing that leads out."""
    folder = tmp_path / "given"
    (folder / "inner").mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path)
    (folder / "in").symlink_to(folder / "inner")
    (tmp_path / "given_too").mkdir()
    for name in ("a.npy", "inner/b.npy", "in/b.npy", "./a.npy"):
        assert path_below(folder, name) == os.path.join(folder, name)
    for name in (
        *("", "..", "../a", "inner/../../a", "../given_too/a", "out/a", "/a", str(folder / "a")),
        *("a\n", "a\0", "..\\a", "."),
    ):
        with pytest.raises(PermissionError, match="no relative path to a file in the same folder"):
            path_below(folder, name)


def test_paths_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without a folder stands in the current one."""
    monkeypatch.chdir(tmp_path)
    assert path_below("", "a/b") == "a/b"
    with pytest.raises(PermissionError):
        path_below("", "../b")


def writers(path: Path) -> Iterator[str]:
    """Calls in a source file that write to a file in place."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(attr="write_text" | "tofile" | "savetxt" | "copy2" | "copyfile"):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.func.attr}"
            case ast.Attribute(value=ast.Name(id=name), attr="write_bytes") if name == "Path":
                yield f"{path.relative_to(ROOT)}:{node.lineno}: write_bytes"
            case ast.Attribute(value=ast.Call(func=ast.Name(id="Path")), attr="write_bytes"):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: write_bytes"
            case ast.Name(id="open") | ast.Attribute(attr="open"):
                if node.args and ast.unparse(node.args[0]) == "os.devnull":
                    continue
                modes = [each.value for each in node.args if isinstance(each, ast.Constant)]
                modes += [k.value.value for k in node.keywords if k.arg == "mode"]
                if any(isinstance(mode, str) and set(mode) & set("wx+") for mode in modes):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: open"
            case _:
                pass


WRITE_IN_PLACE = {
    "ttmlir/files.py": "the one place that writes files",
    "ttmlir/runtime/ttrt/files.py": "a log grows while the work goes on",
}


def test_nothing_else_writes_files() -> None:
    """The product writes files through `ttmlir.files` only."""
    found = [
        each
        for folder in ("ttmlir", "tools", "ttrt")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in WRITE_IN_PLACE
        for each in writers(path)
    ]
    assert found == []
