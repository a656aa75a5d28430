"""`ttrt perf`: times of operations on the host or of kernels on the device, as CSV and summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.hooks import DebugHooks
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

if TYPE_CHECKING:
    from ttmlir.runtime.ttrt.reports.kernel_times import KernelRuns


class Perf(Run):
    """Run programs; report the time of operations on the host, of kernels on the device."""

    name = "perf"
    summary = "Time operations on the CPU, or kernels on the simulated device."
    options = PERF_OPTIONS
    RECORDS_KERNELS = True

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """Programs are run."""
        return [Run]

    def observer(self) -> Observer:
        """The clock."""
        return self._timing

    def execute_on(self, source: Source) -> None:
        """Time the programs of one file."""
        self._timing = TimingObserver(hooks=DebugHooks.registered())
        self._kernels: list[KernelRuns] = []
        super().execute_on(source)
        if self._timing.timings:
            self._report_operations(source.name, self._timing.timings)
        if self._kernels:
            self._report_kernels(source.name)

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
