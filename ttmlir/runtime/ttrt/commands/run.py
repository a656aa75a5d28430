"""`ttrt run`: runs programs, checks and saves their results."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast

import numpy as np

from ttmlir.runtime.binary import Binary, BinaryProgram, GoldenTensors
from ttmlir.runtime.complex_pairs import join_pairs
from ttmlir.runtime.element import Array, Numerics
from ttmlir.runtime.errors import BinaryError, ExecutionError, InputError, UnsupportedError
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.golden import Tolerance
from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.system import system_differences
from ttmlir.runtime.ttrt.boards import board_table, compile_advice
from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.query import Query
from ttmlir.runtime.ttrt.commands.run_options import RUN_OPTIONS
from ttmlir.runtime.ttrt.files.array_files import write_arrays
from ttmlir.runtime.ttrt.files.sources import Source
from ttmlir.runtime.ttrt.reports.golden_report import golden_lines, golden_report
from ttmlir.runtime.ttrt.reports.progress import progress
from ttmlir.runtime.ttrt.reports.results import Outcome
from ttmlir.runtime.ttrt.running.expected import (
    ExpectedOutput,
    compare_outputs,
    load_golden_file,
)
from ttmlir.runtime.ttrt.running.inputs import (
    TorchInitilizer,
    fit_inputs,
    generate_inputs,
    load_inputs,
)
from ttmlir.runtime.ttrt.running.judgement import (
    expected_problems,
    golden_problem,
    identity_problems,
    zero_problems,
)
from ttmlir.runtime.ttrt.running.program import ProgramRun, RunSettings, run_operations
from ttmlir.schema.system_desc import pack_system_desc
from ttmlir.sim.findings import LENIENCIES
from ttmlir.terminal import shown_name

if TYPE_CHECKING:
    from ttmlir.runtime.generic.runner import GenericRunner
    from ttmlir.sim.options import SimOptions


class Run(Command):
    """Run every program of every file, on made-up inputs or given ones."""

    name = "run"
    summary = "Run binaries on the CPU."
    options = RUN_OPTIONS
    RECORDS_KERNELS: ClassVar[bool] = False
    """True if `note_run` wants to know what the threads of kernels did when."""
    WARMS_UP: ClassVar[bool] = False
    """True if the first of several runs should not count."""
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
        if Path(self["outputs"]).suffix not in ("", ".npy", ".npz"):
            raise InputError(f"--outputs must be a .npz or .npy file, got '{self['outputs']}'")
        if self["board"] is not None:
            self.check_board(self["board"])
        for name in self["lenient"]:
            if name not in LENIENCIES:
                raise InputError(
                    f"--lenient: there is no finding '{name}'; supported are "
                    + ", ".join(LENIENCIES)
                )

    def check_board(self, board: str) -> None:
        """Refuse boards that programs cannot be compared with."""
        board_table(board)

    def execute(self) -> None:
        """Run every file."""
        self.saved_outputs = {}
        for option in ("--inputs", "--outputs", "--golden-file"):
            if self[option] and len(self.sources()) > 1:
                raise InputError(f"{option} needs a single file, got {len(self.sources())}")
        self.run_on_each()
        if self["outputs"] and all(result.outcome is not Outcome.ERROR for result in self.results):
            write_arrays(self["outputs"], self.saved_outputs)

    def execute_on(self, source: Source) -> None:
        """Run the programs of one file."""
        ignore = self["ignore_version"]
        binary = read_binary(source.content, source.name, ignore_version=ignore)
        if not self._fits_system(binary):
            return
        if binary.warning:
            self.logger.warning(binary.warning)
        for program in self.selected_programs(binary):
            self._try_program(binary, program)
        if self["save_artifacts"]:
            self._save_binary(source, binary)

    def _fits_system(self, binary: Binary) -> bool:
        """Compare with the board that was asked for; without one, the file's own is simulated."""
        board = self["board"]
        if board is None:
            return True
        if binary.system_desc is None:
            raise BinaryError(f"{binary.source}: field 'system_desc' is missing")
        lines = system_differences(board_table(board), binary.system_desc)
        if not lines:
            return True
        message = (
            f"{binary.source}: compiled for another system than board '{board}': {lines[0]}"
            + (f" and {len(lines) - 1} more differences" if len(lines) > 1 else "")
            + f"; nothing ran. Compile it for the board, {compile_advice(board)}; without --board "
            "it runs on the system that it was compiled for, and ttrt check lists the differences"
        )
        self.logger.warning(message)
        self.note(binary.source, outcome=Outcome.SKIP, exception=message)
        return False

    def selected_programs(self, binary: Binary) -> Sequence[BinaryProgram]:
        """Those that `--program-index` asks for."""
        index = self["program_index"]
        if not binary.programs:
            raise BinaryError(f"{binary.source}: the file has no programs")
        return binary.programs if index == "all" else [binary.program(int(index))]

    def _try_program(self, binary: Binary, program: BinaryProgram) -> None:
        try:
            expected = self._expected(program)
            run = self._run(binary, program, self._inputs(program, expected))
            self._report(binary, program, run, expected)
        except (BinaryError, UnsupportedError, InputError, ExecutionError) as error:
            self.fail(binary.source, error).program_index = str(program.index)
        except MemoryError as error:
            failure = ExecutionError(f"{program.where}: not enough memory: {error}")
            self.fail(binary.source, failure).program_index = str(program.index)

    def _expected(self, program: BinaryProgram) -> GoldenTensors | None:
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

    def _inputs(self, program: BinaryProgram, expected: GoldenTensors | None) -> list[Array]:
        if self["inputs"]:
            return fit_inputs(program, load_inputs(self["inputs"]))
        if expected is not None and (expected.inputs or not program.inputs):
            return fit_inputs(program, expected.inputs)
        rng = np.random.default_rng(self["seed"])
        return generate_inputs(program, self["init"], rng)

    def _run(self, binary: Binary, program: BinaryProgram, inputs: list[Array]) -> ProgramRun:
        title = f"{Path(binary.source).name} {shown_name(program.name)}"
        settings = RunSettings(
            numerics=Numerics(self["numerics"]),
            golden=self["golden"] or self["save_golden_tensors"],
            keep_golden=self["save_golden_tensors"],
            tolerance=self._tolerance,
            warm_up=self.WARMS_UP,
            runs=partial(progress, self["loops"], title, self["quiet"]),
        )
        if not binary.is_metal:
            return run_operations(program, inputs, settings, self.observer, self._make_runner)
        # The simulator is loaded only for files that need it.
        from ttmlir.runtime.metal.session import needed_leniencies
        from ttmlir.runtime.ttrt.running.kernels import run_kernels

        return run_kernels(
            program,
            inputs,
            settings,
            self._sim_options(needed_leniencies(program)),
            print_line=self.logger.output,
            record=self.RECORDS_KERNELS,
        )

    @property
    def _tolerance(self) -> Tolerance:
        return Tolerance(pcc=self["pcc"], rtol=self["rtol_allclose"], atol=self["atol_allclose"])

    def _make_runner(self, program: BinaryProgram) -> GenericRunner:
        """What runs the programs of kernels of a `.ttnn` file."""
        from ttmlir.runtime.compiled_for import chip_of
        from ttmlir.runtime.generic.runner import GenericRunner

        return GenericRunner(
            chip_of(program.binary),
            self._sim_options(frozenset()),
            print_line=self.logger.output,
            record=self.RECORDS_KERNELS,
        )

    def _sim_options(self, leniencies: frozenset[str]) -> SimOptions:
        """The options of the simulator; `leniencies` hold unless others are given."""
        from ttmlir.sim.options import SimOptions

        return SimOptions(
            numerics=cast('Literal["exact", "device"]', self["numerics"]),
            sanitize=not self["no_sanitize"],
            schedule_seed=self["schedule_seed"],
            delay_copies=self["delay_copies"],
            cycle_limit=self["cycle_limit"],
            leniencies=frozenset(self["lenient"]) or leniencies,
        )

    def observer(self) -> Observer | None:
        """What watches every run: registered hooks, if any."""
        return DebugHooks.registered()

    def note_run(self, program: BinaryProgram, run: ProgramRun) -> None:
        """Called with what running each program gave."""

    def _report(
        self,
        binary: Binary,
        program: BinaryProgram,
        run: ProgramRun,
        expected: GoldenTensors | None,
    ) -> None:
        """Say, judge, keep and note what a program computed."""
        self.note_run(program, run)
        outputs: list[ExpectedOutput] = []
        if expected is not None:
            outputs = compare_outputs(program, run.outputs, expected, self._tolerance)
        self._show(program, run, outputs)
        self._keep(program, run.outputs)
        if self["save_artifacts"]:
            self._save_tensors(binary, program, run)
        problems = [*self._problems(run), *expected_problems(outputs)]
        for problem in problems:
            self.logger.error(f"{program.where}: {problem}")
        if not problems:
            mean = sum(run.durations) / len(run.durations) / 1e6
            self.logger.info(f"{program.where}: pass, {mean:.3f} ms per run")
        self.note(
            binary.source,
            outcome=Outcome.TEST_ERROR if problems else Outcome.PASS,
            exception="; ".join(problems),
            program_index=str(program.index),
            details=self._details(program, run, outputs),
        )

    def _problems(self, run: ProgramRun) -> list[str]:
        """What is wrong with the numbers."""
        problems: list[str] = []
        if self["identity"]:
            problems += identity_problems(run.inputs, run.outputs, self["rtol"], self["atol"])
        if self["non_zero"]:
            problems += zero_problems(run.outputs)
        if run.golden is not None and run.golden.first_failure is not None:
            problems.append(golden_problem(run.golden.first_failure))
        return problems

    def _details(
        self, program: BinaryProgram, run: ProgramRun, outputs: Sequence[ExpectedOutput]
    ) -> dict[str, object]:
        """Entries of the results that are about the run."""
        details: dict[str, object] = {
            "program_name": program.name,
            "program_results": {
                str(i): {"duration_ns": duration} for i, duration in enumerate(run.durations)
            },
            "numerics": self["numerics"],
        }
        if outputs:
            details["golden_outputs"] = [each.as_dict(self._tolerance) for each in outputs]
        if self["memory"] and run.peak_bytes:
            details["peak_memory_bytes"] = run.peak_bytes
        details |= run.details
        if run.golden is not None:
            details["golden_results"] = golden_report(run.golden)
        return details

    def _show(
        self, program: BinaryProgram, run: ProgramRun, outputs: Sequence[ExpectedOutput]
    ) -> None:
        for result in outputs:
            self.logger.info(f"golden {'ok ' if result.passed else 'OFF'} {result}")
        if self["print_input_output_tensors"]:
            for kind, arrays in (("input", run.inputs), ("output", run.outputs)):
                for i, array in enumerate(arrays):
                    self.logger.output(f"{kind} {i}: {array.dtype} {array.shape}\n{array}")
        if self["memory"] and run.peak_bytes:
            self.logger.info(f"{program.where}: peak memory {run.peak_bytes} bytes")
        if run.golden is not None:
            for line in golden_lines(run.golden, run.generics):
                self.logger.info(line)
        for each in run.generics:
            self.logger.info(
                f"kernels    operation {each.operation.index} ({each.title}): "
                f"{each.report.cycles:,} cycles on {each.report.num_cores} cores"
            )

    def _keep(self, program: BinaryProgram, outputs: Sequence[Array]) -> None:
        """Remember outputs for `--outputs`, by names that tell programs apart."""
        if not self["outputs"]:
            return
        is_only = self["program_index"] != "all" or len(program.binary.programs) == 1
        prefix = "" if is_only else f"program_{program.index}_"
        for i, array in enumerate(_of_the_model(program, outputs)):
            self.saved_outputs[f"{prefix}output_{i}"] = array

    def _save_tensors(self, binary: Binary, program: BinaryProgram, run: ProgramRun) -> None:
        folder = self.artifacts.get_binary_run_folder_path(binary.source, program.index)
        for kind, arrays in (("input", run.inputs), ("output", run.outputs)):
            for i, array in enumerate(arrays):
                self.artifacts.save_tensor(folder, array, f"program_{program.index}_{kind}_{i}")
        if run.golden is None:
            return
        report = json.dumps(golden_report(run.golden), indent=2).encode()
        self.file_manager.write_bytes(os.path.join(folder, "golden_report.json"), report)
        for result in run.golden.results:
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


def _of_the_model(program: BinaryProgram, outputs: Sequence[Array]) -> Sequence[Array]:
    """Outputs of a program, the pairs among its model's results as complex arrays."""
    signature = program.signature
    if signature is None:
        return outputs
    return join_pairs(outputs, [*[False] * signature.state, *signature.results.are_complex])
