"""The adapter and the panel as extensions of the package's own server.

    model-explorer --extensions=ttmlir.explorer net.mlir

That server reads whatever file a page asks for; `tt-explorer` does not, and tells the page to load
changed graphs by itself.
"""

from __future__ import annotations

from typing import Any, ClassVar

from model_explorer import (
    Adapter,
    AdapterMetadata,
    GetConfigEditorsResult,
    ModelExplorerGraphs,
    NodeDataProvider,
    NodeDataProviderFilter,
    NodeDataProviderMetadata,
    NodeDataProviderResult,
    graph_builder,
)

from ttmlir.errors import InputError
from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.panel import PROVIDERS
from ttmlir.explorer.session import ADAPTER, ADAPTER_ID, Session

_SESSION = Session([])
"""The documents that the page has asked for: an extension is made anew for each question."""


def _ask(command: dict[str, Any]) -> dict[str, Any]:
    return _SESSION.run(command)


class TenstorrentAdapter(Adapter):
    """Graphs of modules and of compiled programs."""

    metadata = AdapterMetadata(
        id=ADAPTER_ID,
        name=str(ADAPTER["name"]),
        description=str(ADAPTER["description"]),
        fileExts=list(ADAPTER["fileExts"]),
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        """The graphs of a file or folder; InputError if it cannot be shown."""
        if model_path not in _SESSION.documents:
            _SESSION.documents[model_path] = open_documents([model_path])[0]
        answer = _ask({"cmdId": "convert", "extensionId": ADAPTER_ID, "modelPath": model_path})
        if "error" in answer:
            raise InputError(answer["error"])
        collections = [
            graph_builder.GraphCollection(
                label=each["label"], graphs=each["graphs"], graphSorting=each["graphSorting"]
            )
            for each in answer["graphCollections"]
        ]
        return {"graphCollections": collections}


class TenstorrentPanel(NodeDataProvider):
    """Estimates, accuracy, memory and overrides."""

    metadata: ClassVar[list[NodeDataProviderMetadata]] = [
        NodeDataProviderMetadata(
            id=each.id,
            name=each.name,
            description=each.description,
            icon=each.icon,
            filter=NodeDataProviderFilter(adapterIds=[ADAPTER_ID]),
        )
        for each in PROVIDERS
    ]

    def get_config_editors(self, provider_id: str) -> GetConfigEditorsResult:
        """What a user chooses before a run."""
        answer = _ask({"cmdId": "get_config_editors", "extensionId": provider_id})
        return GetConfigEditorsResult(
            configEditors=answer.get("configEditors"), error=answer["error"]
        )

    def run(
        self,
        provider_id: str,
        model_path: str,
        graph_id: str,
        config_values: dict[str, Any],
        graph: graph_builder.Graph | None,
    ) -> NodeDataProviderResult:
        """The data of a provider for the first program of a file."""
        nodes = [] if graph is None else [{"id": node.id} for node in graph.nodes]
        answer = _ask(
            {
                "cmdId": "run",
                "extensionId": provider_id,
                "modelPath": model_path,
                "graphId": graph_id,
                "configValues": config_values,
                "graph": {"nodes": nodes},
            }
        )
        return NodeDataProviderResult(result=answer.get("result"), error=answer.get("error", ""))
