"""The values and colours of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.graph import spell_size
from ttmlir.explorer.node_data import GREEN, RED, YELLOW, Combine, NodeData, blend
from ttmlir.explorer.session import Session
from ttmlir.optable import DEFINITIONS

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"


@pytest.fixture
def session() -> Session:
    """The documents of the test file."""
    return Session(open_documents([str(LAYERS)]))


def run(session: Session, provider: str, nodes: list[str] | None = None, **values: str) -> Any:
    """The data that an entry of the panel gives, or its error."""
    answer = session.run(
        {
            "cmdId": "run",
            "extensionId": provider,
            "modelPath": "layers.mlir",
            "graphId": "net",
            "configValues": values,
            "graph": {"nodes": [{"id": each} for each in nodes or []]},
        }
    )
    return answer.get("error") or {each["name"]: each["results"] for each in answer["result"]}


def labels(session: Session, collection: int = 0) -> dict[str, str]:
    """The labels of nodes by their names."""
    graph = session.documents["layers.mlir"].collections()[collection].graphs[0]
    return {node.id: node.label for node in graph.nodes}


def test_times_and_shares(session: Session) -> None:
    """Shares are of the total of the times."""
    data = run(session, "tt_estimate", board="n150")
    times, shares = data["time on n150 (us)"], data["share of the time (%)"]
    assert {labels(session)[node] for node in times} >= {"matmul", "add", "relu", "softmax"}
    total = sum(each["value"] for each in times.values())
    for node, share in shares.items():
        assert share["value"] == pytest.approx(100 * times[node]["value"] / total, abs=0.05)
    assert {each["bgColor"] for each in data["bound by"].values()}


def test_a_source_has_the_times_of_what_it_became(session: Session) -> None:
    """All but the way back from the device, which no operation of the source is."""
    session.run({"cmdId": "convert", "extensionId": "tt_adapter", "modelPath": "layers.mlir"})
    program = run(session, "tt_estimate", board="n150")["time on n150 (us)"]
    nodes = labels(session, 1)
    source = run(session, "tt_estimate", nodes=list(nodes), board="n150")["time on n150 (us)"]
    assert {nodes[each] for each in source} == {"matmul", "add", "relu", "softmax"}
    back = sum(each["value"] for node, each in program.items() if "memory" in labels(session)[node])
    total = sum(each["value"] for each in program.values())
    assert sum(each["value"] for each in source.values()) == pytest.approx(total, abs=0.02 + back)


def test_accuracy_of_each_operation(session: Session) -> None:
    """Green for all, and the same for the same seed."""
    data = run(session, "tt_run", numerics="device", seed="3")
    names = labels(session)
    assert {names[node] for node in data["PCC"]} == {"matmul", "add", "relu", "softmax"}
    assert all(each["value"] > 0.999 for each in data["PCC"].values())
    assert {each["bgColor"] for each in data["PCC"].values()} == {GREEN}
    assert data == run(session, "tt_run", numerics="device", seed="3")


def test_a_wrong_operation_is_red(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference of relu is another function: the run differs from it from there on."""
    from ttmlir.runtime import golden

    real = golden.reference_function

    def wrong(call: Any) -> Any:
        if call.definition is DEFINITIONS["relu"]:
            return lambda x: -np.abs(x)
        return real(call)

    monkeypatch.setattr(golden, "reference_function", wrong)
    data = run(session, "tt_run", numerics="exact")["PCC"]
    names = labels(session)
    red = {names[node] for node, each in data.items() if each["bgColor"] == RED}
    assert "relu" in red
    assert "add" not in red


def test_memory(session: Session) -> None:
    """At the ReLU two tensors of 33 x 96 numbers of 4 bytes are in DRAM at least."""
    ((name, data),) = run(session, "tt_memory").items()
    relu = next(node for node, label in labels(session).items() if label == "relu")
    # Rows of 96 numbers are pages of 384 bytes, dealt out to 12 channels: 3 each at most.
    assert 2 * 3 * 384 / 1024 <= data[relu]["value"] < 2**20
    assert name.startswith("DRAM in use (KiB of ")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"seed": "-1"}, "the seed is '-1'; it is a whole number from 0 on"),
        ({"seed": "1" * 40}, "it is a whole number from 0 on"),
        ({"numerics": "odd"}, "numerics is 'odd'; it is one of exact, device"),
    ],
)
def test_runs_that_make_no_sense(session: Session, values: dict[str, str], message: str) -> None:
    """The reason is told in the page."""
    assert message in run(session, "tt_run", **values)


def test_programs_of_kernels_are_told_from_others(tmp_path: Path) -> None:
    """They have no memory report, and are not run operation by operation."""
    from ttmlir.compiler import D2M_PIPELINE, compile_to_ttm

    (tmp_path / "layers.mlir").mkdir()
    path = tmp_path / "layers.mlir" / "layers.ttm"
    path.write_bytes(compile_to_ttm(LAYERS.read_text(), D2M_PIPELINE))
    documents = open_documents([str(path)])
    documents[0].name = "layers.mlir"
    message = "layers.mlir is kernels; Estimate simulates them, and ttrt run --golden compares"
    assert message in run(Session(documents), "tt_run")


def test_values_of_several_operations_become_one() -> None:
    """As sum, least, greatest or last, with the colour of the one that it is."""
    sources = {"n1": ["op1", "op2"], "n2": ["op9"]}
    values = {"op1": 2.0, "op2": 5.0}
    colours = {"op1": RED, "op2": GREEN}

    def joined(combine: Combine) -> tuple[Any, Any]:
        data = NodeData(name="x", values=values, colours=colours, combine=combine)
        spread = data.at_sources(sources)
        return spread.values, spread.colours

    assert joined(Combine.SUM) == ({"n1": 7.0}, {"n1": GREEN})
    assert joined(Combine.LEAST) == ({"n1": 2.0}, {"n1": RED})
    assert joined(Combine.MAX) == ({"n1": 5.0}, {"n1": GREEN})
    assert joined(Combine.LAST) == ({"n1": 5.0}, {"n1": GREEN})


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (1 / 3, 4, 0.3333),
        (100 / 7, 4, 14.29),
        (3.814697265625e-06, 4, 3.815e-06),
        (0.99999949, 6, 0.999999),
        (4320 / 1024, 4, 4.219),
        (1048575.78, 4, 1048576),
        (-12345.6, 4, -12346),
        (7, 4, 7),
        (float("inf"), 4, float("inf")),
    ],
)
def test_numbers_are_rounded(value: float, digits: int, shown: float) -> None:
    """To significant digits, but never before the point."""
    data = NodeData(name="x", values={"op1": value}, digits=digits)
    assert data.as_json()["results"]["op1"] == {"value": shown}


@pytest.mark.parametrize(
    ("count", "shown"),
    [(640, "640 bytes"), (33 * 96 * 4, "12.4 KiB"), (1073740800, "1,048,575.0 KiB")],
)
def test_sizes_have_units(count: int, shown: str) -> None:
    """Bytes, and KiB of 1024 of them."""
    assert spell_size(count) == shown


def test_colours_between_two() -> None:
    """Computed by hand."""
    assert blend(YELLOW, GREEN, 0) == YELLOW
    assert blend(YELLOW, GREEN, 1) == GREEN
    assert blend("#000000", "#ff8000", 0.5) == "#804000"
