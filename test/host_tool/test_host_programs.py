"""`ttmlir-host`: host programs in C++ compute what they should, and say what is wrong with them."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from numpy.typing import NDArray

from ttmlir.host_tool.compiling import HostCompileError, compile_host, known_headers
from ttmlir.host_tool.running import HostRun, HostRunError, run_host, run_program
from ttmlir.host_tool.serving import HostOptions, HostServer
from ttmlir.metalium import MetaliumError
from ttmlir.tools.ttmlir_host import main

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "metalium" / "cpp"
SOURCE = Path(__file__).parent / "Inputs" / "api.cpp"

Capture = pytest.CaptureFixture[str]
Run = Callable[..., HostRun]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of many cases, compiled once, with a file that includes all headers."""
    folder = tmp_path_factory.mktemp("host")
    includes = folder / "all.cpp"
    includes.write_text("".join(f"#include <{each}>\n" for each in known_headers()))
    return compile_host([str(SOURCE), str(includes)], folder)


@pytest.fixture
def run(program: Path) -> Run:
    """Run a case."""

    def run(*arguments: str, timeout: float | None = None, **options: Any) -> HostRun:
        chosen = HostOptions(**options)
        return run_program(program, str(SOURCE), arguments, timeout=timeout, options=chosen)

    return run


