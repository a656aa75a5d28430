"""The panel of the page: what can be asked of a program, with which choices.

Each provider is one of Model Explorer's node data providers: the page shows its editors and
colours the nodes with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ttmlir.errors import InputError
from ttmlir.explorer.documents import (
    Document,
    ModuleDocument,
    Settings,
    overrides_file_name,
    overrides_text,
)
from ttmlir.explorer.graph import Json, clean_text, operation_name
from ttmlir.explorer.node_data import (
    NodeData,
    list_accuracy,
    list_effects,
    list_estimate,
    list_memory,
    list_simulated,
)
from ttmlir.explorer.overrides import Overrides, computing_by_name
from ttmlir.files import write_file
from ttmlir.layout.enums import STORED_DATA_TYPES, TensorMemoryLayout
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.tensor import Numerics

ESTIMATE, MEMORY = "tt_estimate", "tt_memory"
"""The entries whose data the page shows from the beginning."""
_AS_IS = ""
"""The choice that leaves something as it is."""
MAX_CHOICES = 1000
"""Most operations to choose from; others are named by hand."""


@dataclass(frozen=True)
class Outcome:
    """What a provider answers."""

    data: Sequence[NodeData]
    graphs_changed: bool = False


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One entry of the panel."""

    id: str
    name: str
    description: str
    icon: str
    editors: Callable[[Sequence[Document]], list[Json]]
    run: Callable[[Panel, Document, Mapping[str, Any]], Outcome]

    def metadata(self, adapter: str) -> Json:
        """As the page reads it."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "icon": self.icon,
            "source_repo": "",
            "filter": {"modelFileExts": None, "adapterIds": [adapter]},
            "type": "node_data_provider",
        }


class Panel:
    """Runs providers."""

    def __init__(self, save_folder: str | None) -> None:
        """Overrides are saved in `save_folder`, if there is one."""
        self._save_folder = save_folder

    def editors(self, provider: str, documents: Sequence[Document]) -> Json:
        """What a user chooses before a run."""
        return {"configEditors": _find(provider).editors(documents), "error": ""}

    def run(
        self, provider: str, document: Document, graph: str, values: Mapping[str, Any]
    ) -> Outcome:
        """Run a provider for the first program of a document."""
        return _find(provider).run(self, document, values)

    def save(self, document: ModuleDocument) -> None:
        """Write the overrides to a file that `ttmlir-opt` takes as `@FILE`.

        Raises InputError where that is not possible.
        """
        if self._save_folder is None:
            return
        path = Path(self._save_folder) / overrides_file_name(document)
        try:
            write_file(path, overrides_text(document).encode())
        except OSError as error:
            raise InputError(
                f"the overrides are in force, but cannot be saved as {path}: {error.strerror}; "
                "choose another --save-folder"
            ) from error


def _find(provider: str) -> Provider:
    for each in PROVIDERS:
        if each.id == provider:
            return each
    raise InputError(f"there is no '{provider}'")


def program_of(document: Document) -> BinaryProgram:
    """The program that is estimated and run; InputError if there is none."""
    binary = document.binary
    if binary is None or not binary.programs:
        problem = document.problem if isinstance(document, ModuleDocument) else ""
        reason = f": {problem}" if problem else ""
        raise InputError(f"{document.name} has no compiled program{reason}")
    if isinstance(binary, MetalBinary):
        raise InputError(
            f"{document.name} is kernels; Estimate simulates them, and ttrt run --golden compares"
        )
    return binary.program(0)


# --- Editors --------------------------------------------------------------------------------------


def _choice(name: str, label: str, options: Sequence[tuple[str, str]], default: str) -> Json:
    shown = [{"value": value, "label": text} for value, text in options]
    return _editor("drop_down", name, label, default) | {"options": shown}


def _text(name: str, label: str, default: str = "", *, number: bool = False) -> Json:
    return _editor("text_input", name, label, default) | {"number": number}


def _editor(type_: str, name: str, label: str, default: str) -> Json:
    return {
        "type": type_,
        "id": name,
        "label": label,
        "description": "",
        "help": "",
        "required": False,
        "defaultValue": default,
    }


def _keywords(words: Sequence[str]) -> list[tuple[str, str]]:
    return [(_AS_IS, "as it is"), *((word, word) for word in words)]


def _no_editors(documents: Sequence[Document]) -> list[Json]:
    return []


def _run_editors(documents: Sequence[Document]) -> list[Json]:
    return [
        _choice(
            "numerics",
            "Numbers",
            [("exact", "exact"), ("device", "rounded as the device rounds")],
            "device",
        ),
        _text("seed", "Seed of random inputs", "0", number=True),
    ]


def _board_editor(documents: Sequence[Document]) -> Json:
    current = next((document.settings.board for document in documents), None)
    names = [(_AS_IS, "what it was compiled for"), *((name, name) for name in BOARD_NAMES)]
    return _choice("board", "Board", names, current or _AS_IS)


def _estimate_editors(documents: Sequence[Document]) -> list[Json]:
    return [_board_editor(documents)]


def _override_editors(documents: Sequence[Document]) -> list[Json]:
    spread = [each.keyword for each in TensorMemoryLayout if each.keyword != "none"]
    return [
        _operation_editor(documents),
        _choice("memory_space", "Memory", _keywords(["dram", "l1"]), _AS_IS),
        _choice("memory_layout", "Spread over the cores", _keywords(spread), _AS_IS),
        _text("grid", "Grid of cores, such as 8x1"),
        _choice("page_layout", "Pages", _keywords(["tile", "row_major"]), _AS_IS),
        _choice(
            "data_type",
            "Data type",
            _keywords([each.keyword for each in STORED_DATA_TYPES]),
            _AS_IS,
        ),
        _board_editor(documents),
        _choice(
            "action",
            "Do",
            [
                ("set", "override this operation"),
                ("remove", "remove the override of this operation"),
                ("clear", "remove all overrides"),
            ],
            "set",
        ),
    ]


def _operation_editor(documents: Sequence[Document]) -> Json:
    names: dict[str, str] = {}
    for document in documents:
        if document.binary is None or isinstance(document.binary, MetalBinary):
            continue
        for program in document.binary.programs[:1]:
            for name, operations in computing_by_name(program).items():
                names.setdefault(name, " ".join(dict.fromkeys(map(operation_name, operations))))
    if not names or len(names) > MAX_CHOICES:
        return _text("operation", "Operation: its override_name")
    options = [
        (_AS_IS, "none"),
        *((name, clean_text(f"{name} ({what})", 100)) for name, what in names.items()),
    ]
    return _choice("operation", "Operation", options, _AS_IS)


# --- Providers ------------------------------------------------------------------------------------


def _run_memory(panel: Panel, document: Document, values: Mapping[str, Any]) -> Outcome:
    return Outcome(list_memory(program_of(document), document.settings.board))


def _run_estimate(panel: Panel, document: Document, values: Mapping[str, Any]) -> Outcome:
    if isinstance(document.binary, MetalBinary):
        if (board := _board(values)) is not None:
            raise InputError(
                f"{document.name} is kernels for one board, which are simulated: compile it for "
                f"{board} to see it there"
            )
        return Outcome(list_simulated(document.binary.metal_programs[0]))
    return Outcome(list_estimate(program_of(document), _board(values)))


def _run_accuracy(panel: Panel, document: Document, values: Mapping[str, Any]) -> Outcome:
    numerics = Numerics(_word(values, "numerics", "device", ("exact", "device")))
    document.settings = replace(document.settings, numerics=numerics)
    return Outcome(list_accuracy(program_of(document), numerics, _seed(values)))


def _run_overrides(panel: Panel, document: Document, values: Mapping[str, Any]) -> Outcome:
    settings = choose(document.settings, values)
    document.change(settings)
    if isinstance(document, ModuleDocument) and document.pipeline is not None:
        panel.save(document)
    return Outcome(list_effects(document.effects), graphs_changed=True)


def choose(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings that the editors of overrides ask for; InputError for what makes no sense."""
    board = _board(values) if "board" in values else settings.board
    overrides = settings.overrides
    name = str(values.get("operation") or "").strip()
    fields = ("grid", "memory_space", "memory_layout", "page_layout", "data_type")
    words = ":".join(filter(None, (str(values.get(each) or "").strip() for each in fields)))
    match _word(values, "action", "set", ("set", "remove", "clear")):
        case "clear":
            overrides = Overrides()
        case "remove":
            overrides = overrides.without(name)
        case _ if name and words:
            overrides = overrides.with_layout(name, words)
        case _ if name:
            raise InputError(f"choose what is to be different for '{name}'")
        case _ if words:
            raise InputError("choose the operation that is to be different")
        case _:
            pass
    return replace(settings, board=board, overrides=overrides)


