"""What the page asks for, and the answers: the protocol of Model Explorer's extensions.

Documents are asked for by name, and only those that the session was given exist. Answers are plain
JSON; whatever goes wrong becomes an `error` that the page shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any
from urllib.parse import quote

from ttmlir.errors import CompilationError, Error, InputError
from ttmlir.explorer.comparison import list_difference, match, rename, times_of
from ttmlir.explorer.documents import Document, ModuleDocument, program_names
from ttmlir.explorer.graph import Collection, Json, clean_text
from ttmlir.explorer.node_data import NodeData, list_effects, list_estimate, list_memory
from ttmlir.explorer.panel import ESTIMATE, MEMORY, PROVIDERS, Panel
from ttmlir.limits import memory_advice
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.metal_program import MetalBinary

ADAPTER_ID = "tt_adapter"
"""The name that tt-explorer's adapter has."""
ADAPTER: Json = {
    "id": ADAPTER_ID,
    "name": "Tenstorrent MLIR Adapter",
    "description": "StableHLO, TOSA, linalg, TTIR, TTNN, D2M and TTMetal modules, .ttnn and .ttm",
    "source_repo": "",
    "fileExts": ["mlir", "ttir", "ttnn", "ttm"],
    "type": "adapter",
}


class RequestError(Exception):
    """A request that no page of Model Explorer makes."""


