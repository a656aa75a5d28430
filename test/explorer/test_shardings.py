"""What the explorer shows of programs that are divided over the devices of a mesh."""

from __future__ import annotations

import pytest

from ttmlir.explorer.documents import ModuleDocument, Settings, read_module
from ttmlir.explorer.graph import Graph
from ttmlir.explorer.node_data import list_estimate

LAYERS = """
module @mlp {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%x: tensor<6x96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %up: tensor<96x640xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                  %down: tensor<640x70xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
      -> tensor<6x70xf32> {
    %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
      : (tensor<6x96xf32>, tensor<96x640xf32>) -> tensor<6x640xf32> loc("mlp/up")
    %1 = stablehlo.tanh %0 : tensor<6x640xf32> loc("mlp/tanh")
    %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0]
      : (tensor<6x640xf32>, tensor<640x70xf32>) -> tensor<6x70xf32> loc("mlp/down")
    return %2 : tensor<6x70xf32>
  }
}
"""


@pytest.fixture(scope="module")
def document() -> ModuleDocument:
    """Two layers, whose weights are divided."""
    return read_module(LAYERS, "mlp.mlir", "mlp")


def find(graph: Graph, label: str) -> list[dict[str, str]]:
    """Those of all nodes with a label."""
    return [dict(node.attributes) for node in graph.nodes if node.label == label]


def test_shardings_of_the_source(document: ModuleDocument) -> None:
    """Values have the axes of the mesh that each dimension is divided over."""
    [source] = document.collections()[1].graphs
    assert dict(source.attributes)["mesh"] == "x=2, y=4"
    said = {node.label: dict(node.attributes).get("sharding") for node in source.nodes}
    assert said["x"] == "dimension 0 over x"
    assert said["up"] == "dimension 1 over y"
    assert said["tanh"] == "dimension 0 over x, dimension 1 over y"
    assert said["result 0"] == "dimension 0 over x"
    [tanh] = [node for node in source.nodes if node.label == "tanh"]
    assert ("sharding", said["tanh"]) in tanh.outputs[0]


def test_shardings_of_the_program(document: ModuleDocument) -> None:
    """Operations have them, too; those of the borders say what the host divides and joins."""
    [program] = document.collections()[0].graphs
    [tanh] = find(program, "tanh")
    assert (tanh["sharding"], tanh["shape"]) == ("dimension 0 over x, dimension 1 over y", "3x160")
    divided = [each["sharding"] for each in find(program, "distribute_tensor")]
    assert sorted(divided) == [
        "dimension 0 over the 2 devices of each column",
        "dimension 0 over the 4 devices of each row",
        "dimension 1 over the 4 devices of each row",
    ]
    [joined] = find(program, "aggregate_tensor")
    assert joined["sharding"].startswith("dimension 0 over the 2 devices of each column")


def test_exchanges(document: ModuleDocument) -> None:
    """The sum of two parts of a product: a tile of 4096 bytes in each of three columns.

    In a line of four devices the sum of a part, then the part, go over three links.
    """
    [program] = document.collections()[0].graphs
    notes = dict(program.attributes)
    assert (notes["board"], notes["mesh"]) == ("t3000", "2x4 devices")
    [exchange] = find(program, "all_reduce")
    line = "links along rows (4 devices in a line, 1 link): 0.02 MB over each, "
    assert exchange["links of axis 1"].startswith(line)
    assert exchange["links of axis 1"] == notes["links of axis 1"]
    assert document.binary is not None
    moved = next(
        each
        for each in list_estimate(document.binary.program(0), None)
        if each.name == "over links (MB)"
    )
    assert list(moved.values.values()) == [pytest.approx(2 * 3 * 3 * 4096 / 4 / 1e6, abs=1e-3)]


def test_a_board_of_as_many_chips() -> None:
    """Another board changes the times, and no layout."""
    document = read_module(LAYERS, "mlp.mlir", "mlp")
    document.change(Settings(board="p150x8"))
    [program] = document.collections()[0].graphs
    assert dict(program.attributes)["board"] == "p150x8"
    [exchange] = find(program, "all_reduce")
    assert "(4 devices in a line, 2 links)" in exchange["links of axis 1"]


def test_a_division_that_is_refused() -> None:
    """The module is shown as it is, with the reason."""
    text = LAYERS.replace('"y"=4', '"y"=3')
    document = read_module(text, "mlp.mlir", "mlp")
    [source] = document.collections()
    assert "640" in dict(source.graphs[0].attributes)["compilation"]
    assert find(source.graphs[0], "tanh")
