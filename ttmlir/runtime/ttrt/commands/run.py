"""`ttrt run`: runs programs, checks and saves their results."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from ttmlir.runtime.binary import Binary, GoldenTensors, Program
from ttmlir.runtime.device import Device, close_device, open_device
from ttmlir.runtime.element import Array, Numerics, convert
from ttmlir.runtime.errors import BinaryError, ExecutionError, InputError, UnsupportedError
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.golden import GoldenObserver, GoldenResult, Tolerance
from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import prepare_submission, run_prepared, to_host, to_layout
from ttmlir.runtime.system import system_differences
from ttmlir.runtime.tensor import Tensor
from ttmlir.runtime.ttrt.boards import board_table
from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.query import Query
from ttmlir.runtime.ttrt.commands.run_options import RUN_OPTIONS
from ttmlir.runtime.ttrt.expected import compare_outputs, load_golden_file
from ttmlir.runtime.ttrt.inputs import TorchInitilizer, fit_inputs, generate_inputs, load_inputs
from ttmlir.runtime.ttrt.reports.artifacts import storable
from ttmlir.runtime.ttrt.reports.progress import progress
from ttmlir.runtime.ttrt.reports.results import Outcome
from ttmlir.runtime.ttrt.sources import Source
from ttmlir.schema.system_desc import pack_system_desc
from ttmlir.sim.findings import LENIENCIES

if TYPE_CHECKING:
    from ttmlir.runtime.metal.session import MetalRun


class Golden(Protocol):
    """What a golden run found."""

    tolerance: Tolerance
    results: list[GoldenResult]

    @property
    def first_failure(self) -> GoldenResult | None:
        """The first operation that is off."""
        ...


class Run(Command):
    """Run every program of every file, on made-up inputs or given ones."""

    name = "run"
    summary = "Run binaries on the CPU."
    options = RUN_OPTIONS
    RECORDS_KERNELS: ClassVar[bool] = False
    """True if `note_kernels` wants to know what the threads of kernels did when."""
    TorchInitilizer = TorchInitilizer
    saved_outputs: dict[str, Array]
    """Arrays for `--outputs`, by name."""

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """The description of the system comes first."""
        return [Query]

    def check_constraints(self) -> None:
        """Refuse arguments out of range or at odds with each other."""
        super().check_constraints()
        index = self["program_index"]
        if index != "all" and not str(index).isdecimal():
            raise InputError(f"--program-index must be 'all' or a number, got '{index}'")
        if self["board"]:
            board_table(self["board"])
        for name in self["lenient"]:
            if name not in LENIENCIES:
                raise InputError(
                    f"--lenient: there is no finding '{name}'; supported are "
                    + ", ".join(LENIENCIES)
                )

    def execute(self) -> None:
        """Run every file."""
        self.saved_outputs = {}
        for option in ("--inputs", "--outputs", "--golden-file"):
            if self[option] and len(self.sources()) > 1:
                raise InputError(f"{option} needs a single file, got {len(self.sources())}")
        self.run_on_each()
        if self["outputs"] and all(result.outcome is not Outcome.ERROR for result in self.results):
            self._write_outputs(self["outputs"])

    def execute_on(self, source: Source) -> None:
        """Run the programs of one file."""
        ignore = self["ignore_version"]
        binary = read_binary(source.content, source.name, ignore_version=ignore)
        if not self._fits_system(binary):
            return
        if binary.warning:
            self.logger.warning(binary.warning)
        for program in self._programs(binary):
            self._try_program(binary, program)
        if self["save_artifacts"]:
            self._save_binary(source, binary)

    def _fits_system(self, binary: Binary) -> bool:
        """Compare with the board that was asked for; without one, the file's own is simulated."""
        board = self["board"]
        if not board:
            return True
        if binary.system_desc is None:
            raise BinaryError(f"{binary.source}: field 'system_desc' is missing")
        lines = system_differences(board_table(board), binary.system_desc)
        if not lines:
            return True
        message = (
            f"{binary.source}: compiled for another system than board '{board}': {lines[0]}"
            + (f" and {len(lines) - 1} more differences" if len(lines) > 1 else "")
            + "; ttrt check lists them"
        )
        self.logger.warning(message)
        self.note(binary.source, outcome=Outcome.SKIP, exception=message)
        return False

    def _programs(self, binary: Binary) -> Sequence[Program]:
        index = self["program_index"]
        if not binary.programs:
            raise BinaryError(f"{binary.source}: the file has no programs")
        return binary.programs if index == "all" else [binary.program(int(index))]

    def _try_program(self, binary: Binary, program: Program) -> None:
        numerics = Numerics(self["numerics"])
        try:
            if binary.is_metal:
                self._run_kernels(binary, program)
                return
            chips = prepare(program, numerics).chip_ids
            device = open_device(chips or (0,), numerics=numerics)
            self._run_program(device, binary, program)
            close_device(device)
        except (BinaryError, UnsupportedError, InputError, ExecutionError) as error:
            self.fail(binary.source, error).program_index = str(program.index)
        except MemoryError as error:
            failure = ExecutionError(f"{program.where}: not enough memory: {error}")
            self.fail(binary.source, failure).program_index = str(program.index)

    def _run_program(self, device: Device, binary: Binary, program: Program) -> None:
        expected = self._expected(program)
        arrays = self._input_arrays(program, expected)
        inputs = [
            to_layout(Tensor.from_numpy(array), device, ref.desc)
            for array, ref in zip(arrays, program.inputs, strict=True)
        ]
        prepared = prepare_submission(device, binary, program.index, inputs)
        golden = self._golden_observer(program, inputs)
        durations: list[int] = []
        outputs: list[Tensor] = []
        loops: int = self["loops"]
        for loop in progress(loops, f"{Path(binary.source).name} {program.name}", self["quiet"]):
            observer = golden if loop == 0 and golden is not None else self.observer()
            start = time.perf_counter_ns()
            outputs = run_prepared(device, prepared, inputs, observer)
            durations.append(time.perf_counter_ns() - start)
        results = [to_host(tensor).to_numpy() for tensor in outputs]
        details: dict[str, Any] = {}
        problems = self._problems(arrays, results, golden)
        problems += self._golden_outputs(program, results, expected, details)
        self._show_tensors(arrays, results)
        self._keep(program, results)
        if self["save_artifacts"]:
            self._save_tensors(binary, program, arrays, results, golden)
        if self["memory"]:
            details["peak_memory_bytes"] = {
                space.keyword: size for space, size in prepared.peak_bytes.items()
            }
            peak = details["peak_memory_bytes"]
            self.logger.info(f"{program.where}: peak memory {peak} bytes")
        self._note_program(binary, program, details, durations, golden, problems)

    def _run_kernels(self, binary: Binary, program: Program) -> None:
        # The simulator is loaded only for files that need it.
        from ttmlir.runtime.ttrt.commands.metal_run import details_of, run_metal

        expected = self._expected(program)
        arrays = self._input_arrays(program, expected)
        result = run_metal(self, program, arrays, record=self.RECORDS_KERNELS)
        self.note_kernels(program, result.run)
        details: dict[str, Any] = {}
        problems = self._problems(arrays, result.outputs, result.golden)
        problems += self._golden_outputs(program, result.outputs, expected, details)
        self._show_tensors(arrays, result.outputs)
        self._keep(program, result.outputs)
        if self["save_artifacts"]:
            self._save_tensors(binary, program, arrays, result.outputs, result.golden)
        details |= details_of(result)
        self._note_program(binary, program, details, result.durations, result.golden, problems)

    def note_kernels(self, program: Program, run: MetalRun) -> None:
        """Called with every run of a program of kernels."""

    def observer(self) -> Observer | None:
        """What watches every run: registered hooks, if any."""
        return DebugHooks.registered()

    def _expected(self, program: Program) -> GoldenTensors | None:
        """Inputs and outputs of a reference run, of the file asked for or the binary itself."""
        if path := self["golden_file"]:
            expected = load_golden_file(path, program)
            if bool(expected.inputs) == bool(self["inputs"]) and program.inputs:
                has = "has inputs of its own" if expected.inputs else "has no inputs"
                remedy = "leave --inputs out" if expected.inputs else "give them with --inputs"
                raise InputError(f"{path}: {has}; {remedy}")
            return expected
        # Other inputs than the reference's give other outputs.
        is_other = bool(self["inputs"]) or self["init"] != "randn" or self["seed"]
        return program.golden if self["golden"] and not is_other else None

    def _golden_outputs(
        self,
        program: Program,
        outputs: list[Array],
        expected: GoldenTensors | None,
        details: dict[str, Any],
    ) -> list[str]:
        """What is wrong with the outputs according to a reference run; puts all into `details`."""
        if expected is None:
            return []
        tolerance = self._tolerance()
        results = compare_outputs(program, outputs, expected, tolerance)
        details["golden_outputs"] = [result.as_dict(tolerance) for result in results]
        for result in results:
            mark = "ok " if result.passed else "OFF"
            self.logger.info(f"golden {mark} {result}")
        return [
            f"differs from what its file or --golden-file expects: {result}"
            for result in results
            if not result.passed
        ]

    def _tolerance(self) -> Tolerance:
        return Tolerance(pcc=self["pcc"], rtol=self["rtol_allclose"], atol=self["atol_allclose"])

    def _input_arrays(self, program: Program, expected: GoldenTensors | None) -> list[Array]:
        if self["inputs"]:
            return fit_inputs(program, load_inputs(self["inputs"]))
        if expected is not None and (expected.inputs or not program.inputs):
            return fit_inputs(program, expected.inputs)
        rng = np.random.default_rng(self["seed"])
        return generate_inputs(program, self["init"], rng)

    def _golden_observer(self, program: Program, inputs: list[Tensor]) -> GoldenObserver | None:
        if not (self["golden"] or self["save_golden_tensors"]):
            return None
        arrays = [
            convert(tensor.values, ref.desc.element.compute)
            for tensor, ref in zip(inputs, program.inputs, strict=True)
        ]
        keep = self["save_golden_tensors"]
        return GoldenObserver(arrays, self._tolerance(), keep_tensors=keep)

    def _problems(
        self, inputs: list[Array], outputs: list[Array], golden: Golden | None
    ) -> list[str]:
        """What is wrong with the numbers."""
        problems: list[str] = []
        if self["identity"]:
            problems += _identity_problems(inputs, outputs, self["rtol"], self["atol"])
        if self["non_zero"]:
            problems += [
                f"output {i} is all zeros" for i, output in enumerate(outputs) if not output.any()
            ]
        if golden is not None and golden.first_failure is not None:
            problems.append(_golden_problem(golden.first_failure))
        return problems

    def _show_tensors(self, inputs: list[Array], outputs: list[Array]) -> None:
        if not self["print_input_output_tensors"]:
            return
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for i, array in enumerate(arrays):
                self.logger.output(f"{kind} {i}: {array.dtype} {array.shape}\n{array}")

    def _keep(self, program: Program, results: list[Array]) -> None:
        if not self["outputs"]:
            return
        prefix = "" if self["program_index"] != "all" else f"program_{program.index}_"
        if len(program.binary.programs) == 1:
            prefix = ""
        for i, array in enumerate(results):
            self.saved_outputs[f"{prefix}output_{i}"] = storable(array)

    def _write_outputs(self, path: str) -> None:
        if path.endswith(".npy") and len(self.saved_outputs) != 1:
            raise InputError(
                f"{path}: a .npy file holds one array, the programs have "
                f"{len(self.saved_outputs)} outputs; give a .npz file"
            )
        try:
            with open(path, "wb") as file:
                if path.endswith(".npy"):
                    np.save(file, *self.saved_outputs.values(), allow_pickle=False)
                else:
                    np.savez(file, allow_pickle=False, **self.saved_outputs)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from error

    def _save_tensors(
        self,
        binary: Binary,
        program: Program,
        inputs: list[Array],
        outputs: list[Array],
        golden: Golden | None,
    ) -> None:
        folder = self.artifacts.get_binary_run_folder_path(binary.source, program.index)
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for i, array in enumerate(arrays):
                self.artifacts.save_tensor(folder, array, f"program_{program.index}_{kind}_{i}")
        if golden is None:
            return
        report = json.dumps(_golden_report(golden), indent=2).encode()
        self.file_manager.write_bytes(os.path.join(folder, "golden_report.json"), report)
        for result in golden.results:
            if result.golden is not None:
                name = f"program_{program.index}_golden_{result.operation.index}"
                self.artifacts.save_tensor(folder, result.golden, name)

    def _save_binary(self, source: Source, binary: Binary) -> None:
        """Copy the file, with the system that it ran on if it says which that is."""
        if binary.system_desc is None:
            self.artifacts.save_source(source)
            return
        system = pack_system_desc(binary.system_desc)
        path = self.artifacts.save_system_desc(system)
        self.logger.debug(f"system description saved to {path}")
        self.artifacts.save_source(source, system)

    def _note_program(
        self,
        binary: Binary,
        program: Program,
        more: dict[str, Any],
        durations: list[int],
        golden: Golden | None,
        problems: list[str],
    ) -> None:
        details: dict[str, Any] = {
            "program_name": program.name,
            "program_results": {
                str(i): {"duration_ns": duration} for i, duration in enumerate(durations)
            },
            "numerics": self["numerics"],
            **more,
        }
        if golden is not None:
            details["golden_results"] = _golden_report(golden)
            self._log_golden(program, golden)
        for problem in problems:
            self.logger.error(f"{program.where}: {problem}")
        outcome = Outcome.TEST_ERROR if problems else Outcome.PASS
        if not problems:
            mean = sum(durations) / len(durations) / 1e6
            self.logger.info(f"{program.where}: pass, {mean:.3f} ms per run")
        self.note(
            binary.source,
            outcome=outcome,
            exception="; ".join(problems),
            program_index=str(program.index),
            details=details,
        )

    def _log_golden(self, program: Program, golden: Golden) -> None:
        for result in golden.results:
            accuracy = result.accuracy
            mark = "ok " if result.passed else "OFF"
            location = f" loc({result.operation.location})" if result.operation.location else ""
            self.logger.info(
                f"golden {mark} operation {result.operation.index} {result.name}{location}: "
                f"pcc {accuracy.pcc:.6f}, max abs error {accuracy.max_absolute_error:.3g}, "
                f"mean abs error {accuracy.mean_absolute_error:.3g}, "
                f"max rel error {accuracy.max_relative_error:.3g}"
            )


