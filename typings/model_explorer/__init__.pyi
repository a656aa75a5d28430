from typing import Any, ClassVar, TypedDict

from model_explorer import graph_builder as graph_builder

class ModelExplorerGraphs(TypedDict):
    graphCollections: list[graph_builder.GraphCollection]

class AdapterMetadata:
    def __init__(self, *, id: str, name: str, description: str, fileExts: list[str]) -> None: ...

class Adapter:
    metadata: AdapterMetadata

class NodeDataProviderFilter:
    def __init__(self, *, adapterIds: list[str]) -> None: ...

class NodeDataProviderMetadata:
    def __init__(
        self, *, id: str, name: str, description: str, icon: str, filter: NodeDataProviderFilter
    ) -> None: ...

class GetConfigEditorsResult:
    def __init__(self, *, configEditors: list[dict[str, Any]] | None, error: str) -> None: ...

class NodeDataProviderResult:
    def __init__(self, *, result: list[dict[str, Any]] | None, error: str) -> None: ...

class NodeDataProvider:
    metadata: ClassVar[list[NodeDataProviderMetadata]]
