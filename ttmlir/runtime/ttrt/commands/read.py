"""`ttrt read`: shows what is in a file."""

from __future__ import annotations

from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.option import BINARY, COMMON_OPTIONS, Option, result_file
from ttmlir.runtime.ttrt.files.file_manager import (
    TTMETAL_EXTENSION,
    TTNN_EXTENSION,
    TTSYS_EXTENSION,
)
from ttmlir.runtime.ttrt.files.sources import Source, is_collection
from ttmlir.runtime.ttrt.reports.sections import (
    PLAIN_SECTIONS,
    SECTIONS,
    SUMMARY,
    joined_documents,
    section_text,
)


class Read(Command):
    """Print a section of a `.ttnn`, `.ttm` or `.ttsys` file."""

    name = "read"
    summary = "Show sections of a binary or of a system description."
    options = (
        BINARY,
        *COMMON_OPTIONS,
        Option(name="--section", type=str, default=SUMMARY, choices=SECTIONS, help="What to show."),
        result_file(name),
    )

    def execute(self) -> None:
        """Show every file: one as it is, several as one JSON document or under their names."""
        self._texts: dict[str, str] = {}
        self.run_on_each(TTNN_EXTENSION, TTMETAL_EXTENSION, TTSYS_EXTENSION)
        if not is_collection(self["binary"]):
            for text in self._texts.values():
                self.logger.output(text)
        elif self["section"] in PLAIN_SECTIONS:
            for name, text in self._texts.items():
                self.logger.output(f"{name}:\n{text}")
        else:
            self.logger.output(joined_documents(self._texts))

    def execute_on(self, source: Source) -> None:
        """Read one file."""
        section: str = self["section"]
        self._texts[source.name] = section_text(source.name, source.content, section)
        if self["save_artifacts"]:
            self.artifacts.save_source(source)
        self.note(source.name, details={"section": section})
