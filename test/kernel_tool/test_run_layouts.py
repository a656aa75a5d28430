"""`ttmlir-kernel run`: shards, circular buffers on them and with several indices, names, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ttmlir.tools.ttmlir_kernel import main

Capture = pytest.CaptureFixture[str]

SHARDED = """\
[buffers.numbers]
shape = [4, 16]
layout = "row_major"
format = "UInt32"
shards = { shape = [2, 16], cores = ["1,0-1,1"] }
data = { arange = 5 }
expected = "expected.csv"

[[circular_buffers]]
index = 3
format = "UInt32"
page_size = 64
cores = ["1,0-1,1"]
buffer = "numbers"

[[kernels]]
name = "add_ten"
text = '''
#include "api/debug/dprint.h"
#include "nowhere_here.hpp"
void kernel_main() {
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(3));
    DPRINT << get_local_cb_interface(3).fifo_num_pages << ENDL();
    for (uint32_t i = 0; i < 32; i++) { words[i] += 10; }
}
'''
role = "reader"
cores = ["1,0-1,1"]
"""

NAMED = """\
[buffers.source]
pages = 3
page_size = 64
format = "UInt32"
data = { arange = 0 }

[buffers.result]
pages = 3
page_size = 64
format = "UInt32"
expected = { arange = 100 }

[[circular_buffers]]
name = "in"
index = [4, 5]
page_size = 64
format = ["UInt32", "UInt32"]
pages = 1
cores = ["0,0", "2,0"]

[semaphores.done]
cores = ["0,0", "2,0"]

[[kernels]]
name = "move"
text = '''
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    Noc noc;
    DataflowBuffer in(dfb::in);
    const auto from = TensorAccessor(tensor::from);
    const auto to = TensorAccessor(tensor::to);
    static_assert(get_arg(args::summand) == 100);
    for (uint32_t i = get_arg(args::first); i < get_arg(args::last); i++) {
        in.reserve_back(1);
        noc.async_read(from, in, 64, {.page_id = i}, {});
        noc.async_read_barrier();
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(in.get_write_ptr());
        for (uint32_t j = 0; j < get_arg(args::count); j++) { words[j] += get_arg(args::summand); }
        noc_async_write(get_write_ptr(5), to.get_noc_addr(i), 64);
        noc.async_write_barrier();
    }
    Semaphore<> done(sem::done);
    done.set(1);
}
'''
role = "writer"
cores = ["0,0", "2,0"]
tensors = { from = "source", to = "result" }
constants = { summand = 100 }
common_args = { count = 16 }
core_args = { "0,0" = { first = 0, last = 2 }, "2,0" = { last = 3, first = 2 } }
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    rows = [",".join(str(15 + 16 * row + column) for column in range(16)) for row in range(4)]
    (tmp_path / "expected.csv").write_text("\n".join(rows))


def run(capsys: Capture, text: str, *arguments: str) -> tuple[int, str, str]:
    """Exit status, output and errors."""
    Path("k.toml").write_text(text)
    status = main(["run", "k.toml", *arguments])
    captured = capsys.readouterr()
    assert "internal error" not in captured.err
    return status, captured.out, captured.err


def test_shards_and_circular_buffers_on_them(capsys: Capture) -> None:
    """Each core has two rows; the text of the kernel is known by its name; all of it in JSON."""
    status, printed, _ = run(capsys, SHARDED, "--json")
    result = json.loads(printed)
    assert (status, result["verdict"], result["message"]) == (0, "pass", None)
    assert result["buffers"] == [
        {"name": "numbers", "passes": True, "text": "64 numbers agree exactly"}
    ]
    assert result["printed"] == [f"core (1, {y}) NCRISC: 2" for y in range(2)]
    (warning,) = result["warnings"]
    assert warning.startswith("add_ten.cpp:2:1: warning: 'nowhere_here.hpp' was not found")
    assert (result["findings"], result["cores"]) == ([], 2)
    assert result["cycles"] > 32
    status, printed, _ = run(capsys, SHARDED.replace("+= 10", "+= 11"), "--json")
    result = json.loads(printed)
    assert (status, result["verdict"]) == (1, "fail")
    assert "64 of 64 numbers differ" in result["buffers"][0]["text"]
    status, printed, errors = run(capsys, SHARDED.replace("+= 10", "+= x"), "--json")
    result = json.loads(printed)
    assert (status, result["verdict"], result["buffers"], errors) == (1, "error", None, "")
    assert result["message"].startswith("add_ten.cpp:6:53: error: 'x' is not declared")


def test_names(capsys: Capture) -> None:
    """Of arguments of each kind, of a circular buffer with two indices, and of tensors."""
    status, printed, errors = run(capsys, NAMED)
    assert (status, errors) == (0, "")
    assert "result: pass: 48 numbers agree exactly" in printed


def test_layouts_with_the_size_of_a_page(capsys: Capture) -> None:
    """As kernels of late 2026 read them."""
    text = SHARDED.replace(
        'role = "reader"',
        'role = "reader"\ncompile_args = [{ layout = "numbers", page_size = true }]',
    ).replace(
        "    for",
        "    constexpr auto layout = TensorAccessorArgs<0>();\n"
        "    DPRINT << layout.get_aligned_page_size() << ENDL();\n    for",
    )
    status, printed, _ = run(capsys, text)
    assert status == 0
    assert "core (1, 0) NCRISC: 64\n" in printed


WRONG = [
    (SHARDED, "[2, 16]", "[2, 8]", "5:1: error: shards are made of whole pages"),
    (SHARDED, "[2, 16]", "[2]", "5:1: error: 'shape' of shards is [rows, columns]"),
    (SHARDED, "[2, 16]", "[1, 16]", "make 4 shards of 1x1, but there are 2 cores"),
    (SHARDED, "shards = {", 'memory = "DRAM"\nshards = {', "5:1: error: shards are in L1"),
    (SHARDED, 'buffer = "numbers"', 'buffer = "n"', "14:1: error: there is no buffer 'n'"),
    (SHARDED, 'cores = ["1,0-1,1"]\nbuffer', 'cores = ["1,9"]\nbuffer', "13:1: error: core (1, 9)"),
    (SHARDED, '"add_ten"', '"add ten"', "17:1: error: 'name' is a name as in C++"),
    (NAMED, "index = [4, 5]", "index = [4, 4]", "15:1: error: 'index' is an integer, or an array"),
    (NAMED, "index = [4, 5]", "index = [4, 32]", "15:1: error: 'index' is an integer from 0 to 31"),
    (NAMED, '["UInt32", "UInt32"]', '["UInt32"]', "17:1: error: 'format' is one of Float32"),
    (NAMED, "first = 2 }", "frist = 2 }", "error: the arguments of all cores have the names first"),
    (NAMED, 'from = "source"', 'from = "sourc"', "error: there is no buffer 'sourc'; known are"),
    (NAMED, "count = 16", 'count = "source "', "error: 'count' is an array of integers"),
    (
        NAMED,
        "tensor::to)",
        "tensor::ot)",
        "names no tensor 'ot'; there are tensor::from",
    ),
]


@pytest.mark.parametrize(("text", "old", "new", "message"), WRONG)
def test_mistakes(text: str, old: str, new: str, message: str, capsys: Capture) -> None:
    """They are told at their line."""
    assert old in text
    status, printed, errors = run(capsys, text.replace(old, new))
    assert (status, printed) == (1, "")
    assert message in errors
