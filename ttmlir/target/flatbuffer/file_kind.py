"""The two kinds of program files, `.ttnn` and `.ttm`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileKind:
    """A kind of file that programs are written to."""

    extension: str
    schema: str
    pipeline: str
    """The flag of the pipeline that lowers a module to what such a file holds."""

    @property
    def refused(self) -> str:
        """How messages about operations that no file can hold begin."""
        return f"cannot be written to a {self.extension} file"


TTNN = FileKind(".ttnn", "TTNN/binary.fbs", "--ttir-to-ttnn-backend-pipeline")
TTMETAL = FileKind(".ttm", "TTMetal/binary.fbs", "--ttir-to-ttmetal-backend-pipeline")
