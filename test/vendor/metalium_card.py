"""The programs of examples/metalium here, and by the real ttnn library, as `ttnn.generic_op`.

    python test/vendor/metalium_card.py OUT                          run here
    python test/vendor/metalium_card.py OUT --command 'ref ttnn'     and by the real library
    python test/vendor/metalium_card.py OUT --command ... --record   and keep the verdicts

As `card.py`. In mode `mock` the kernels are compiled for a board; in mode `sim` an example gets the
numbers that they make on a simulated chip, and compares them with NumPy as it does here.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from card import STOPS

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ttmlir.layout.enums import Arch, DataType, MemorySpace
from ttmlir.metalium.cores import CoreCoord
from ttmlir.metalium.device import Device
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution import run
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program, inline_headers
from ttmlir.sim.kernels.build import BindingNames
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.tools import ttmlir_host

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "metalium"
VERDICTS = Path(__file__).parent / "Inputs" / "metalium_card.json"
HERE_ALONE = (
    *("matmul_prefetched.py", "prefetch_columns.cpp", "receive_columns.cpp"),
    *("multiply_columns.cpp", "write_columns.cpp"),
)
"""Files of an example with a global circular buffer, which generic_op has not."""
UNNAMED = "not run: generic_op has no names of Metal 2.0"
BOARDS = ("n150", "p150")
_REPLAY = Path(__file__).with_name("metalium_replay.py")
_VERSIONS = "ttnn 0.81.1; ttsim 1.10.0"
_SIZES = ["--m", "128", "--k", "96", "--n", "160", "--no-sanitize"]
_SECONDS = 600
_TILE_BYTES = 2048
_KINDS = ("UnsupportedFunctionality", "UndefinedBehavior", "NonContractualBehavior")


def names() -> list[str]:
    """Examples: `name` in Python, `cpp/name` in C++."""
    hosts = [each for each in sorted(EXAMPLES.glob("*.py")) if "main(run, " in each.read_text()]
    hosts = [each for each in hosts if each.name not in HERE_ALONE]
    return [each.stem for each in hosts] + [f"cpp/{each.stem}" for each in _hosts_in_cpp()]


def _hosts_in_cpp() -> list[Path]:
    return sorted((EXAMPLES / "cpp").glob("*.cpp"))


def hash_of_examples() -> str:
    """Stands for the files of all of these examples."""
    files = (each for each in EXAMPLES.rglob("*") if each.suffix in {".py", ".cpp", ".hpp"})
    files = (each for each in files if each.name not in HERE_ALONE)
    texts = (f"{each.relative_to(EXAMPLES)}\n{each.read_text('utf-8')}" for each in sorted(files))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def run_example(name: str, board: str) -> str:
    """`right`, or what it says."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        if name.startswith("cpp/"):
            status = ttmlir_host.main([str(EXAMPLES / f"{name}.cpp"), "--board", board])
        else:
            status = _run_python(EXAMPLES / f"{name}.py", [*_SIZES, "--board", board])
    lines = [each for each in said.getvalue().splitlines() if each]
    return "right" if not status else next((each for each in lines if "error" in each), str(lines))


def _run_python(path: Path, arguments: list[str]) -> int:
    with (
        mock.patch.object(sys, "argv", [str(path), *arguments]),
        mock.patch.object(sys, "path", [str(path.parent), *sys.path]),
    ):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as error:
            return int(error.code or 0)
    return 0


# --- By the library -------------------------------------------------------------------------------


class Replay:
    """Gives each program that an example runs to the library."""

    def __init__(self, folder: Path, command: list[str], mode: str, board: str) -> None:
        """`command` gets the mode and a script."""
        self.folder, self.command, self.mode, self.board = folder, command, mode, board
        self.buffers: list[Buffer] = []
        self.verdict = ""

    def run(self, name: str) -> str:
        """`right`, or what is wrong."""
        self.folder.mkdir(parents=True, exist_ok=True)
        make = Buffer.__init__

        def created(buffer: Buffer, *arguments: Any, **options: Any) -> None:
            make(buffer, *arguments, **options)
            self.buffers.append(buffer)

        run_here = run.run_program
        reports: list[Any] = []

        def keep(*arguments: Any, **options: Any) -> Any:
            reports.append(run_here(*arguments, **options))
            return reports[-1]

        with mock.patch.object(run, "run_program", keep):
            run_example(name, self.board)
        place: Callable[..., CoreCoord] = _on_network
        opened = Device.__init__

        def open_late(device: Device, number: int, chip: Any, chosen: Any, line: Any) -> None:
            opened(device, number, chip, replace(chosen, tt_metal="0.81"), line)

        def replay(device: Any, program: Program, **_: Any) -> Any:
            self._replay(device, program)
            return reports[0]

        with (
            mock.patch.object(Buffer, "__init__", created),
            mock.patch.object(Device, "__init__", open_late),
            mock.patch.object(Device, "worker_core_from_logical_core", place),
            mock.patch.object(run, "run_program", replay),
        ):
            said = run_example(name, self.board)
        return self.verdict or said

    def _replay(self, device: Any, program: Program) -> None:
        buffers = [each for each in self.buffers if each.device is device and each.allocated]
        if any(each.names != BindingNames() for each in program.kernels):
            self.verdict = UNNAMED
            return
        said = {
            "buffers": [_describe_buffer(each) for each in buffers],
            "kernels": [_describe_kernel(each, buffers) for each in program.kernels],
            "circular_buffers": [_describe_cb(each, buffers) for each in program.circular_buffers],
            "semaphores": [
                {"id": each.index, "cores": each.cores, "value": each.initial}
                for each in program.semaphores
            ],
        }
        source, results = self.folder / "program.npz", self.folder / "results.npz"
        tiles = {f"buffer{n}": _bytes_of(each) for n, each in enumerate(buffers)}
        np.savez(source, program=np.array(json.dumps(said)), **tiles)
        results.unlink(missing_ok=True)
        done = subprocess.run(
            [*self.command, self.mode, str(_REPLAY), str(source), str(results)],
            capture_output=True, text=True, check=False, timeout=_SECONDS,
            env={**os.environ, "BOARD": self.board}, cwd=self.folder, errors="replace",
        )  # fmt: skip
        log = done.stdout + done.stderr
        (self.folder / f"{self.mode}.log").write_text(log, encoding="utf-8")
        if not results.exists():
            self.verdict = _reason(log)
        elif self.mode == "mock":
            self.verdict = "right"
        else:
            with np.load(results) as data:
                for number, buffer in enumerate(buffers):
                    buffer.write(data[f"buffer{number}"].tobytes())


