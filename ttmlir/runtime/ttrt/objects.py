"""Files, environments and runtimes as the objects of tt-mlir's Python modules."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.errors import NotSupportedError
from ttmlir.layout.enums import STORED_DATA_TYPES, DataType
from ttmlir.runtime.binary import Binary as RuntimeBinary
from ttmlir.runtime.binary import BinaryProgram as RuntimeProgram
from ttmlir.runtime.errors import InputError, UnsupportedError
from ttmlir.runtime.loading import file_bytes, load_binary, read_binary
from ttmlir.runtime.system_desc import load_system_desc, read_system_desc, system_differences
from ttmlir.runtime.tensor import Array, element_of_data_type, element_of_dtype
from ttmlir.runtime.ttrt.boards import DEFAULT_BOARD, board_table
from ttmlir.runtime.ttrt.files import (
    TTMETAL_EXTENSION,
    TTNN_EXTENSION,
    TTSYS_EXTENSION,
    FileManager,
    Logger,
)
from ttmlir.runtime.ttrt.reports import Artifacts
from ttmlir.runtime.ttrt.running import TorchInitilizer
from ttmlir.schema import identify
from ttmlir.schema.versions import pack_system_desc
from ttmlir.version import EMULATED_TTMLIR_VERSION

if TYPE_CHECKING:
    from ttmlir.runtime.ttrt.commands import Query
    from ttmlir.schema import TableView


# --- Flatbuffers ----------------------------------------------------------------------------------
# Files as objects: programs with their inputs and outputs, system descriptions.


class Flatbuffer:
    """A file on disk that holds a flatbuffer."""

    def __init__(
        self,
        logger: Logger | None = None,
        file_manager: FileManager | None = None,
        file_path: str | os.PathLike[str] = "",
        capsule: bytes | None = None,
    ) -> None:
        """Name a file; subclasses load it, or its bytes if they are given as `capsule`."""
        self.logger = logger or Logger()
        self.file_manager = file_manager or FileManager(self.logger)
        self.file_path = os.fspath(file_path)
        self.capsule = capsule

    @staticmethod
    def get_ttnn_file_extension() -> str:
        """Extension of TTNN programs."""
        return TTNN_EXTENSION

    @staticmethod
    def get_ttmetal_file_extension() -> str:
        """Extension of TTMetal programs."""
        return TTMETAL_EXTENSION

    @staticmethod
    def get_ttsys_file_extension() -> str:
        """Extension of system descriptions."""
        return TTSYS_EXTENSION

    @property
    def view(self) -> TableView:
        """The root table."""
        raise NotSupportedError(f"{type(self).__name__} has no schema")

    @cached_property
    def fbb_dict(self) -> dict[str, Any]:
        """The whole file as plain values."""
        return self.view.as_dict()

    @property
    def version(self) -> str:
        """Version of the program that wrote the file, with dots."""
        version = self.view["version"]
        return "0.0.0" if version is None else ".".join(map(str, version))

    @property
    def ttmlir_git_hash(self) -> str:
        """Commit of the program that wrote the file."""
        return self.view["ttmlir_git_hash"] or ""

    @property
    def file_identifier(self) -> str:
        """Four letters that tell what the file is."""
        return Path(self.file_path).suffix

    def as_json(self) -> str:
        """The whole file as JSON."""
        return self.view.to_json()

    def check_version(self) -> bool:
        """True if the file was written by the version that this one follows; warns otherwise."""
        expected = ".".join(map(str, EMULATED_TTMLIR_VERSION))
        if self.version == expected:
            return True
        self.logger.warning(
            f"{self.file_path}: written by version {self.version}, this is version {expected}"
        )
        return False

    def store(self, path: str | os.PathLike[str]) -> None:
        """Write the file's bytes elsewhere."""
        self.file_manager.write_bytes(os.fspath(path), self._bytes())

    def _bytes(self) -> bytes:
        return bytes(file_bytes(self.file_path)) if self.capsule is None else self.capsule


