"""`ttrt perf`: how long programs take: estimated for a device, measured on the host, simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ttmlir.files import safe_file_name
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.system import find_system
from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.run import Run
from ttmlir.runtime.ttrt.commands.run_options import PERF_OPTIONS
from ttmlir.runtime.ttrt.files.sources import Source
from ttmlir.runtime.ttrt.reports.operation_times import (
    CSV_NAME,
    Timing,
    TimingObserver,
    summary,
    timings_as_csv,
)
from ttmlir.runtime.ttrt.running.program import ProgramRun
from ttmlir.schema import identify
from ttmlir.terminal import show_wait, shown_name

if TYPE_CHECKING:
    from ttmlir.cost import Estimate
    from ttmlir.runtime.ttrt.reports.kernel_times import KernelRuns


class Perf(Run):
    """Report the time of operations, estimated on the device or measured on the host, and that of
    kernels, simulated."""

    name = "perf"
    summary = "Time operations, estimated on the device or measured here, or simulate kernels."
    options = PERF_OPTIONS
    RECORDS_KERNELS = True
    WARMS_UP = True

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """Programs are run."""
        return [Run]

    def observer(self) -> Observer:
        """The clock."""
        return self._timing

    def check_constraints(self) -> None:
        """Refuse options that ask for two things at once, or mean nothing."""
        if self["device"] and self["host_only"]:
            raise InputError("--device and --host-only say where to time; give one")
        if self["batch"] is not None and not self["device"]:
            raise InputError("--batch counts items of an estimate; give --device, too")
        if self["untraced"] and not self["device"]:
            raise InputError("--untraced says how an estimate launches; give --device, too")
        super().check_constraints()

    def check_board(self, board: str) -> None:
        """An estimate takes the description of any system, too."""
        if self["device"]:
            find_system(board)
        else:
            super().check_board(board)

    def execute_on(self, source: Source) -> None:
        """Time the programs of one file."""
        if self["device"] and identify(source.content) == "TTNN":
            self._estimate(source)
            return
        self._timing = TimingObserver(hooks=DebugHooks.registered())
        self._kernels: list[KernelRuns] = []
        super().execute_on(source)
        if self._timing.timings:
            self._report_operations(source.name, self._timing.timings)
        if self._kernels:
            self._report_kernels(source.name)

    def _estimate(self, source: Source) -> None:
        """Estimate the programs of a `.ttnn` file."""
        from ttmlir.cost import estimate_program

        binary = read_binary(source.content, source.name, ignore_version=self["ignore_version"])
        if binary.warning:
            self.logger.warning(binary.warning)
        files: dict[str, str] = {}
        for program in self.selected_programs(binary):
            traced = not self["untraced"]
            with show_wait(
                f"estimating {source.name} {shown_name(program.name)}", quiet=self["quiet"]
            ):
                estimate = estimate_program(program, self["board"], traced=traced)
            self._print(f"{source.name}: estimated for the device\n{estimate.table()}")
            details = {"board": estimate.board, "total_ns": estimate.total.mid}
            if self["batch"] is not None:
                rate = estimate.rate(self["batch"], self["unit"])
                self._print(f"{rate} in batches of {rate.batch}, without host transfers")
                details |= {"unit": rate.unit, "per_second": rate.per_second}
            files |= _estimate_files(program, estimate)
            self.note(source.name, program_index=str(program.index), details=details)
        folder = self._save(source.name, files)
        if folder:
            self._print(f"tables, JSON and traces of the estimate: {folder}")
        if self["save_artifacts"]:
            self.artifacts.save_source(source)

    def note_run(self, program: BinaryProgram, run: ProgramRun) -> None:
        """Keep the times of kernels for the report."""
        if run.kernels is None and not run.generics:
            return
        # The simulator is loaded only for files that need it.
        from ttmlir.runtime.ttrt.reports.kernel_times import KernelRuns

        kernels = KernelRuns.of_run(program, run)
        if kernels is not None:
            self._kernels.append(kernels)

    def _report_kernels(self, path: str) -> None:
        from ttmlir.runtime.ttrt.reports.kernel_times import perf_files, perf_summary

        self._print(perf_summary(path, self._kernels))
        table = "kernels_perf_results.csv" if self._timing.timings else CSV_NAME
        folder = self._save(path, perf_files(self._kernels, table))
        if folder:
            self._print(f"times, threads and traces: {folder}")

    def _report_operations(self, path: str, timings: list[Timing]) -> None:
        self._print(summary(path, timings))
        folder = self._save(path, {CSV_NAME: timings_as_csv(timings)})
        if folder:
            self._print(f"times of all operations: {folder}/{CSV_NAME}")

    def _print(self, text: str) -> None:
        if not self["quiet"]:
            self.logger.output(text)

    def _save(self, path: str, files: Mapping[str, str]) -> str:
        """Write the files of a report; their folder, or nothing where it cannot be written.

        That is an error only if the folder was chosen: the times have been shown.
        """
        folder = self.artifacts.get_binary_perf_folder_path(path)
        try:
            for name, text in files.items():
                self.file_manager.write_bytes(f"{folder}/{name}", text.encode())
        except InputError as error:
            if self["artifact_dir"] or self["save_artifacts"]:
                raise
            self.logger.warning(f"{error}; --artifact-dir names another folder for the times")
            return ""
        for result in self.results:
            if result.file_path == path:
                result.details["perf_csv"] = f"{folder}/{CSV_NAME}"
        return folder


def _estimate_files(program: BinaryProgram, estimate: Estimate) -> dict[str, str]:
    """Contents of the files of an estimate by name; the first program's table has the usual one."""
    stem = f"{program.index}_{safe_file_name(program.name)}"
    table = CSV_NAME if program.index == 0 else f"{stem}_{CSV_NAME}"
    return {
        table: estimate.to_csv(),
        f"estimate_{stem}.json": estimate.to_json(),
        f"trace_{stem}.json": estimate.to_trace(),
    }