def _golden_report(golden: Golden) -> list[dict[str, Any]]:
    return [result.as_dict(golden.tolerance) for result in golden.results]


def _golden_problem(result: GoldenResult) -> str:
    operation, accuracy = result.operation, result.accuracy
    location = f" at loc({operation.location})" if operation.location else ""
    text = f": {operation.debug_info}" if operation.debug_info else ""
    return (
        f"operation {operation.index} ({result.name}){location} is the first that differs from "
        f"its reference: pcc {accuracy.pcc:.6f}, max absolute error "
        f"{accuracy.max_absolute_error:.6g}, {accuracy.mismatched_specials} infinities or NaNs "
        f"differ{text}"
    )


def _identity_problems(
    inputs: list[Array], outputs: list[Array], rtol: float, atol: float
) -> list[str]:
    if len(inputs) != len(outputs):
        return [f"identity expects as many outputs as inputs: {len(inputs)}, got {len(outputs)}"]
    problems: list[str] = []
    for i, (given, result) in enumerate(zip(inputs, outputs, strict=True)):
        if given.shape != result.shape:
            problems.append(f"output {i} has shape {result.shape}, its input {given.shape}")
            continue
        x, y = np.asarray(result, np.float64), np.asarray(given, np.float64)
        if not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            error = np.nanmax(np.abs(x - y))
            problems.append(f"output {i} differs from input {i} by up to {error:.6g}")
    return problems