class Binary(Flatbuffer):
    """A `.ttnn` file."""

    def __init__(
        self,
        logger: Logger | None = None,
        file_manager: FileManager | None = None,
        file_path: str | os.PathLike[str] = "",
        capsule: bytes | None = None,
    ) -> None:
        """Load and check the file."""
        super().__init__(logger, file_manager, file_path, capsule)
        if capsule is None:
            self.fbb = load_binary(self.file_path)
        else:
            self.fbb = read_binary(capsule, self.file_path or "binary")
        self.programs = [Binary.Program(program) for program in self.fbb.programs]

    @property
    def view(self) -> TableView:
        """The root table."""
        return self.fbb.view

    @property
    def file_identifier(self) -> str:
        """Four letters that tell what the file is."""
        return "TTNN"

    def check_system_desc(self, query: Query) -> bool:
        """True if the file was compiled for the system that a query describes; logs otherwise."""

        own = self.fbb.comparable_system
        lines = (
            ["it has no system description"]
            if own is None
            else system_differences(
                board_table(query["board"], self.fbb), own, unsaid=self.fbb.UNSAID
            )
        )
        for line in lines:
            self.logger.info(f"{self.file_path}: system description differs: {line}")
        return not lines

    def get_num_programs(self) -> int:
        """Number of programs."""
        return len(self.programs)

    def check_program_index_exists(self, program_index: int) -> bool:
        """True if there is a program of that number."""
        return 0 <= program_index < len(self.programs)

    def get_program(self, program_index: int) -> Binary.Program:
        """A program by number; InputError if there is none."""
        if not self.check_program_index_exists(program_index):
            raise InputError(f"{self.file_path}: there is no program {program_index}")
        return self.programs[program_index]

    def save(self, artifacts: Artifacts, query: Query | None = None) -> None:
        """Copy the file to the artifacts, with the description of the system that it is for."""
        system = self.fbb.comparable_system
        data = pack_system_desc(system) if query is not None and system is not None else None
        artifacts.save_binary(self.file_path, data)

    class Program:
        """A program with its inputs and outputs."""

        def __init__(self, program: RuntimeProgram) -> None:
            """Wrap a program without tensors."""
            self.program = program
            self.name = program.name
            self.input_tensors: list[Array] = []
            self.output_tensors: list[Array] = []

        def populate_inputs(self, init_fn: str = "randn", seed: int = 0) -> list[Array]:
            """Make inputs up; see `TorchInitilizer`."""
            from ttmlir.runtime.ttrt.running import generate_inputs

            TorchInitilizer.get_initilizer(init_fn)
            rng = np.random.default_rng(seed)
            self.input_tensors = generate_inputs(self.program, init_fn, rng)
            return self.input_tensors

        def populate_outputs(self, init_fn: str = "zeros") -> list[Array]:
            """Make room for the outputs."""
            initialize = TorchInitilizer.get_initilizer(init_fn)
            self.output_tensors = [
                initialize(ref.desc.shape, ref.desc.element) for ref in self.program.outputs
            ]
            return self.output_tensors

        @staticmethod
        def to_data_type(dtype: Any) -> DataType:
            """Storage type of a NumPy dtype."""
            return element_of_dtype(np.dtype(dtype)).storage

        @staticmethod
        def from_data_type(name: str) -> np.dtype[Any]:
            """NumPy dtype of a storage type by its schema name."""
            try:
                return element_of_data_type(DataType.from_schema_name(name)).host
            except KeyError:
                names = ", ".join(member.schema_name for member in STORED_DATA_TYPES)
                raise InputError(f"there is no data type '{name}'; supported are {names}") from None


class SystemDesc(Flatbuffer):
    """A `.ttsys` file."""

    def __init__(
        self,
        logger: Logger | None = None,
        file_manager: FileManager | None = None,
        file_path: str | os.PathLike[str] = "",
        capsule: bytes | None = None,
    ) -> None:
        """Load and check the file."""
        super().__init__(logger, file_manager, file_path, capsule)
        if capsule is None:
            self._view = load_system_desc(self.file_path)
        else:
            self._view = read_system_desc(capsule, self.file_path or "system description")

    @property
    def view(self) -> TableView:
        """The root table."""
        return self._view

    @property
    def file_identifier(self) -> str:
        """Four letters that tell what the file is."""
        return "TTSY"


# --- Environment ----------------------------------------------------------------------------------
# Which runtime is in force, on which system; names as in tt-mlir's Python module.

