"""The artifacts folder: what the commands leave behind.

system_desc.ttsys                                   the system described or simulated
<binary>/<binary>                                   copy of the flatbuffer
<binary>/system_desc.ttsys                          the system that it ran on
<binary>/run/program_<i>/program_<i>_input_<k>.npy  inputs, and likewise outputs and goldens
<binary>/perf/ops_perf_results.csv                  times per operation
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.runtime.ttrt.files.file_manager import FileManager
from ttmlir.runtime.ttrt.files.sources import Source
from ttmlir.runtime.ttrt.reports.logger import Logger

if TYPE_CHECKING:
    from ttmlir.runtime.element import Array

FOLDER = "ttrt-artifacts"
SYSTEM_DESC_FILE = "system_desc.ttsys"


def _default_folder() -> str:
    try:
        return os.path.join(os.getcwd(), FOLDER)
    except OSError:
        # The current folder is gone, which matters only if something is saved.
        return FOLDER


class Artifacts:
    """Paths below an artifacts folder, and how they are filled."""

    def __init__(
        self,
        logger: Logger | None = None,
        file_manager: FileManager | None = None,
        artifacts_folder_path: str = "",
        *,
        logging: Logger | None = None,
    ) -> None:
        """Use a folder; by default `ttrt-artifacts` in the current one. Nothing is created yet."""
        self.logger = logger or logging or Logger()
        self.file_manager = file_manager or FileManager(self.logger)
        self.artifacts_folder_path = artifacts_folder_path or _default_folder()
        self._names: dict[str, str] = {}

    def get_artifacts_folder_path(self) -> str:
        """The folder."""
        return self.artifacts_folder_path

    def get_binary_folder_path(self, binary: str | os.PathLike[str]) -> str:
        """Folder of a binary, by its path; each of several files of one name has its own."""
        path = os.fspath(binary)
        if path not in self._names:
            name, taken = Path(path).name, set(self._names.values())
            others = (f"{name}.{count}" for count in itertools.count(2))
            candidates = itertools.chain((name,), others)
            self._names[path] = next(each for each in candidates if each not in taken)
        return str(Path(self.artifacts_folder_path, self._names[path]))

    def get_binary_run_folder_path(self, binary: str | os.PathLike[str], program: int) -> str:
        """Folder for the tensors of a program."""
        return str(Path(self.get_binary_folder_path(binary), "run", f"program_{program}"))

    def get_binary_perf_folder_path(self, binary: str | os.PathLike[str]) -> str:
        """Folder for the times of a binary."""
        return str(Path(self.get_binary_folder_path(binary), "perf"))

    def create_artifacts(self) -> None:
        """Make the folder."""
        self.file_manager.create_directory(self.artifacts_folder_path)

    def clean_artifacts(self) -> None:
        """Remove the folder and all it holds."""
        self.file_manager.remove_directory(self.artifacts_folder_path)

    def clean_binary_artifacts(self, binary: str | os.PathLike[str]) -> None:
        """Remove the folder of a binary."""
        self.file_manager.remove_directory(self.get_binary_folder_path(binary))

    def save_binary(self, binary: str | os.PathLike[str], system_desc: bytes | None = None) -> None:
        """Copy a binary and, if given, the description of the system that it ran on."""
        self.save_source(Source(os.fspath(binary)), system_desc)

    def save_source(self, source: Source, system_desc: bytes | None = None) -> None:
        """The same for a binary that may have arrived on standard input."""
        folder = self.get_binary_folder_path(source.name)
        target = os.path.join(folder, Path(source.name).name)
        if source.is_standard_input:
            self.file_manager.write_bytes(target, bytes(source.content))
        else:
            self.file_manager.copy_file(target, source.path)
        if system_desc is not None:
            self.file_manager.write_bytes(os.path.join(folder, SYSTEM_DESC_FILE), system_desc)

    def save_system_desc(self, data: bytes) -> str:
        """Write the system description; returns its path."""
        path = os.path.join(self.artifacts_folder_path, SYSTEM_DESC_FILE)
        self.file_manager.write_bytes(path, data)
        return path

    def save_tensor(self, folder_path: str, tensor: Array, name: str) -> str:
        """Write an array as `.npy`; bf16 becomes float32, which holds it exactly."""
        # NumPy is loaded only where there are arrays.
        from ttmlir.runtime.ttrt.files.array_files import write_arrays

        self.file_manager.create_directory(folder_path)
        path = os.path.join(folder_path, f"{name}.npy")
        write_arrays(path, {name: tensor})
        return path

    save_torch_tensor = save_tensor
