from typing import Any

class GraphNode:
    id: str

class Graph:
    nodes: list[GraphNode]

class GraphCollection:
    def __init__(self, *, label: str, graphs: list[dict[str, Any]], graphSorting: str) -> None: ...