class Session:
    """The documents on show and what was chosen for them."""

    def __init__(self, documents: Sequence[Document], save_folder: str | None = None) -> None:
        """Show documents, two side by side; overrides are saved in `save_folder`, if given."""
        self.documents = {document.name: document for document in documents}
        self._compared = documents if len(documents) == 2 else ()
        self.on_change: Callable[[], None] = lambda: None
        """Called when graphs or data are different from what the page shows."""
        self.view: Json | None = None
        """Which graphs and layers the page has open, in its own words; None for the first ones."""
        self._panel = Panel(save_folder)
        self._collections: dict[str, list[Collection]] = {}
        self._runs: dict[tuple[str, str], Sequence[NodeData]] = {}
        """The last data of each document and entry of the panel."""
        self._data: list[tuple[str, str, NodeData]] | None = None

    def extensions(self) -> list[Json]:
        """What the page may ask."""
        return [ADAPTER, *(provider.metadata(ADAPTER_ID) for provider in PROVIDERS)]

    def address_data(self) -> str:
        """What the page's address says: which documents and which data it shows at first."""
        targets = [
            (f"node_data://{data.name.replace('/', ' ')}/{number}", label)
            for number, (label, _, data) in enumerate(self._first_data())
        ]
        shown = {
            "models": [{"url": name, "adapterId": ADAPTER_ID} for name in self.documents],
            "nodeData": [source for source, _ in targets],
            "nodeDataTargets": [label for _, label in targets],
            "uiState": self.view or self._panes(),
            # What is selected in one pane is shown in the other.
            "sync": {"mode": "match_node_id"} if self._pair() else None,
        }
        return quote(json.dumps(shown))

    def node_data(self, number: int) -> Json:
        """One of the data that `address_data` names."""
        data = self._first_data()
        if not 0 <= number < len(data):
            return {"error": f"there is no node data {number}"}
        _, graph, values = data[number]
        return {"content": json.dumps({graph: values.as_json()})}

    def _collections_of(self, document: Document) -> list[Collection]:
        """The graphs of a document, which are made once for each choice of its settings."""
        if document.name not in self._collections:
            found = document.collections()
            if names := self._names_beside(document):
                program = found[0]
                graphs = [rename(program.graphs[0], names), *program.graphs[1:]]
                found[0] = replace(program, graphs=graphs)
            self._collections[document.name] = found
        return self._collections[document.name]

    def _pair(self) -> list[tuple[Document, BinaryProgram]]:
        """The two programs that are compared; nothing if one of them has none, or is kernels."""
        pair = [(each, program) for each in self._compared if (program := _program(each))]
        return pair if len(pair) == 2 else []

    def _names_beside(self, document: Document) -> dict[str, str]:
        """Other names for the nodes of the second of two programs, so that the page pairs them."""
        pair = self._pair()
        return match(pair[0][1], pair[1][1]) if pair and document is pair[1][0] else {}

    def _panes(self) -> Json | None:
        """Two programs side by side."""
        names = self._names_on_page()
        panes: list[Json] = [
            {
                "deepestExpandedGroupNodeIds": [],
                "selectedNodeId": "",
                "selectedGraphId": next(iter(names[document.name].values())),
                "selectedCollectionLabel": _labels(document.name, self._collections_of(document))[
                    0
                ],
                "widthFraction": 0.5,
                "selected": not number,
            }
            for number, (document, _) in enumerate(self._pair())
        ]
        return {"paneStates": panes} if panes else None

    def _names_on_page(self) -> dict[str, dict[tuple[str, str], str]]:
        """What the page calls each graph of a document, by collection: names are there once."""
        counts = Counter[str]()
        found: dict[str, dict[tuple[str, str], str]] = {}
        for document in self.documents.values():
            names = found[document.name] = {}
            collections = self._collections_of(document)
            for label, each in zip(_labels(document.name, collections), collections, strict=True):
                for graph in each.graphs:
                    number = counts[graph.id]
                    names[label, graph.id] = f"{graph.id} ({number + 1})" if number else graph.id
                    counts[graph.id] += 1
        return found

    def _difference(self, document: Document) -> list[NodeData]:
        """How much longer operations take than in the other of two programs."""
        pair = self._pair()
        if not pair:
            return []
        (other, others), (_, program) = sorted(pair, key=lambda each: each[0] is document)
        times = times_of(others, other.settings.board)
        at = {node: times.get(name, 0.0) for node, name in match(others, program).items()}
        return [list_difference(program, document.settings.board, at, other.name)]

    def _first_data(self) -> list[tuple[str, str, NodeData]]:
        """Label of the collection, graph and data, for all programs that are on show."""
        if self._data is None:
            self._data = self._list_data()
        return self._data

    def _list_data(self) -> list[tuple[str, str, NodeData]]:
        found: list[tuple[str, str, NodeData]] = []
        on_page = self._names_on_page()
        for document in self.documents.values():
            data = self._data_of(document)
            if document.binary is None or not data:
                continue
            labels = _labels(document.name, self._collections_of(document))
            graph = program_names(document.binary)[0]
            names = self._names_beside(document)
            shown = on_page[document.name]
            program = shown[labels[0], graph]
            found += [(labels[0], program, each.rename(names)) for each in data]
            if isinstance(document, ModuleDocument) and len(labels) > 1:
                at_sources = (each.at_sources(document.sources) for each in data)
                source = shown.get((labels[1], graph), graph)
                found += [(labels[1], source, each) for each in at_sources if each.values]
        return found

    def _data_of(self, document: Document) -> list[NodeData]:
        """What is known of the first program: at first the estimate, then what the user ran."""
        runs = {entry: data for (name, entry), data in self._runs.items() if name == document.name}
        found: list[NodeData] = []
        if program := _program(document):
            board = document.settings.board
            if MEMORY not in runs:
                found += list_memory(program, board)
            if ESTIMATE not in runs:
                found += list_estimate(program, board)
            found += self._difference(document)
        # The page shows the colours of the last one.
        return [*found, *list_effects(document.effects), *chain(*runs.values())]

    def run(self, command: Any) -> Json:
        """The answer to a command of the page; RequestError for what no page asks."""
        try:
            asked = command["extensionId"], command["cmdId"]
            match asked:
                case (str(extension), "convert") if extension == ADAPTER_ID:
                    return self._convert(str(command["modelPath"]))
                case (str(extension), "get_config_editors"):
                    return self._panel.editors(extension, list(self.documents.values()))
                case (str(extension), "run"):
                    return self._run(extension, command)
                case _:
                    raise RequestError(f"there is no command {asked}")
        except (KeyError, TypeError) as error:
            raise RequestError(f"the command is not understood: {error!r}") from error
        except CompilationError as error:
            return {"error": clean_text(error.diagnostics[0].message)}
        except Error as error:
            return {"error": clean_text(str(error))}
        except MemoryError:
            return {"error": f"this takes too much memory; {memory_advice()}"}

    def _document(self, name: str) -> Document:
        document = self.documents.get(name)
        if document is None:
            raise InputError(
                "the explorer reads only what it was started with; start it again with this file"
            )
        return document

    def _convert(self, name: str) -> Json:
        document = self._document(name)
        return {"graphCollections": [each.as_json() for each in self._collections_of(document)]}

    def _run(self, extension: str, command: Any) -> Json:
        document = self._document(str(command["modelPath"]))
        values: dict[str, Any] = dict(command["configValues"])
        outcome = self._panel.run(extension, document, str(command["graphId"]), values)
        if outcome.graphs_changed:
            # Nodes have other names: none stays selected.
            self.view = None
            self._collections.clear()
            self._runs = {key: data for key, data in self._runs.items() if key[0] != document.name}
        else:
            # The page would add this to earlier data: it loads all anew, and this instead of those.
            self._runs.pop((document.name, extension), None)
            self._runs[document.name, extension] = outcome.data
        self._data = None
        self.on_change()
        data = [each.rename(self._names_beside(document)) for each in outcome.data]
        if isinstance(document, ModuleDocument):
            nodes = {str(each["id"]) for each in dict(command.get("graph") or {}).get("nodes", [])}
            if nodes & document.sources.keys():
                data = [each.at_sources(document.sources) for each in outcome.data]
        return {"result": [each.as_json() for each in data], "error": ""}


def _program(document: Document) -> BinaryProgram | None:
    """The program that is estimated from the beginning; kernels are only simulated if asked."""
    binary = document.binary
    if binary is None or isinstance(binary, MetalBinary) or not binary.programs:
        return None
    return binary.program(0)


def _labels(name: str, collections: Sequence[Collection]) -> list[str]:
    """What the page calls the collections of a document."""
    return [f"{name} ({each.label})" if each.label else name for each in collections]
