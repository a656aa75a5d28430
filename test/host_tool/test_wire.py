"""Frames of host programs: whatever bytes come, and that both sides know the same names."""

from __future__ import annotations

import re
import struct
from functools import reduce

import pytest

from ttmlir import metalium
from ttmlir.host_tool.compiling import HEADERS
from ttmlir.host_tool.serving import CALLS, MAKERS, HostOptions, HostServer
from ttmlir.host_tool.wire import Reader, WireError, write_value


def text(value: str) -> bytes:
    """A text of a frame."""
    return struct.pack("<I", len(value)) + value.encode()


def call(*values: bytes) -> bytes:
    """A call with arguments."""
    head = text("tile_size") + text("main.cpp") + struct.pack("<II", 7, len(values))
    return head + b"".join(values)


def read(frame: bytes) -> tuple[object, ...]:
    """The arguments of a call."""
    reader = Reader(frame, {3: "an object"}, MAKERS)
    count = reader.read_call().num_arguments
    return tuple(reader.read_value() for _ in range(count))


def test_values_of_all_kinds() -> None:
    """As C++ writes them."""
    core = b"r" + text("CoreCoord") + struct.pack("<I", 2)
    core += text("") + b"u" + struct.pack("<Q", 4) + text("") + b"u" + struct.pack("<Q", 1)
    values = {
        b"n": None,
        b"b\1": True,
        b"i" + struct.pack("<q", -5): -5,
        b"u" + struct.pack("<Q", 1 << 63): 1 << 63,
        b"d" + struct.pack("<d", 0.5): 0.5,
        b"s" + text("ab"): "ab",
        b"y" + struct.pack("<Q", 2) + b"\0\1": b"\0\1",
        b"o" + struct.pack("<I", 3): "an object",
        b"o" + struct.pack("<I", 4): 4,
        b"e" + text("DataFormat") + struct.pack("<q", 6): metalium.DataFormat.Bfp8_b,
        b"l" + struct.pack("<I", 1) + b"n": [None],
        b"m" + struct.pack("<I", 1) + b"s" + text("k") + b"b\0": {"k": False},
        core: metalium.CoreCoord(4, 1),
    }
    assert list(read(call(*values))) == list(values.values())


HOSTILE = [
    (b"", "ends early"),
    (text("x")[:-1], "ends early"),
    (struct.pack("<I", 0xFFFF_FFFF), "ends early"),
    (text("x") + text("y") + struct.pack("<II", 1, 0xFFFF_FFFF), "ends early"),
    (call(b"y" + struct.pack("<Q", 1 << 62)), "ends early"),
    (call(b"l" + struct.pack("<I", 0xFFFF_FFFF)), "ends early"),
    (call(b"m" + struct.pack("<I", 0xFFFF_FFFF) + b"n" * 9), "ends early"),
    (call((b"l" + struct.pack("<I", 1)) * 40 + b"n"), "nested too deeply"),
    (call(b"?"), "ends early|unknown kind"),
    (call(b"?" + bytes(8)), "unknown kind"),
    (call(b"r" + text("os.system") + struct.pack("<I", 0)), "unknown class 'os.system'"),
    (call(b"e" + text("CoreRangeSet.__init__") + bytes(8)), "unknown class"),
]


@pytest.mark.parametrize(("frame", "message"), HOSTILE)
def test_hostile_frames(frame: bytes, message: str) -> None:
    """Nothing is allocated or called that a frame only talks about."""
    with pytest.raises(WireError, match=message):
        read(frame)


def test_an_enumerator_that_there_is_not() -> None:
    """C++ has some that are not known here."""
    with pytest.raises(metalium.MetaliumError, match="255 is none of DataFormat that is known"):
        read(call(b"e" + text("DataFormat") + struct.pack("<q", 255)))


