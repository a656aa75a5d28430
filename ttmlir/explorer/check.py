"""Loads what an explorer shows, as a browser would, and says what that is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from ttmlir.explorer.graph import Json
from ttmlir.explorer.server import HOST, ExplorerServer


class CheckError(Exception):
    """The page would not show what it was asked for."""


def check(server: ExplorerServer) -> list[str]:
    """What the page shows, line by line; CheckError for what it could not show."""
    return list(_Browser(server).visit())


class _Browser:
    """The requests that the page makes, in its order."""

    def __init__(self, server: ExplorerServer) -> None:
        self._server = server
        self._cookie = ""

    def visit(self) -> Iterator[str]:
        """Open the address, then what the address names."""
        parts = urlsplit(self._server.address)
        location, self._cookie = self._enter(f"{parts.path}?{parts.query}")
        page = self._get(location)
        if b"<base href" not in page:
            raise CheckError("the page of the Model Explorer package is not what it was")
        shown: Json = json.loads(parse_qs(urlsplit(location).query)["data"][0])
        adapters = {each["id"] for each in json.loads(self._get("/api/v1/get_extensions"))}
        for model in shown["models"]:
            if model["adapterId"] not in adapters:
                raise CheckError(f"no adapter is called {model['adapterId']}")
            yield from self._convert(model)
        yield from self._load_data(shown["nodeData"], shown["nodeDataTargets"])

    def _enter(self, address: str) -> tuple[str, str]:
        status, headers, _ = self._request("GET", address)
        if status != 303:
            raise CheckError(f"the address of the page answers {status}")
        return headers["location"], headers["set-cookie"].partition(";")[0]

    def _convert(self, model: Json) -> Iterator[str]:
        answer = self._post(
            {
                "cmdId": "convert",
                "extensionId": model["adapterId"],
                "modelPath": model["url"],
                "settings": {},
                "deleteAfterConversion": False,
            }
        )
        name: str = model["url"]
        for collection in answer["graphCollections"]:
            label = f"{name} ({collection['label']})" if collection["label"] else name
            yield label
            for graph in collection["graphs"]:
                yield _describe_graph(graph)

    def _load_data(self, sources: Sequence[str], targets: Sequence[str]) -> Iterator[str]:
        for source, target in zip(sources, targets, strict=True):
            number = source.rpartition("/")[2]
            answer = json.loads(
                self._get(f"/api/v1/load_node_data?node_data_index={quote(number)}")
            )
            if "error" in answer:
                raise CheckError(answer["error"])
            for data in json.loads(answer["content"]).values():
                yield f"{target}: data '{data['name']}'{_describe_values(data)}"

    def _get(self, address: str) -> bytes:
        status, _, body = self._request("GET", address)
        if status != 200:
            raise CheckError(f"{address} answers {status}: {body[:200].decode(errors='replace')}")
        return body

    def _post(self, command: Json) -> Json:
        status, _, body = self._request(
            "POST", "/apipost/v1/send_command", json.dumps(command).encode()
        )
        answer: Json = json.loads(body)
        if status != 200 or answer.get("error"):
            raise CheckError(f"{command['modelPath']}: {answer.get('error', status)}")
        return answer

    def _request(
        self, method: str, address: str, body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection(HOST, self._server.port, timeout=600)
        try:
            headers = {"Cookie": self._cookie} if self._cookie else {}
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, address, body, headers)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, found, response.read()
        finally:
            connection.close()


def _describe_graph(graph: Json) -> str:
    nodes: list[Json] = graph["nodes"]
    layers: set[str] = set()
    for node in nodes:
        namespace: str = node["namespace"]
        parts = namespace.split("/") if namespace else []
        layers.update("/".join(parts[: depth + 1]) for depth in range(len(parts)))
    edges = sum(len(node["incomingEdges"]) for node in nodes)
    _check_edges(graph, nodes)
    return f"  {graph['id']}: {len(nodes)} nodes, {edges} edges, {len(layers)} layers"


def _check_edges(graph: Json, nodes: Sequence[Json]) -> None:
    known = {node["id"] for node in nodes}
    if len(known) != len(nodes):
        raise CheckError(f"two nodes of '{graph['id']}' have the same id")
    for node in nodes:
        for edge in node["incomingEdges"]:
            if edge["sourceNodeId"] not in known:
                raise CheckError(f"node {node['id']} of '{graph['id']}' has an edge from nowhere")


def _describe_values(data: Json) -> str:
    values: list[Any] = [each["value"] for each in data["results"].values()]
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers:
        return f" of {len(values)} nodes, {min(numbers):g} to {max(numbers):g}"
    words = sorted({str(value) for value in values})
    return f" of {len(values)} nodes: {', '.join(words[:8])}" if words else " of no nodes"