def _board(values: Mapping[str, Any]) -> str | None:
    """The board that is chosen; None for what the program was compiled for."""
    return _word(values, "board", _AS_IS, (_AS_IS, *BOARD_NAMES)) or None


def _word(values: Mapping[str, Any], name: str, default: str, words: Sequence[str]) -> str:
    word = str(values.get(name) or default)
    if word not in words:
        raise InputError(f"{name} is {clean_text(word, 40)!r}; it is one of {', '.join(words)}")
    return word


def _seed(values: Mapping[str, Any]) -> int:
    text = str(values.get("seed") or 0)
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise InputError(f"the seed is {clean_text(text, 40)!r}; it is a whole number from 0 on")
    return int(text)


PROVIDERS: Sequence[Provider] = (
    Provider(
        id="tt_overrides",
        name="Change layouts and board",
        description="Where results are, on how many cores, in which format; what took effect",
        icon="tune",
        editors=_override_editors,
        run=_run_overrides,
    ),
    Provider(
        id=ESTIMATE,
        name="Estimate",
        description="Time of each operation on a board, what limits it, and its share; of kernels "
        "by the simulator",
        icon="speed",
        editors=_estimate_editors,
        run=_run_estimate,
    ),
    Provider(
        id="tt_run",
        name="Run and compare",
        description="Accuracy of each operation against its reference in 64 bits",
        icon="play_arrow",
        editors=_run_editors,
        run=_run_accuracy,
    ),
    Provider(
        id=MEMORY,
        name="Memory",
        description="L1 and DRAM that are in use while each operation runs",
        icon="memory",
        editors=_no_editors,
        run=_run_memory,
    ),
)
"""The entries of the panel, in the order in which the page lists them."""
