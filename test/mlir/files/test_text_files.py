"""Input that is read and split, and output that appears as a whole or not at all."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from ttmlir.errors import FileError
from ttmlir.mlir import long_strings
from ttmlir.mlir.text_files import Chunk, read_input, split_input, write_output


def test_input_keeps_its_text(tmp_path: Path) -> None:
    """Line ends and other alphabets are what they were."""
    path = tmp_path / "in.mlir"
    path.write_bytes("// é\r\n\tx\n".encode())
    assert read_input(str(path)) == "// é\r\n\tx\n"


def test_unreadable_input_is_refused(tmp_path: Path) -> None:
    """The message names the file and what is wrong with it."""
    with pytest.raises(FileError, match="No such file or directory"):
        read_input(str(tmp_path / "in.mlir"))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ttmlir_opt", ["--split-input-file"]),
        ("ttmlir_translate", ["--split-input-file", "--mlir-to-cpp"]),
        ("ttmlir_translate", ["--cpp-to-ttkernel"]),
        ("ttmlir_bisect", []),
        ("ttmlir_tune", []),
        ("tt_explorer", ["--check"]),
    ],
)
def test_other_bytes_than_of_utf8_are_refused_at_their_place(
    tool: str, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns are bytes, of which the first character has two; also in comments."""
    path = tmp_path / "in.mlir"
    path.write_bytes(b"\n// -----\n\n// \xc3\xb6\xc3( x\n")
    assert import_module(f"ttmlir.tools.{tool}").main([*arguments, str(path)]) == 1
    message = f"{path}:4:6: error: expected text in UTF-8, found the byte 0xC3"
    quotation = ["// ö\N{REPLACEMENT CHARACTER}( x", "    ^"]
    assert capsys.readouterr().err.splitlines()[:3] == [message, *quotation]


def test_endless_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device has no size that could be compared; reading stops at the limit of texts."""
    monkeypatch.setattr(long_strings, "MAX_TEXT_LENGTH", 3 << 20)
    message = r"'/dev/zero': its text has more than 3145728 bytes without long constants, the most"
    with pytest.raises(FileError, match=message):
        read_input("/dev/zero")


@pytest.mark.parametrize(("digits", "is_taken"), [(1 << 21, True), ((1 << 21) + 2, False)])
@pytest.mark.parametrize("end", ['">', ""], ids=["ended", "endless"])
def test_constants_are_held_against_the_limit_of_memory(
    digits: int, is_taken: bool, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two digits are a byte; a string that has not ended counts, too."""
    monkeypatch.setattr(long_strings, "memory_limit", lambda: 1 << 20)
    path = tmp_path / "in.mlir"
    path.write_text('dense<"0x' + "0" * digits + end)
    if is_taken:
        assert len(read_input(str(path)).restored()) == path.stat().st_size
        return
    with pytest.raises(FileError, match="its constants are too large: at most"):
        read_input(str(path))


@pytest.mark.parametrize(
    ("text", "marker", "expected"),
    [
        ("a\nb", "", [Chunk("a\nb", 1)]),
        ("", "// -----", [Chunk("", 1)]),
        ("a\n// -----\nb\n", "// -----", [Chunk("a", 1), Chunk("b\n", 3)]),
        ("a\n  // -----  \n\nb", "// -----", [Chunk("a", 1), Chunk("\nb", 3)]),
        (
            "// -----// IR Dump\nx // -----\n",
            "// -----",
            [Chunk("// -----// IR Dump\nx // -----\n", 1)],
        ),
        ("// -----\n// -----", "// -----", [Chunk("", 1), Chunk("", 2), Chunk("", 3)]),
        ("a\n//X\nb", "//X", [Chunk("a", 1), Chunk("b", 3)]),
    ],
)
def test_input_is_split_at_lines(text: str, marker: str, expected: list[Chunk]) -> None:
    """Only a line that consists of the marker separates; parts know their first line."""
    assert list(split_input(text, marker)) == expected


def test_output_may_come_in_chunks(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """To a file, a device and standard output."""
    path = tmp_path / "out"
    write_output(str(path), iter([b"a", b"", b"bc"]))
    assert path.read_bytes() == b"abc"
    write_output("/dev/null", iter([b"a"]))
    write_output("-", iter([b"d", b"e"]))
    assert capfdbinary.readouterr().out == b"de"


def test_output_replaces_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    """A script that is written again stays executable; nothing else is left in the folder."""
    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o750)
    write_output(str(path), b"after")
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path) == ["out"]


def test_output_follows_a_link(tmp_path: Path) -> None:
    """A symbolic link stays one; the file behind it is replaced."""
    (tmp_path / "real").write_bytes(b"")
    (tmp_path / "link").symlink_to("real")
    write_output(str(tmp_path / "link"), b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


def test_output_of_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    """The umask decides, as for any other program."""
    before = os.umask(0o027)
    try:
        write_output(str(tmp_path / "out"), b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("name", "message"), [("none/out", "No such file or directory"), (".", "Is a directory")]
)
def test_impossible_output_is_refused(name: str, message: str, tmp_path: Path) -> None:
    """The message names the file; no part of it is left behind."""
    with pytest.raises(FileError, match=message):
        write_output(str(tmp_path / name), b"x")
    assert os.listdir(tmp_path) == []
