"""Logger, files, artifacts and flatbuffers of ttrt, under the name that scripts import."""

from ttmlir.runtime.ttrt.files import FileManager, Logger
from ttmlir.runtime.ttrt.objects import Binary, Flatbuffer, Globals, SystemDesc
from ttmlir.runtime.ttrt.reports import Artifacts

__all__ = [
    "Artifacts",
    "Binary",
    "FileManager",
    "Flatbuffer",
    "Globals",
    "Logger",
    "SystemDesc",
]
