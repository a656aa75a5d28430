"""`ttmlir-kernel run`: results, findings, and what is wrong with a specification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running.confinement import confined

from ttmlir import terminal
from ttmlir.kernel_tool.spec_program import MAX_LENGTH
from ttmlir.tools.ttmlir_kernel import main

Capture = pytest.CaptureFixture[str]

COPY = """\
#include "dataflow_api.h"
void kernel_main() {
    constexpr auto layout = TensorAccessorArgs<0>();
    constexpr uint32_t pages = get_named_compile_time_arg_val("pages");
    const auto tensor = TensorAccessor(layout, get_arg_val<uint32_t>(0), PAGE);
    for (uint32_t i = 0; i < pages; i++) {
#ifdef WRITE
        cb_wait_front(0, 1);
        noc_async_write_page(i, tensor, get_read_ptr(0));
        noc_async_write_barrier();
        cb_pop_front(0, 1);
#else
        cb_reserve_back(0, 1);
        noc_async_read_page(i, tensor, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
#endif
    }
}
"""
SPEC = """\
# Copies a tensor, tile by tile.
[buffers.source]
shape = [64, 96]
data = { arange = 0 }

[buffers.result]
shape = [64, 96]
memory = "L1"
expected = "expected.npy"

[[circular_buffers]]
index = 0
cores = ["1,2"]

[[kernels]]
file = "kernels/copy.cpp"
role = "reader"
cores = ["1,2"]
args = ["source"]
compile_args = [{ layout = "source" }]
named_compile_args = { pages = 6 }
defines = { PAGE = "2048" }

[[kernels]]
file = "kernels/copy.cpp"
role = "writer"
cores = ["1,2"]
core_args = { "1,2" = ["result"] }
compile_args = [{ layout = "result" }]
named_compile_args = { pages = 6 }
defines = { PAGE = "2048", WRITE = "1" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a kernel and what it should compute, below the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    spec = tmp_path / "spec"
    (spec / "kernels").mkdir(parents=True)
    (spec / "kernels" / "copy.cpp").write_text(COPY)
    numbers = np.arange(64 * 96, dtype=np.float32)
    # bfloat16 keeps the upper half, ties to even.
    bits = numbers.view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    np.save(spec / "expected.npy", rounded.view(np.float32).reshape(64, 96))
    return spec


def run(folder: Path, capsys: Capture, text: str, *arguments: str) -> tuple[int, str, str]:
    """Exit status, output and errors."""
    (folder / "k.toml").write_text(text)
    status = main(["run", "spec/k.toml", *arguments])
    captured = capsys.readouterr()
    assert "internal error" not in captured.err
    return status, captured.out, captured.err


def test_a_copy_is_as_expected(folder: Path, capsys: Capture) -> None:
    """Result, findings, cycles."""
    status, printed, errors = run(folder, capsys, SPEC)
    assert (status, errors) == (0, "")
    result, findings, cycles = printed.splitlines()
    assert result == "result: pass: 6144 numbers agree exactly"
    assert findings == "no findings"
    assert cycles.endswith(" cycles on 1 core")
    assert int(cycles.split()[0].replace(",", "")) > 1000


RELEASES = """
[buffers.result]
shape = [32, 32]
expected = {{ constant = 9.0 }}
[[circular_buffers]]
index = 0
[[kernels]]
role = "compute"
text = '''
#include "compute_kernel_api.h"
#include "my/missing.h"
void kernel_main() {{
    init_sfpu(0, 0);
    fill_tile_init();
    power_tile_init();
    tile_regs_acquire();
    fill_tile(0, 3.0f);
    power_tile(0, {exponent});
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(0, 1);
    pack_tile(0, 0);
    cb_push_back(0, 1);
    tile_regs_release();
}}
'''
[[kernels]]
file = "kernels/copy.cpp"
role = "writer"
args = ["result"]
compile_args = [{{ layout = "result" }}]
named_compile_args = {{ pages = 1 }}
defines = {{ PAGE = "2048", WRITE = "1" }}
"""


@pytest.mark.parametrize(("release", "exponent"), [("2024.10", "2"), ("0.81", "0x40000000")])
def test_the_state_of_tt_metal(
    folder: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    exponent: str,
) -> None:
    """The exponent is an integer, or the bits of a float; a header that is not found is named."""
    # A process prints each warning once.
    monkeypatch.setattr(terminal, "_warned", set[str]())
    text = RELEASES.format(exponent=exponent)
    status, printed, errors = run(folder, capsys, text, "--tt-metal", release)
    assert status == 0, printed + errors
    assert "kernel_0.cpp:2:1: warning: 'my/missing.h' was not found; give its" in errors


def test_differences_are_shown(folder: Path, capsys: Capture) -> None:
    """How many, and the first one; a tolerance may let them pass."""
    expected = np.load(folder / "expected.npy")
    expected[1, 33] += 8
    expected[5, 2] -= 3
    np.save(folder / "expected.npy", expected)
    status, printed, _ = run(folder, capsys, SPEC)
    assert status == 1
    assert (
        "result: FAIL: 2 of 6144 numbers differ; first at [1, 33]: 129 instead of 137\n" in printed
    )
    for bound, passes in (("atol = 8", True), ("atol = 7", False), ("pcc = 0.9999", True)):
        text = SPEC.replace('.npy"\n', f'.npy"\n{bound}\n')
        status, printed, _ = run(folder, capsys, text)
        assert (status == 0) == passes, printed
    np.save(folder / "expected.npy", -expected)
    status, printed, _ = run(folder, capsys, text)
    assert status == 1
    assert "result: FAIL: PCC -" in printed
    assert "; 6144 of 6144" not in printed
    assert "6143 of 6144 numbers differ; first at [0, 1]: 1 instead of -1" in printed


def test_pages_of_integers(folder: Path, capsys: Capture) -> None:
    """Rows without tiles, of integers, from a CSV file and from a constant."""
    text = SPEC.replace("shape = [64, 96]", 'pages = 3\npage_size = 64\nformat = "UInt32"')
    text = text.replace("{ arange = 0 }", '"in.csv"').replace('"expected.npy"', '"in.csv"')
    text = text.replace("index = 0", "index = 0\npage_size = 64").replace("2048", "64")
    text = text.replace("pages = 6", "pages = 3")
    rows = [[16 * y + x + 4_000_000_000 * (x == 3) for x in range(16)] for y in range(3)]
    (folder / "in.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    status, printed, errors = run(folder, capsys, text)
    assert (status, errors) == (0, "")
    assert "result: pass: 48 numbers agree exactly" in printed
    status, printed, _ = run(
        folder, capsys, text.replace('expected = "in.csv"', "expected = { constant = 7 }")
    )
    assert status == 1
    assert "47 of 48 numbers differ; first at [0, 0]: 0 instead of 7" in printed


def test_what_the_sanitizer_finds_stops_the_run(folder: Path, capsys: Capture) -> None:
    """The message points into the kernel, and nothing of it is a pass."""
    broken = COPY.replace("        noc_async_read_barrier();\n", "")
    (folder / "kernels" / "copy.cpp").write_text(broken)
    status, printed, errors = run(folder, capsys, SPEC)
    assert status == 1
    assert errors.startswith("spec/kernels/copy.cpp:15:9: error: cb_push_back hands over pages of ")
    assert "pass" not in printed
    assert run(folder, capsys, SPEC, "--no-sanitize")[0] == 0


def test_text_of_kernels_and_arguments(folder: Path, capsys: Capture) -> None:
    """A kernel in the file, with the bits of a float and the number of a semaphore."""
    text = '''
    numerics = "exact"
    [semaphores.unused]
    [semaphores.flag]
    initial = 5
    [[kernels]]
    text = """
    #include "dataflow_api.h"
    void kernel_main() {
        volatile tt_l1_ptr uint32_t* flag =
            reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(get_arg_val<uint32_t>(1)));
        DPRINT << *flag << " " << get_arg_val<uint32_t>(0);
        DPRINT << " " << get_common_arg_val<uint32_t>(0) << ENDL();
    }"""
    args = [{ float32 = 1.5 }, "flag"]
    common_args = [-1]
    '''
    status, printed, errors = run(folder, capsys, text)
    assert (status, errors) == (0, "")
    assert f"5 {0x3FC00000} {0xFFFFFFFF}" in printed
    assert "nothing is expected of any buffer: give one 'expected'" in printed


BUFFER = "[buffers.b]\n"
KERNEL = '[[kernels]]\ntext = "void kernel_main() {}"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = = 1", "spec/k.toml:1:5: error: this is no TOML: Invalid value\n  a = = 1\n      ^"),
        ("a = " + "9" * 5000, "this is no TOML: a number is too long"),
        ("", "spec/k.toml:1: error: a specification has at least one kernel: write [[kernels]]"),
        ("bords = 1", "1:1: error: a specification has no key 'bords'; there are board, numerics"),
        ('board = "n151"', "1:1: error: 'board' is one of default, n150"),
        ("include = [1]", "error: 'include' is an array of strings"),
        ("kernels = [1]", "'kernels' is an array of tables: write [[kernels]]"),
        ('leniencies = ["x"]', "'leniencies' may have aliased-cbs, "),
        (BUFFER, "1:2: error: a buffer has either 'shape', or 'pages' and 'page_size'"),
        (BUFFER + "shape = [31, 32]", "2:1: error: the last two extents of a buffer of tiles are"),
        (BUFFER + "shape = [1.5]", "'shape' is an array of integers from 1 to 4294967295"),
        (BUFFER + "shape = [99999999999]", "'shape' is an array of integers from 1 to 4294967295"),
        (BUFFER + f"shape = {[1 << 31] * 2}", "is too large: at most 8 GiB are taken"),
        (BUFFER + "pages = 2\npage_size = 3", "3:1: error: a page of 3 bytes holds no whole"),
        (BUFFER + 'format = "Bfp8_b"\nshape = [4]\nlayout = "row_major"', "is a format of tiles"),
        (BUFFER + 'shape = [32, 32]\nformat = "F"', "3:1: error: 'format' is one of Float32, "),
        (BUFFER + "shape = [32, 32]\npcc = 0.9\n" + KERNEL, "'pcc' without 'expected' compares"),
        (BUFFER + "shape = [32, 32]\ndata = 1", "'data' is a table"),
        (BUFFER + "shape = [32, 32]\ndata = { ones = 1 }", "'data' has no key 'ones'; there are"),
        (BUFFER + "shape = [32, 32]\ndata = { constant = 1e300 }", "is a number that float32 has"),
        (BUFFER + "shape = [32, 32]\ndata = { random = -1 }", "'random' is a seed, an integer"),
        (BUFFER + 'shape = [32, 32]\ndata = "gone.npy"', "3:1: error: there is no file gone.npy"),
        (BUFFER + 'shape = [32, 32]\ndata = "k.toml"', "k.toml is neither a .npy nor a .csv file"),
        (BUFFER + 'shape = [32, 32]\ndata = "expected.npy"', "has 6144 numbers of shape [64, 96]"),
        (BUFFER + 'shape = [32, 32]\ndata = "object.npy"', "object.npy is no array of numbers"),
        (BUFFER + 'shape = [32, 32]\ndata = "huge.npy"', "huge.npy is no array of numbers"),
        (BUFFER + 'shape = [32, 32]\nformat = "UInt8"\ndata = { arange = 0 }',
         "4:1: error: 'data' has numbers that no UInt8 has"),
        (BUFFER + f"shape = [32, 32]\nexpected = {{ constant = 1 }}\natol = {'9' * 400}\n" + KERNEL,
         "4:1: error: 'atol' is a number from 0 on"),
        (BUFFER + 'shape = [32, 32]\ndata = "wide.npy"', "'data' has numbers that no float32 has"),
        (BUFFER + 'shape = [32, 32]\ndata = "a\\u001b"', "3:1: error: ...: this name is no rel"),
        (KERNEL + "args = [{ float32 = true }]", "3:1: error: 'args' is an array of integers"),
        ("[[circular_buffers]]", "1:3: error: a circular buffer has an 'index', from 0 to 31"),
        ("[[circular_buffers]]\nindex = 32", "2:1: error: 'index' is an integer from 0 to 31"),
        ("[[circular_buffers]]\nindex = true", "2:1: error: 'index' is an integer from 0 to 31"),
        ("[[circular_buffers]]\nindex = 0\n[[circular_buffers]]\nindex = 0",
         "3:3: error: circular buffer 0 was already created on core (0, 0)"),
        ("[[circular_buffers]]\nindex = 0\npages = 10000\n" + KERNEL, "circular buffer"),
        (KERNEL + 'cores = ["a"]', '3:1: error: cores are "x,y", or "x,y-x,y"'),
        (KERNEL + 'cores = ["0,64"]', "3:1: error: no board has a core beyond 63"),
        (KERNEL + "cores = []", "3:1: error: 'cores' names 1 to 4096 cores"),
        (KERNEL + f"cores = {['0,0-63,63', '1,1']}", "3:1: error: 'cores' names 1 to 4096 cores"),
        (KERNEL + 'cores = ["30,0"]', "core (30, 0) is outside of the "),
        (KERNEL + 'cores = ["3,0-1,0"]', "3:1: error: a range of cores goes from its first"),
        (KERNEL + 'args = ["b"]', "3:1: error: 'args' is an array of integers of 32 bits, of"),
        (KERNEL + "args = [1.5]", "{ float32 = 1.5 }; known names: none"),
        (KERNEL + f"args = [{1 << 32}]", "'args' is an array of integers of 32 bits"),
        (KERNEL + f"args = {[0] * 256}", "256 run-time arguments; a kernel takes 255 at most"),
        (KERNEL + 'core_args = { "x" = [] }', "keys of 'core_args' are cores"),
        (KERNEL + "math_approx_mode = true", "'math_approx_mode' is for compute kernels; this is"),
        (KERNEL + 'file = "a.cpp"', "a kernel has either a 'file' or its 'text'"),
        (KERNEL + KERNEL, "3:3: error: kernels kernel_0.cpp and kernel_1.cpp both run on NCRISC"),
        (KERNEL + 'fil = "a.cpp"', "a kernel has no key 'fil'; there are file, text"),
        ('[[kernels]]\nfile = "gone.cpp"', "spec/k.toml:2:1: error: there is no file gone.cpp"),
    ],
)  # fmt: skip
def test_mistakes_in_specifications(text: str, message: str, folder: Path, capsys: Capture) -> None:
    """Each is an error with its line, and known keys where a key is unknown."""
    np.save(folder / "object.npy", np.array([{}]), allow_pickle=True)
    np.save(folder / "wide.npy", np.full((32, 32), -1e39))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }\n"
    magic = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    (folder / "huge.npy").write_bytes(magic + header)
    status, printed, errors = run(folder, capsys, text)
    assert (status, printed) == (1, "")
    assert message in errors


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../k.cpp", "kernels/../../k.cpp", "link.cpp", "a\\n"]
)
@pytest.mark.parametrize("key", ["kernel", "data", "expected", "include"])
def test_files_outside_of_the_folder_are_not_opened(
    name: str, key: str, folder: Path, capsys: Capture
) -> None:
    """Absolute names, names that lead out, links, control characters."""
    (folder.parent / "k.cpp").write_text("void kernel_main() {}")
    (folder / "link.cpp").symlink_to(folder.parent / "k.cpp")
    text = {
        "kernel": f'[[kernels]]\nfile = "{name}"',
        "data": f'{BUFFER}shape = [32, 32]\ndata = "{name}"\n{KERNEL}',
        "expected": f'{BUFFER}shape = [32, 32]\nexpected = "{name}"\n{KERNEL}',
        "include": f'include = ["{name}"]\n{KERNEL}',
    }[key]
    status, _, errors = run(folder, capsys, text)
    assert status == 1
    assert "this name is no relative path to a file in the same folder" in errors