def _on_network(device: Device, core: Any) -> CoreCoord:
    """Where the library's simulated chips have a core."""
    x, y = core
    if device.simulated.chip.arch == Arch.WORMHOLE_B0:
        return CoreCoord(18 + x, 18 + y)
    return CoreCoord(x + (1 if x < 7 else 3), y + 2)


def _reason(log: str) -> str:
    lines = [each for each in log.splitlines() if each]
    for line in lines:
        for kind in _KINDS:
            if kind in line:
                return STOPS + line[line.index(kind) :]
    return next((each for each in lines if "error:" in each), lines[-1] if lines else "no message")


def _describe_buffer(buffer: Buffer) -> dict[str, Any]:
    if buffer.page_size != _TILE_BYTES:
        raise SimError(f"pages of {buffer.page_size} bytes are no tiles of bf16")
    sharding = buffer.sharding
    return {
        "space": "DRAM" if buffer.space == MemorySpace.DEVICE_DRAM else "L1",
        "pages": sharding.shape if sharding else (buffer.num_pages, 1),
        "layout": buffer.layout.name,
        "cores": sharding.cores if sharding else (),
        "shard": sharding.shard_shape if sharding else (),
    }


def _bytes_of(buffer: Buffer) -> Any:
    """What the pages hold, written or not."""
    places = (buffer.pages.locate(page) for page in range(buffer.num_pages))
    pages = (bank.memory.read(address, buffer.page_size) for bank, address in places)
    return np.frombuffer(b"".join(map(bytes, pages)), np.uint8)


def _describe_kernel(kernel: Kernel, buffers: list[Buffer]) -> dict[str, Any]:
    places = {each.address: number for number, each in enumerate(buffers)}

    def words(numbers: Any) -> list[Any]:
        return [
            ["buffer", places[each]] if each in places else int(each) for each in map(int, numbers)
        ]

    return {
        "text": inline_headers(kernel.text, kernel.file, kernel.include_path),
        "cores": kernel.cores,
        "role": kernel.role.name,
        "noc": kernel.noc_index,
        "compile_time_args": [int(each) for each in kernel.compile_time_args],
        "named": dict(kernel.named_compile_time_args),
        "defines": dict(kernel.defines),
        "common": words(kernel.common_arguments),
        "arguments": [[core, words(each)] for core, each in kernel.arguments.items()],
        "fidelity": kernel.compute.fidelity.schema_name,
        "flags": {
            name: getattr(kernel.compute, name)
            for name in ("fp32_dest_acc_en", "dst_full_sync_en", "math_approx_mode")
        },
    }


def _describe_cb(spec: CircularBufferSpec, buffers: list[Buffer]) -> dict[str, Any]:
    for _, form in spec.indices.values():
        if form != DataType.BF16:
            raise SimError(f"circular buffers of {form.name} are none of bf16")
    return {
        "cores": spec.cores,
        "size": spec.total_size,
        "indices": [(index, page) for index, (page, _) in spec.indices.items()],
        "buffer": None if spec.buffer is None else buffers.index(spec.buffer),
    }


def main() -> int:
    """Run and print; 0 where all are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--command", default="")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--modes", nargs="*", default=["mock", "sim"])
    parser.add_argument("--boards", nargs="*", default=[*BOARDS])
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    programs: dict[str, Any] = known.get("programs", {})
    count = 0
    for name in options.only or names():
        verdicts = {**programs.get(name, {}), "own": run_example(name, BOARDS[0])}
        for mode in options.modes if options.command else ():
            for board in options.boards:
                folder = options.out.resolve() / board / name.replace("/", "_")
                replay = Replay(folder, shlex.split(options.command), mode, board)
                verdicts[f"{mode} {board}"] = replay.run(name)
        programs[name] = verdicts
        bad = {key: each for key, each in verdicts.items() if each != "right"}
        count += bool(bad)
        print(name, bad or "right", flush=True)
        if options.record:
            text = {
                "versions": _VERSIONS,
                "examples": hash_of_examples(),
                "programs": dict(sorted(programs.items())),
            }
            VERDICTS.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
