"""Two programs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from ttmlir.explorer.comparison import match
from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.node_data import GREEN, RED, NodeData
from ttmlir.explorer.session import Session
from ttmlir.runtime.binary import BinaryProgram

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"
RELU = LAYERS.read_text().splitlines()[9]


def open_pair(folder: Path, *changes: tuple[str, str]) -> Session:
    """The test file, and beside it one in which something is different."""
    text = LAYERS.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "other.mlir").write_text(text)
    return Session(open_documents([str(LAYERS), str(folder / "other.mlir")]))


def programs(session: Session) -> list[BinaryProgram]:
    """The first programs of all documents."""
    return [each.binary.program(0) for each in session.documents.values() if each.binary]


def nodes(session: Session, name: str) -> dict[str, Any]:
    """The nodes of the program of a document as the page gets them, by their names."""
    command = {"cmdId": "convert", "extensionId": "tt_adapter", "modelPath": name}
    graph = session.run(command)["graphCollections"][0]["graphs"][0]
    return {node["id"]: node for node in graph["nodes"]}


def shown(session: Session, label: str) -> dict[str, Any]:
    """The data for a collection, by name."""
    page = json.loads(unquote(session.address_data()))
    found: dict[str, Any] = {}
    for number, target in enumerate(page["nodeDataTargets"]):
        if target == label:
            (data,) = json.loads(session.node_data(number)["content"]).values()
            found[data["name"]] = data["results"]
    return found


# The ReLU is gone, so all operations after it have other numbers.
WITHOUT_RELU = ((RELU + "\n", ""), ('"ttir.matmul"(%5', '"ttir.matmul"(%3'))


def test_operations_correspond_by_location(tmp_path: Path) -> None:
    """Also where an operation before them is missing; that one has a name of its own."""
    session = open_pair(tmp_path, *WITHOUT_RELU)
    first, second = nodes(session, "layers.mlir"), nodes(session, "other.mlir")
    gone = first.keys() - second.keys()
    assert "relu" in {first[node]["label"] for node in gone}
    for node in first.keys() & second.keys():
        here = second[node]
        assert (here["label"], here["namespace"]) == (
            first[node]["label"],
            first[node]["namespace"],
        )
        assert {edge["sourceNodeId"] for edge in here["incomingEdges"]} <= second.keys()
    there = match(*reversed(programs(session)))
    assert gone <= {node for node, name in there.items() if name.endswith("second")}


def test_differences_of_times(tmp_path: Path) -> None:
    """Of what is in both; what is in one only counts whole."""
    session = open_pair(tmp_path, *WITHOUT_RELU)
    one, two = shown(session, "layers.mlir (ttnn)"), shown(session, "other.mlir (ttnn)")
    longer, shorter = one["longer than in other.mlir (us)"], two["longer than in layers.mlir (us)"]
    first = nodes(session, "layers.mlir")
    for node, here in one["time on n150 (us)"].items():
        if first[node]["label"] == "relu":
            assert longer[node] == {"value": here["value"], "bgColor": RED}
        else:
            there = two["time on n150 (us)"][node]["value"]
            assert longer[node]["value"] == pytest.approx(here["value"] - there, abs=2e-3)
            assert shorter[node]["value"] == -longer[node]["value"]


def test_two_panes_that_follow_each_other(tmp_path: Path) -> None:
    """In the words of the page's address."""
    page = json.loads(unquote(open_pair(tmp_path).address_data()))
    panes = page["uiState"]["paneStates"]
    assert [each["selectedCollectionLabel"] for each in panes] == [
        "layers.mlir (ttnn)",
        "other.mlir (ttnn)",
    ]
    # The page numbers graphs of one name: net of layers.mlir, of its source, of other.mlir.
    assert [each["selectedGraphId"] for each in panes] == ["net", "net (3)"]
    assert page["sync"] == {"mode": "match_node_id"}


def test_one_document_and_three_are_not_compared(tmp_path: Path) -> None:
    """They have one pane, and their own names."""
    for count in (1, 3):
        session = Session(open_documents([str(LAYERS)] * count))
        page = json.loads(unquote(session.address_data()))
        assert (page["uiState"], page["sync"]) == (None, None)
        assert not any("longer" in each for each in page["nodeData"])


def test_colours_of_differences() -> None:
    """The largest one is red or green, zero white."""
    values = {"a": -2.0, "b": 0.0, "c": 4.0}
    results = NodeData(name="x", values=values, is_signed=True).as_json()["results"]
    # Half of the way from white to #52b788.
    assert [each["bgColor"] for each in results.values()] == ["#a8dbc4", "#ffffff", RED]
    results = NodeData(name="x", values={"a": -1e-3}, is_signed=True).as_json()["results"]
    assert results["a"]["bgColor"] == GREEN