def test_keys_inside_of_texts_are_no_places(folder: Path, capsys: Capture) -> None:
    """The text of a kernel may look like TOML."""
    text = '[[kernels]]\ntext = """\n[[kernels]]\nrole = 1\n"""\nrole = "x"\n'
    _, _, errors = run(folder, capsys, text)
    assert errors.startswith("spec/k.toml:6:1: error: 'role' is one of auto, compute")


def test_a_deadlock_in_a_method_of_a_buffer_is_shown_in_the_kernel(
    folder: Path, capsys: Capture
) -> None:
    """What waits is a line of the kernel, not of what carries out the method."""
    source = '#include "api/dataflow/circular_buffer.h"\n' + (
        "void kernel_main() {\n    CircularBuffer cb(0);\n    cb.wait_front(1);\n}\n"
    )
    (folder / "wait.cpp").write_text(source)
    text = '[[circular_buffers]]\nindex = 0\n[[kernels]]\nfile = "wait.cpp"\nrole = "writer"\n'
    status, _, errors = run(folder, capsys, text)
    assert status == 1
    assert errors.startswith(
        "spec/wait.cpp:4:5: error: deadlock: 1 thread waits, and nothing is left that could wake "
        "them [deadlock]\n      cb.wait_front(1);\n"
    )


