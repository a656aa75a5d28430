"""Logger, files, artifacts and flatbuffers of ttrt, under the name that scripts import."""

from ttmlir.runtime.ttrt.files.file_manager import FileManager
from ttmlir.runtime.ttrt.objects.flatbuffers import Binary, Flatbuffer, SystemDesc
from ttmlir.runtime.ttrt.objects.globals import Globals
from ttmlir.runtime.ttrt.reports.artifacts import Artifacts
from ttmlir.runtime.ttrt.reports.logger import Logger

__all__ = [
    "Artifacts",
    "Binary",
    "FileManager",
    "Flatbuffer",
    "Globals",
    "Logger",
    "SystemDesc",
]
