"""What the graphs of files, folders and modules show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ttmlir.compiler import D2M_PIPELINE, compile_to_ttm, compile_to_ttnn, lower
from ttmlir.errors import InputError
from ttmlir.explorer.documents import ModuleDocument, open_documents, read_module
from ttmlir.explorer.graph import Graph, Node, build_module_graphs
from ttmlir.runtime.errors import BinaryError

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"


def nodes_of(graph: Graph) -> dict[tuple[tuple[str, ...], str], Node]:
    """The nodes of a graph by layers and label."""
    return {(node.layers, node.label): node for node in graph.nodes}


def shape(nodes: Sequence[Node]) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """Label, layers and the labels of what each node reads."""
    label = {node.id: node.label for node in nodes}
    return [(each.label, each.layers, [label[e.source] for e in each.inputs]) for each in nodes]


def test_a_module_and_the_program_that_it_becomes() -> None:
    """Layers come from locations, edges from values; destinations are no nodes."""
    (document,) = open_documents([str(LAYERS)])
    program, source = document.collections()
    assert (program.label, source.label) == ("ttnn", "ttir")
    assert shape(source.graphs[0].nodes) == [
        ("x", ("Inputs",), []),
        ("w1", ("Inputs",), []),
        ("b1", ("Inputs",), []),
        ("w2", ("Inputs",), []),
        ("matmul", ("encoder", "fc1"), ["x", "w1"]),
        ("add", ("encoder", "fc1"), ["matmul", "b1"]),
        ("relu", ("encoder",), ["add"]),
        ("matmul", ("head", "fc2"), ["relu", "w2"]),
        ("softmax", ("head",), ["matmul"]),
        ("result 0", ("Results",), ["softmax"]),
    ]
    computing = [each for each in shape(program.graphs[0].nodes) if "to_" not in each[0]]
    assert [label for label, _, _ in computing] == [
        *("input 0", "input 1", "input 2", "input 3"),
        *("matmul", "add", "relu", "matmul", "softmax", "result 0"),
    ]
    assert computing[-3][2] == ["relu", "to_device"]


def test_what_a_node_of_a_program_says() -> None:
    """Name, place in memory, grid and shape."""
    (document,) = open_documents([str(LAYERS)])
    node = nodes_of(document.collections()[0].graphs[0])[(("encoder", "fc1"), "matmul")]
    attributes = dict(node.attributes)
    assert attributes["operation"] == "ttnn.matmul"
    assert attributes["override_name"] == "encoder/fc1/linear"
    expected = {"shape": "33x96", "dtype": "f32", "rank": "2", "buffer_type": "dram"}
    assert {key: attributes[key] for key in expected} == expected
    assert attributes["tensor_memory_layout"] == "interleaved"
    assert attributes["grid_shape"] == "8x8"
    assert dict(node.outputs[0])["shape"] == "33x96xf32"


def test_constants_and_destinations_are_no_nodes() -> None:
    """The operation that uses a constant says so."""
    text = """
      func.func @f(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {
        %c = stablehlo.constant dense<2.0> : tensor<3x70xf32>
        %0 = stablehlo.multiply %x, %c : tensor<3x70xf32>
        return %0 : tensor<3x70xf32>
      }
    """
    document = read_module(text, "f.mlir", "f.mlir")
    assert document.stage == "stablehlo"
    for collection in document.collections():
        node = next(each for each in collection.graphs[0].nodes if each.label == "multiply")
        assert dict(node.attributes)["operand 1"].startswith("constant ")
        assert "constant" not in {each.label for each in collection.graphs[0].nodes}


def test_regions_are_layers() -> None:
    """The body of a reduction is inside of a layer with the reduction."""
    text = """
      func.func @f(%x: tensor<3x5xf32>, %i: tensor<f32>) -> tensor<3xf32> {
        %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1]
          : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }
    """
    graph = read_module(text, "f.mlir", "f.mlir").collections()[-1].graphs[0]
    inside = [each for each in shape(graph.nodes) if each[1] == ("reduce 1",)]
    assert inside == [
        ("reduce", ("reduce 1",), ["x", "i"]),
        ("add", ("reduce 1",), ["reduce", "reduce"]),
        ("return", ("reduce 1",), ["add"]),
    ]


def test_files_of_programs(tmp_path: Path) -> None:
    """A file of calls and a file of kernels."""
    text = LAYERS.read_text()
    (tmp_path / "net.ttnn").write_bytes(compile_to_ttnn(text))
    (tmp_path / "net.ttm").write_bytes(compile_to_ttm(text, D2M_PIPELINE))
    ttnn, ttm = open_documents([str(tmp_path / "net.ttnn"), str(tmp_path / "net.ttm")])
    (program,) = ttnn.collections()
    assert (("encoder", "fc1"), "matmul") in nodes_of(program.graphs[0])
    assert "estimated time" in dict(program.graphs[0].attributes)
    (kernels,) = ttm.collections()
    launches = [each for each in kernels.graphs[0].nodes if dict(each.attributes).get("kernels")]
    assert launches
    assert all(int(dict(each.attributes)["cores"]) >= 1 for each in launches)
    assert kernels.graphs[0].nodes[-1].inputs


def test_a_file_without_its_text(tmp_path: Path) -> None:
    """The graph is what runs: the text that a file carries is not asked."""
    from ttmlir.compiler import read_source, write_ttnn
    from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

    module = lower(read_source(str(LAYERS)))
    with_text = write_ttnn(module)
    path = tmp_path / "net.ttnn"
    path.write_bytes(ttnn_to_flatbuffer(module, mlir_source="", cpp_source=""))
    assert path.stat().st_size < len(with_text)
    (document,) = open_documents([str(path)])
    labels = {node.label for node in document.collections()[0].graphs[0].nodes}
    assert {"matmul", "softmax"} <= labels


def test_modules_of_kernels_are_shown_as_they_are() -> None:
    """Each function of a ttmetal module is a graph."""
    module = lower(LAYERS.read_text(), D2M_PIPELINE)
    graphs = build_module_graphs(module)
    assert graphs[0].id == "net"
    assert len(graphs) > 1, "kernels are functions of their own"
    assert any(node.label == "enqueue_program" for node in graphs[0].nodes)


def test_a_folder_is_a_collection_for_each_file(tmp_path: Path) -> None:
    """In the order of names, without links to elsewhere and other files."""
    outside = tmp_path / "outside.mlir"
    outside.write_text(LAYERS.read_text())
    folder = tmp_path / "dumps"
    (folder / "inner").mkdir(parents=True)
    (folder / "1_ttir.mlir").write_text(LAYERS.read_text())
    (folder / "inner" / "2_net.ttnn").write_bytes(compile_to_ttnn(LAYERS.read_text()))
    (folder / "notes.txt").write_text("no graph")
    (folder / "link.mlir").symlink_to(outside)
    (document,) = open_documents([str(folder)])
    assert document.name == "dumps"
    assert [each.label for each in document.collections()] == [
        "1_ttir.mlir: ttnn",
        "1_ttir.mlir: ttir",
        "inner\u22152_net.ttnn",
    ]


def test_names_of_documents_are_different(tmp_path: Path) -> None:
    """Two files of one name are told from each other."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.mlir").write_text(LAYERS.read_text())
    documents = open_documents([str(tmp_path / each / "net.mlir") for each in ("a", "b")])
    assert [document.name for document in documents] == ["net.mlir", "net.mlir (2)"]


def test_what_cannot_be_shown(tmp_path: Path) -> None:
    """Missing, empty, damaged and other files are refused with the reason."""
    with pytest.raises(InputError, match="cannot open input file"):
        open_documents([str(tmp_path / "missing.mlir")])
    with pytest.raises(InputError, match=r"has no files that are shown: \.mlir"):
        open_documents([str(tmp_path)])
    (tmp_path / "broken.ttnn").write_bytes(b"TTNN")
    with pytest.raises(BinaryError):
        open_documents([str(tmp_path / "broken.ttnn")])
    with pytest.raises(InputError, match="describes a system"):
        open_documents(["board.ttsys"])


def test_a_module_that_cannot_be_compiled_is_shown_with_the_reason() -> None:
    """The source alone, and what the compiler said."""
    text = """
      func.func @f(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {
        %0 = "stablehlo.custom_call"(%x) {call_target_name = "nobody"}
          : (tensor<3x70xf32>) -> tensor<3x70xf32>
        return %0 : tensor<3x70xf32>
      }
    """
    document = read_module(text, "f.mlir", "f.mlir")
    assert isinstance(document, ModuleDocument)
    (source,) = document.collections()
    assert "nobody" in dict(source.graphs[0].attributes)["compilation"]