def test_tolerances_may_be_large_integers(folder: Path, capsys: Capture) -> None:
    """TOML has no bound for integers, NumPy has one."""
    text = BUFFER + "shape = [32, 32]\ndata = { constant = 2 }\nexpected = { constant = 1 }\n"
    status, printed, _ = run(folder, capsys, f"{text}atol = {10**30}\n{KERNEL}")
    assert (status, printed.splitlines()[0]) == (
        0,
        "b: pass: 1024 numbers agree within atol 1e+30 and rtol 0",
    )


def refuse(text: str, tmp_path: Path, capsys: Capture) -> str:
    """What is said about a specification that takes little to be refused."""
    path = tmp_path / "k.toml"
    path.write_text(text)
    with confined(megabytes=200, cpu_seconds=10):
        assert main(["run", str(path)]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a" + ".a" * 50_000 + " = 1", "1:16"),
        ("[a" + ' . "b"' * 50_000 + "]", "1:46"),
        ("x = 1\ny = { a" + ".a" * 50_000 + " = 1 }", "2:22"),
    ],
)
def test_keys_have_few_parts(text: str, place: str, tmp_path: Path, capsys: Capture) -> None:
    """TOML's reader takes memory with the square of their number: gigabytes for 100 KB."""
    message = refuse(text, tmp_path, capsys)
    assert f"k.toml:{place}: error: a key has at most 8 parts with dots between them" in message
    assert len(message) < 1000