__all__ = [
    "DataType",
    "DebugEnv",
    "DeviceRuntime",
    "get_available_runtimes",
    "get_current_runtime",
    "get_current_system_desc",
    "set_compatible_runtime",
]


class DeviceRuntime(Enum):
    """What executes programs."""

    Disabled = 0
    TTNN = 1
    TTMetal = 2


@dataclass(frozen=True)
class DebugEnv:
    """Debug switches of tt-mlir's runtime; kept, but they change nothing here."""

    load_kernels_from_disk: bool = False
    enable_async_ttnn: bool = False

    @staticmethod
    def get(load_kernels_from_disk: bool = False, enable_async_ttnn: bool = False) -> DebugEnv:
        """The switches given."""
        return DebugEnv(load_kernels_from_disk, enable_async_ttnn)


def get_available_runtimes() -> list[DeviceRuntime]:
    """Runtimes that can be used: that for TTNN programs."""
    return [DeviceRuntime.TTNN]


def get_current_runtime() -> DeviceRuntime:
    """The runtime in force."""
    return DeviceRuntime.TTNN


def set_compatible_runtime(binary: RuntimeBinary | Flatbuffer) -> None:
    """Choose the runtime that a binary needs; UnsupportedError if there is none for it."""
    if isinstance(binary, RuntimeBinary | Binary):
        return
    raise UnsupportedError(f"there is no runtime for a {type(binary).__name__}")


def get_current_system_desc() -> tuple[SystemDesc, list[int]]:
    """Description of the simulated default system, and the ids of its chips."""
    table = board_table(DEFAULT_BOARD)
    system = SystemDesc(file_path="system_desc.ttsys", capsule=pack_system_desc(table))
    return system, list(table["chip_desc_indices"])


# --- Globals --------------------------------------------------------------------------------------
# Environment variables as ttrt's users know them.


class Globals:
    """Named values that start as the environment and can be changed without changing it."""

    def __init__(self, logger: Logger | None = None) -> None:
        """Start from the environment."""
        self.logger = logger or Logger()
        self.globals = dict(os.environ)

    def add_global_env(self, key: str, value: str) -> None:
        """Set a value."""
        self.globals[key] = value

    def remove_global_env(self, key: str) -> None:
        """Remove a value; InputError if there is none."""
        if key not in self.globals:
            raise InputError(f"there is no global '{key}'")
        del self.globals[key]

    def get_globals(self) -> dict[str, str]:
        """All values."""
        return self.globals

    def print_globals(self) -> None:
        """Log all values at INFO."""
        for key, value in self.globals.items():
            self.logger.info(f"{key}={value}")

    def check_global_exists(self, key: str) -> bool:
        """True if there is such a value."""
        return key in self.globals

    def get_ld_path(self, path: str) -> str:
        """A library search path with a folder in front."""
        old = self.globals.get("LD_LIBRARY_PATH", "")
        return f"{path}:{old}" if old else path

    @staticmethod
    def get_ttmetal_home_path() -> str:
        """The `TT_METAL_HOME` variable; empty if it is not set, which is fine here."""
        return os.environ.get("TT_METAL_HOME", "")


# --- Load -----------------------------------------------------------------------------------------
# Loads files as objects of their kind.


def load_from_path(path: str | os.PathLike[str]) -> Flatbuffer:
    """A program or a system description, told apart by the file's identifier."""
    data = file_bytes(path)
    kind = SystemDesc if identify(data) == "TTSY" else Binary
    return kind(file_path=path, capsule=bytes(data))


def load_binary_from_path(path: str | os.PathLike[str]) -> Binary:
    """A `.ttnn` file."""
    return Binary(file_path=path)


def load_binary_from_capsule(capsule: bytes) -> Binary:
    """A `.ttnn` file from its bytes."""
    return Binary(capsule=capsule)


def load_system_desc_from_path(path: str | os.PathLike[str]) -> SystemDesc:
    """A `.ttsys` file."""
    return SystemDesc(file_path=path)


def as_dict(flatbuffer: Flatbuffer) -> dict[str, Any]:
    """The whole file as plain values."""
    return flatbuffer.fbb_dict
