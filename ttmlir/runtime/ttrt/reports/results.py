"""Results of the commands: one entry per file and program, exit status, JSON and JUnit XML."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from xml.etree import ElementTree

EXIT_SUCCESS = 0
EXIT_FAILURE = 1
EXIT_ACCURACY = 42

REPORT_FILE = "ttrt_report.xml"


class Outcome(Enum):
    """How it went."""

    PASS = "pass"
    SKIP = "skip"
    ERROR = "error"
    TEST_ERROR = "test_error"
    """The program ran, but its numbers are not as they should be."""


@dataclass(kw_only=True)
class Result:
    """What became of one program of a file, or of a file without programs."""

    file_path: str
    outcome: Outcome = Outcome.PASS
    exception: str = ""
    log_file: str = ""
    artifacts: str = ""
    program_index: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further entries of the JSON object, by command."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "file_path": self.file_path,
            "result": self.outcome.value,
            "exception": self.exception,
            "log_file": self.log_file,
            "artifacts": self.artifacts,
            "program_index": self.program_index,
            **self.details,
        }


def exit_status(results: list[Result]) -> int:
    """0 if all passed, 42 if only numbers were wrong, else 1; 1 also if there are no results."""
    outcomes = {result.outcome for result in results}
    if not outcomes or outcomes & {Outcome.ERROR, Outcome.SKIP}:
        return EXIT_FAILURE
    return EXIT_ACCURACY if Outcome.TEST_ERROR in outcomes else EXIT_SUCCESS


def results_as_json(results: list[Result]) -> bytes:
    """JSON text: a list of objects."""
    text = json.dumps([result.as_dict() for result in results], indent=2, allow_nan=False)
    return text.encode() + b"\n"


def results_as_junit(command: str, results: list[Result]) -> bytes:
    """JUnit XML with one test case per result."""
    failures = sum(result.outcome is Outcome.TEST_ERROR for result in results)
    errors = sum(result.outcome is Outcome.ERROR for result in results)
    skipped = sum(result.outcome is Outcome.SKIP for result in results)
    suite = ElementTree.Element(
        "testsuite",
        name=f"ttrt {command}",
        tests=str(len(results)),
        failures=str(failures),
        errors=str(errors),
        skipped=str(skipped),
    )
    for result in results:
        _test_case(suite, command, result)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


_ELEMENTS = {
    Outcome.SKIP: "skipped",
    Outcome.ERROR: "error",
    Outcome.TEST_ERROR: "failure",
}


def _test_case(suite: ElementTree.Element, command: str, result: Result) -> None:
    name = result.file_path
    if result.program_index:
        name += f" program {result.program_index}"
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"ttrt.{command}", name=_xml_text(name)
    )
    element = _ELEMENTS.get(result.outcome)
    if element is not None:
        ElementTree.SubElement(case, element, message=_xml_text(result.exception))


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that an XML 1.0 document cannot hold, not even as references."""


def _xml_text(text: str) -> str:
    """The text with a replacement character for each one that XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