def test_dots_that_separate_no_keys(tmp_path: Path, capsys: Capture) -> None:
    """In texts, comments and numbers."""
    dots = "a.b.c.d.e.f.g.h.i"
    text = f'# {dots}\n[kernels_]\n\'{dots}\'.b = [{"1.5, " * 20}]\nc = """{dots}\n\\""" {dots}"""'
    text += f"\nd = '''{dots}'' {dots}'''\ne = \"\\\"{dots}\"\n"
    assert "a specification has no key 'kernels_'" in refuse(text, tmp_path, capsys)


def test_kernels_are_no_specifications(tmp_path: Path, capsys: Capture) -> None:
    """Who gives one is told what does run, and what compiles it."""
    path = tmp_path / "k.cpp"
    path.write_text("#include <cstdint>\nvoid kernel_main() {}\n", encoding="utf-8")
    assert main(["run", str(path)]) == 1
    message = capsys.readouterr().err
    assert f"{path}:2:6: error: this is no TOML: what runs is a specification (.toml)" in message
    assert f"ttmlir-kernel check {path}\n" in message
    assert main(["check", str(path)]) == 0


@pytest.mark.parametrize(
    "text", ["x" * (MAX_LENGTH + 1), '"""\\"' * (MAX_LENGTH // 5), "'''a''" * (MAX_LENGTH // 6)]
)
def test_long_specifications(text: str, tmp_path: Path, capsys: Capture) -> None:
    """Are refused, and texts without an end are found in one go."""
    message = refuse(text, tmp_path, capsys)
    assert "more than 2097152 characters" in message or "this is no TOML" in message


def test_memory_of_the_host_counts(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers that buffers are filled and compared with take more than the buffers."""
    random = "data = { random = 1 }\n"
    wide = BUFFER + "shape = [32768, 32768]\n" + random
    assert (
        "1:2: error: a buffer of 2147483648 bytes, with the numbers"
        in run(folder, capsys, wide + KERNEL)[2]
    )
    monkeypatch.setenv("TTMLIR_MEMORY_GIB", "0.5")
    several = "".join(
        f"[buffers.b{i}]\nshape = [2048, 2048]\nexpected = {{ arange = 0 }}\n" for i in range(3)
    )
    assert "4:2: error: a buffer of 8388608 bytes" in run(folder, capsys, several + KERNEL)[2]
    # What is accepted stays within the limit.
    for bound in ("pcc = 0.1", "atol = 1"):
        text = BUFFER + f"shape = [2048, 2048]\n{random}expected = {{ random = 1 }}\n{bound}\n"
        with confined(megabytes=560, cpu_seconds=60):
            status, printed, errors = run(folder, capsys, text + KERNEL)
        assert (status, errors) == (0, ""), printed


ENDLESS = """
[[kernels]]
text = '''
void kernel_main() { for (int i = 0;; i++) { noc_async_read_barrier(); riscv_wait(1000); } }
'''
"""


def test_a_kernel_without_an_end_comes_to_one(folder: Path, capsys: Capture) -> None:
    """By itself; a flag allows more or less, which the specification may lower."""
    with confined(megabytes=200, cpu_seconds=60):
        status, _, errors = run(folder, capsys, ENDLESS)
    assert status == 1
    assert errors.startswith("kernel_0.cpp:1:22: error: the loops of the kernel run more than ")
    assert "the 100000000 cycles that a program may take; --cycle-limit of ttrt and " in errors
    for text, flags in (
        ("cycle_limit = 20000" + ENDLESS, []),
        (ENDLESS, ["--cycle-limit", "20000"]),
        ("cycle_limit = 20000" + ENDLESS, ["--cycle-limit", "30000"]),
    ):
        assert "more than the 20000 cycles" in run(folder, capsys, text, *flags)[2]
    text = "cycle_limit = 100000001" + ENDLESS
    assert (
        "k.toml:1:1: error: 'cycle_limit' is at most 100000000, unless --cycle-limit"
        in run(folder, capsys, text)[2]
    )
    assert (
        "'cycle_limit' is at most 9, unless" in run(folder, capsys, text, "--cycle-limit", "9")[2]
    )