def line_of(text: str, occurrence: int = 1) -> int:
    """The line of the program that holds a text."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if text in line][occurrence - 1]


# --- Examples -------------------------------------------------------------------------------------


def copied(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """What `loopback` makes."""
    return x


def multiplied(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """What `matmul_multicast` makes of a 128x192 and a 192x96 matrix, one after the other."""
    a, b = x[: 128 * 192].reshape(128, 192), x[128 * 192 :].reshape(192, 96)
    return a @ b


def added(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of two matrices, one after the other."""
    return x[: x.size // 2] + x[x.size // 2 :]


def chained(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """What `sfpu_chain` makes."""
    return np.tanh(np.sqrt(np.abs(x)))


@pytest.mark.parametrize(
    ("name", "expected", "tolerance"),
    [
        ("loopback", copied, 0),
        ("eltwise_add_2024", added, 2**-8),
        ("sfpu_chain", chained, 2**-6),
        ("matmul_multicast", multiplied, 2**-6),
        ("sharded_add", added, 2**-8),
    ],
)
def test_example_agrees_with_numpy(
    name: str,
    expected: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    tolerance: float,
    tmp_path: Path,
    capfd: Capture,
) -> None:
    """By its own comparison, and by that of NumPy with the numbers that it writes."""
    written = tmp_path / "numbers"
    ended = run_host(str(EXAMPLES / f"{name}.cpp"), [str(written)], options=HostOptions())
    assert ended.status == 0
    assert capfd.readouterr().out.startswith("agrees: relative error ")
    numbers = np.fromfile(written, bfloat16).astype(np.float64)
    size = {"matmul_multicast": 128 * 96, "loopback": 7168, "sfpu_chain": 192 * 480}
    count = size.get(name, numbers.size // 3)
    wanted = expected(numbers[:-count]).reshape(-1)
    bound = tolerance * np.abs(wanted).max()
    np.testing.assert_allclose(numbers[-count:], wanted, rtol=0, atol=bound)
    [report] = ended.server.reports
    assert report.num_cores == {"sfpu_chain": 64, "matmul_multicast": 6, "sharded_add": 6}.get(
        name, 1
    )


def test_accessors_of_late_2026_have_the_size_of_a_page(tmp_path: Path, capfd: Capture) -> None:
    """Without an argument that says it, on devices of tt-metal 0.81."""
    shutil.copytree(EXAMPLES, tmp_path / "cpp")
    kernel = tmp_path / "cpp/kernels/copy_pages.cpp"
    kernel.write_text(kernel.read_text().replace("_address, page_size)", "_address)"))
    source = str(tmp_path / "cpp/loopback.cpp")
    assert main([source]) == 1
    assert "--tt-metal 0.81 of ttmlir-host" in capfd.readouterr().err
    assert main([source, "--tt-metal", "0.81"]) == 0
    assert capfd.readouterr().out.startswith("agrees: relative error 0.0000")


# --- What programs print --------------------------------------------------------------------------

VALUES = """\
1.5     ab 3   |   mid   0xff -003.142 1.23e+04 +7 {} true c
one zero   0.1 -0
9223372036854775808 -9223372036854775808 1e+300
1 1.015625 -3 0xc040
1088 4096
6 {[(x=0,y=0) - (x=2,y=1)]} {[(x=0,y=0) - (x=0,y=1)]} {[(x=1,y=0) - (x=2,y=1)]} 2 1
7 [(x=0,y=0) - (x=3,y=2)] true false
[(x=0,y=0), (x=1,y=0), (x=0,y=1), (x=1,y=1), (x=3,y=0)]
[(x=0,y=0), (x=0,y=1), (x=1,y=0)]
64 16 true
info | Test | 1 of 2
error | Always | alone
8 3
"""
"""Formats are those of {fmt}; 1 + 1/256 and 1 + 3/256 lie between two numbers of bfloat16."""

PRINTED = {
    "values": VALUES,
    "enums": "DataFormat 6\nDataFormat 24\nDataFormat 5\n"
    "BufferType 1 TensorMemoryLayout 4 CBIndex 24 CBIndex 31 MathFidelity 3\n",
    # 1000 is added to all pages, then to the first; 5 to the first two, of numbers from 0 on.
    "arguments": "[2000, 2015, 1016, 1063]\n[2, 5, 5]\n[2005, 1021, 1063]\n",
    "later": "[4294967295, 4294967295]\n[5, 63]\n[3, 15, 7, 32]\n",
    # Of 4x32 numbers the left device has the first 16 columns.
    "meshes": "[1000, 1015, 2016, 2031, 1032, 2048]\n512 256 64\n1 2 true\n",
    # The second page of the right device is the first one of the left device, and 100 more.
    "fabric": "[0, 15, 100, 115]\n1 [0, 1] 4416\n",
    # Channels begin behind two words of the mux and four of each channel, of 16 bytes each.
    "muxes": "[0, 15, 100, 115]\n[0, 15, 100, 115]\n1 4 64\n[144544, 158048]\n",
    "streams": "128 1\ncore (2, 1) BRISC: 1015\n"
    "core (2, 1) BRISC: 21\ncore (3, 1) BRISC: 357\ntrue\n",
    "host_sockets": "96 true false\nfalse false\ntrue 0 96 true\n",
    "of_2024": "9 [2, 3] true\ntrue\n",
    "caught": f"caught {SOURCE}:{{line}}: error: 12 bytes are written to a buffer of 256; write "
    "all of it\n    EnqueueWriteMeshBuffer(opened.queue, opened.buffer, counted(3));\n[4]\n",
    "order": "before\ncore (0, 0) BRISC: from the kernel\nafter\n",
}


@pytest.mark.parametrize("case", PRINTED)
def test_what_a_program_prints(case: str, run: Run, capfd: Capture) -> None:
    """Values of C++, results of calls, arguments that are changed by reference, late reads."""
    assert run(case, board="n300").status == 0
    shown = capfd.readouterr()
    assert shown.out == PRINTED[case].replace("{line}", str(line_of("counted(3)")))
    assert shown.err == ""


def test_the_exit_status_is_that_of_the_program(run: Run) -> None:
    """With arguments that look like options."""
    assert run("enums", "--board", "-h").status == 2


def test_times_and_trace(run: Run) -> None:
    """Of each program that ran, on each device; the second begins where the first ends."""
    server = run("arguments", traced=True).server
    assert re.findall(r"^program (\d): [\d,]+ cycles", server.performance(), re.M) == [*"123"]
    first = server.reports[0].cycles
    begins = [float(each) for each in re.findall(r'"ts": ([\d.]+)', server.trace())]
    assert max(begins) * server.reports[0].chip.clock_hz > first * 1e6
    both = run("meshes", board="t3000").server.performance()
    assert re.findall(r"^program \d.*?:", both, re.M) == ["program 1:", "program 2 on device 1:"]


# --- Mistakes -------------------------------------------------------------------------------------

WRONG = [
    ("fatal", "TT_FATAL(1 + 1", r"TT_FATAL\(1 \+ 1 == 3\): 2 is not    3$"),
    ("moved", "CreateSemaphore(program, CORE, 1);", "the program was moved, such as into a work"),
    ("number", "77, CORE", "77 is no kernel; give what CreateKernel returned for the program"),
    ("huge", "MeshBuffer::create(", "a buffer of 9223372036854775808 bytes; at most 8 GiB are"),
    ("file", "kernels/nowhere.cpp", "there is no kernel 'kernels/nowhere.cpp' in the working dir"),
    ("closed", "buffer, counted(64));", "device 0 is closed$"),
    ("invalid", "DataFormat::Invalid", "255 is none of DataFormat that is known here"),
    ("overlap", "set.merge_ranges()", "ranges of a CoreRangeSet must not overlap"),
    (
        "wide",
        "CreateSemaphore(program, wide",
        "CoreRange.* has 18446744073709551616 cores",
    ),
    ("vast", "1ull << 40", "a vector of 1099511627776 bytes; at most 8 GiB are taken"),
    (
        "alone",
        "create_socket_pair(device, device, {",
        "'fifo_size' is 100; it has to be a multiple of 16",
    ),
    ("no_pages", "write(nullptr, 3);", "the socket has no size of pages; call set_page_size"),
    ("pulled", "DEVICE_PULL);", "kernels that read the host's memory are not simulated"),
    ("odd", "words, buffer);", "a vector does not hold what is read: 20 bytes are no whole number"),
]


@pytest.mark.parametrize(("case", "text", "message"), WRONG)
def test_calls_that_cannot_be_meant(
    case: str, text: str, message: str, run: Run, capfd: Capture
) -> None:
    """An exception that nothing catches, with the line of the call."""
    assert run(case).status == 1
    shown = capfd.readouterr().err
    lines = [n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    found = re.match(rf"{re.escape(str(SOURCE))}:(\d+): error: (.*)", shown)
    assert found, shown
    assert int(found[1]) in lines
    assert re.match(message, found[2])


def test_where_kernels_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this order: the whole path, or its end in those of kernels and of the program."""
    path = "matmul/common/kernels/read.cpp"
    places = [
        "work/matmul/common/kernels/read.cpp",
        "home/matmul/common/kernels/read.cpp",
        "given/common/kernels/read.cpp",
        "given/read.cpp",
        "tree/matmul/single/kernels/read.cpp",
        "tree/matmul/common/kernels/read.cpp",
    ]
    for place in (*places, "tree/matmul/single/main.cpp"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path / "home"))
    options = HostOptions(kernel_folders=(str(tmp_path / "given"),))
    server = HostServer(Path("../tree/matmul/single/main.cpp"), options)
    for place in places:
        assert server.find_kernel(path).samefile(tmp_path / place)
        (tmp_path / place).unlink()
    with pytest.raises(
        MetaliumError, match=r"there is no kernel '.*/read.cpp' in '.*/given', TT_M"
    ):
        server.find_kernel(path)


def test_a_mistake_in_a_kernel_points_into_the_kernel(run: Run, capfd: Capture) -> None:
    """With a note about the line of the host that runs it."""
    assert run("broken").status == 1
    assert capfd.readouterr().err.startswith(
        "kernel_0.cpp:2:5: error: there is no function 'fly_away'\n      fly_away(3);\n      ^\n"
        f"{SOURCE}:{line_of('EnqueueMeshWorkload(device.mesh')}: note: EnqueueMeshWorkload runs "
        "the program\n"
    )


def test_exceptions_that_nothing_catches(run: Run, capfd: Capture) -> None:
    """Others than those of calls have the last call before them."""
    assert run("thrown").status == 1
    assert re.fullmatch(
        r"error: an exception that nothing catches: nobody caught this\n"
        r".*/api.cpp:\d+: note: the last call of the API\n",
        capfd.readouterr().err,
    )
    assert run("argument").status == 1
    assert "run-time argument 2 of 2" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("crash", r"stopped by SIGSEGV \(.*\)\n.*: note: its last call of the API was create$"),
        ("endless", r"api.cpp: error: the program did not end within 1 seconds \(--timeout\)"),
        ("loops", r"api.cpp: error: the program did not end within 1 seconds \(--timeout\)"),
    ],
)
def test_programs_that_do_not_end_by_themselves(case: str, message: str, run: Run) -> None:
    """A crash, a host that waits for ever, and a kernel that does."""
    begin = time.monotonic()
    timeout = None if case == "crash" else 1.0
    with pytest.raises(HostRunError, match=message):
        run(case, timeout=timeout, cycle_limit=1 << 40)
    assert time.monotonic() - begin < 25


def test_a_kernel_that_loops_is_stopped(run: Run, capfd: Capture) -> None:
    """By the limit of cycles, if not by that of time."""
    assert run("loops", cycle_limit=100_000).status == 1
    assert "cycles" in capfd.readouterr().err


def test_processes_that_the_program_forks(run: Run, capfd: Capture) -> None:
    """They have no device, and nobody waits for them."""
    assert run("forked").status == 0
    shown = capfd.readouterr()
    assert shown.out == "child 1, id 0\n"
    assert "the simulator belongs to the process that ttmlir-host started" in shown.err
    begin = time.monotonic()
    assert run("left_behind").status == 0
    assert time.monotonic() - begin < 25


def test_bytes_that_are_no_call(run: Run) -> None:
    """A program that writes into the socket is ended."""
    with pytest.raises(Exception, match="the host program sends 18446744073709551615 bytes"):
        run("garbage")


# --- Compiling ------------------------------------------------------------------------------------


def test_names_that_are_not_known(tmp_path: Path) -> None:
    """Each with its line, and what is alike; mistakes in C++ stay those of the compiler."""
    source = tmp_path / "main.cpp"
    source.write_text(
        "#include <tt-metalium/host_api.hpp>\n"
        "int main() {\n"
        "    tt::tt_metal::CreatProgram();\n"
        "    extern tt::tt_metal::Buffer buffer;\n"
        "    buffer.unheard_of();\n"
        "    EnqueueTrace(3);\n"
        "    int text = main;\n"
        "}\n"
    )
    with pytest.raises(HostCompileError) as raised:
        compile_host([str(source)], tmp_path)
    lines = str(raised.value).replace(str(source), "main.cpp").splitlines()
    messages = [line for line in lines if line.startswith("main.cpp")]
    beginnings = (
        "main.cpp:3:19: error: 'CreatProgram' is not known to ttmlir-host; did you mean 'Create",
        "main.cpp:5:12: error: 'unheard_of' is not known to ttmlir-host (",
        "main.cpp:6:5: error: 'EnqueueTrace' is not known to ttmlir-host",
        "main.cpp:7:",
    )
    for message, beginning in zip(messages, beginnings, strict=True):
        assert message.startswith(beginning)
    assert "    buffer.unheard_of();\n           ^~~~~~~~~~" in "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "#include <tt-metalium/mesh_devise.hpp>",
            "1:10: error: the header 'tt-metalium/mesh_devi",
        ),
        ("void kernel_main() {}", "error: the program has no function 'main'; is it a kernel"),
    ],
)
def test_files_that_are_no_host_programs(text: str, message: str, tmp_path: Path) -> None:
    """A header that there is not, and a kernel."""
    source = tmp_path / "main.cpp"
    source.write_text(f"{text}\n")
    with pytest.raises(HostCompileError, match=message):
        compile_host([str(source)], tmp_path)


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is said what to install."""
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostCompileError, match=r"there is no C\+\+ compiler; install g\+\+ 11"):
        compile_host(["main.cpp"], tmp_path)
    monkeypatch.setenv("CXX", "nowhere-c++ -g")
    with pytest.raises(HostCompileError, match="no compiler 'nowhere-c\\+\\+', which CXX names"):
        compile_host(["main.cpp"], tmp_path)


# --- Command line ---------------------------------------------------------------------------------

HOST = """
#include <cstdio>
#include <tt-metalium/host_api.hpp>
using namespace tt::tt_metal;
int main(int argc, char** argv) {
    std::printf("%s %d\\n", argv[argc - 1], LEVEL);
    IDevice* device = CreateDevice(0);
    Program program;
    CreateKernel(program, "a/b/kernels/empty.cpp", CoreCoord(9, 7), ReaderDataMovementConfig());
    EnqueueProgram(device->command_queue(), program, true);
    return argc;
}
"""


def test_a_run_by_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    """Macros, board, times, trace, arguments, and a kernel that is found by the end of its path."""
    monkeypatch.chdir(tmp_path)
    Path("main.cpp").write_text(HOST)
    Path("more/kernels").mkdir(parents=True)
    Path("more/kernels/empty.cpp").write_text("void kernel_main() {}\n")
    options = ["-DLEVEL=5", "--board", "p150", "--kernels", "more", "--perf", "--trace", "t.json"]
    assert main(["main.cpp", *options, "--", "--last"]) == 2
    shown = capfd.readouterr()
    assert shown.err == ""
    assert re.fullmatch(
        r"--last 5\nprogram 1: [\d,]+ cycles = (.*\n)+trace written to t.json; .*\n", shown.out
    )
    assert "traceEvents" in json.loads(Path("t.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.cpp"], "error: there is no file 'nowhere.cpp'"),
        ([str(SOURCE), "--board", "n151"], "unknown board 'n151'; known are default, n150"),
        ([str(SOURCE), "--kernels", "nowhere"], "--kernels: there is no folder 'nowhere'"),
        ([str(SOURCE), "-I", "nowhere"], "-I: there is no folder 'nowhere'"),
        ([str(SOURCE), "-D", "1=2"], "-D takes NAME or NAME=VALUE, not '1=2'"),
        ([str(SOURCE), "--allow", "cb-emty"], "there is no finding 'cb-emty' to let pass; support"),
        ([str(SOURCE), "--timeout", "0"], "0.0 is not in the range x>0"),
        ([str(SOURCE), "--with", "nowhere.cpp"], "error: there is no file 'nowhere.cpp'"),
    ],
)
def test_wrong_command_lines(arguments: list[str], message: str, capfd: Capture) -> None:
    """Each is said before anything is compiled."""
    assert main(arguments) == 1
    assert message in capfd.readouterr().err