def test_each_prefix_of_a_call_is_refused() -> None:
    """Wherever it ends."""
    whole = call(b"l" + struct.pack("<I", 2) + b"s" + text("abc") + b"u" + bytes(8), b"n")
    for size in range(len(whole)):
        with pytest.raises(WireError, match="ends early"):
            read(whole[:size])


def test_results() -> None:
    """As C++ reads them; an object by its number."""
    sent = write_value([None, True, -2, 0.5, "ä", b"\1", (), HOSTILE[0]], lambda _: 9)
    numbers = b"i" + struct.pack("<q", -2) + b"d" + struct.pack("<d", 0.5)
    texts = b"s\2\0\0\0\xc3\xa4" + b"y\1" + bytes(7) + b"\1"
    hostile = b"l\2\0\0\0y" + bytes(8) + b"s" + text("ends early")
    assert sent == b"l\x08\0\0\0nb\1" + numbers + texts + b"l" + bytes(4) + hostile
    assert write_value(object(), lambda _: 9) == b"o\x09\0\0\0"


def names_in_headers(pattern: str) -> set[str]:
    """What the headers pass to the simulator."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(HEADERS.glob("*.hpp"))]
    return {name for each in texts for name in re.findall(pattern, each)}


ENUMERATORS = r'name_of\(\w+\) \{ return "([\w.]+)"; \}'
"""How headers say what an enumeration is called."""


def test_both_sides_know_the_same_calls() -> None:
    """No name in the headers that nobody answers, and no answer that nobody asks for."""
    called = names_in_headers(r'"((?:\w+\.)*[A-Za-z]\w+)"')
    server = HostServer(HEADERS / "host_api.hpp", HostOptions())
    answered = {*CALLS, *server.adapted}
    assert answered - called == set()
    asked = names_in_headers(
        r'(?:call|ask|get|changed|set|reordered|send)\(\s*(?:where, )?"([\w.]+)"'
    )
    assert asked - answered == set()
    assert len(asked) > 90


def test_both_sides_know_the_same_classes() -> None:
    """Records and enumerators."""
    records = names_in_headers(r'(?:record|encode_as)\((?:message, )?"([\w.]+)"')
    enumerators = names_in_headers(ENUMERATORS)
    assert records | enumerators == {*MAKERS}


def test_enumerators_have_the_same_numbers() -> None:
    """Those in the headers are those of `ttmlir.metalium`."""
    values = (HEADERS / "values.hpp").read_text(encoding="utf-8")
    for name in names_in_headers(ENUMERATORS) - {"CBIndex"}:
        body = re.search(rf"enum (?:class )?{name.rpartition('.')[2]}[^{{]*\{{([^}}]*)\}}", values)
        assert body is not None, name
        number = -1
        for each in body[1].replace("\n", " ").split(","):
            enumerator, _, given = (part.strip() for part in each.partition("="))
            number = int(given, 0) if given else number + 1
            if hasattr(MAKERS[name], enumerator):
                assert getattr(MAKERS[name], enumerator) == number, (name, enumerator)
            else:
                assert enumerator in {"Invalid", "SYSTEM_MEMORY", "SINGLE_BANK"}, enumerator


ONLY_PYTHON = {
    "MetaliumError",
    *("pack_bfloat16", "unpack_bfloat16", "pack_tiles", "unpack_tiles"),
}
"""What C++ has of its own, exceptions and a class of numbers; Metal 2.0; tiles of block floats."""


def test_programs_in_cpp_have_what_python_has() -> None:
    """Each public name of the host API, but for Metal 2.0."""
    known = names_in_headers(r"\b([A-Za-z_]\w*)\b")
    modules = metalium, metalium.distributed, metalium.detail
    names = {name for module in modules for name in module.__all__}
    assert names - known == ONLY_PYTHON


def test_all_calls_exist() -> None:
    """Names are those of `ttmlir.metalium`."""
    for name in CALLS:
        assert callable(reduce(getattr, name.split("."), metalium)), name
