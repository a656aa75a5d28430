"""Files of 2026: what goes into them besides operations, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir import compiler
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.tensor import open_device
from ttmlir.runtime.ttrt.reports import SECTIONS, section_text
from ttmlir.schema import TableView, load_schema
from ttmlir.schema.versions import LATER_SCHEMAS, load, version_stamp
from ttmlir.target.flatbuffer.tensors import Golden
from ttmlir.tools import ttmlir_translate

SYSTEM = (
    '#ttcore.system_desc<[{role = host, target_triple = "x86_64-pc-linux"}], '
    "[{arch = <blackhole>, grid = 10x13, coord_translation_offsets = 2x1, l1_size = 1572864, "
    "num_dram_channels = 8, dram_channel_size = 4278190080, noc_l1_address_align_bytes = 16, "
    "pcie_address_align_bytes = 64, noc_dram_address_align_bytes = 64, "
    "l1_unreserved_base = 177280, erisc_l1_unreserved_base = 88896, "
    "dram_unreserved_base = 1048704, dram_unreserved_end = 4275087680, "
    "supported_data_types = [<f32>, <bf16>, <u32>, <si32>], supported_tile_sizes = [ 32x32], "
    "dst_physical_size_tiles = 16, num_cbs = 64, num_compute_threads = 1, "
    "num_datamovement_threads = 2, dram_grid = 1x8, "
    "dram_bank_to_logical_worker_noc0 = [(9, 0), (0, 0), (7, 0), (3, 0), (9, 7), (1, 7), (6, 7), "
    "(4, 7)], dram_bank_to_logical_worker_noc1 = [(0, 0), (8, 0), (2, 0), (5, 0), (0, 7), (8, 7), "
    "(2, 7), (5, 7)]}], [0], [1 : i32], [ 0x0x0x0]>"
)
DEVICE = (
    "<workerGrid = #ttcore.grid<10x13, virt_to_physical_map = (d0, d1) -> (0, d0, d1), "
    "physical_to_virt_map = (d0, d1, d2) -> (d1, d2)>, dramGrid = #ttcore.grid<1x8>, "
    "l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), "
    "dramMap = (d0, d1, d2)[s0] -> (0, 0, d0 mod 8, d1 + d2 + s0), meshShape = 1x1, chipIds = [0]>"
)
TILES = "tensor<40x70xf32, #tiles>"
FOUR_DIMENSIONS = "tensor<1x1x40x70xf32, #tiles>"


def module(*functions: str) -> str:
    """A module of functions on tensors in tiles, `!t`."""
    body = "\n".join(functions)
    return f"""#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
    memref<2x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!t = {TILES}
module {{
  ttcore.device_module {{
    builtin.module attributes {{ttcore.system_desc = {SYSTEM}}} {{
      ttcore.device @default_device = {DEVICE}
{body}
    }}
  }}
}}
"""


def function(*lines: str, name: str = "main", visibility: str = "public") -> str:
    """A function of two tensors; its lines leave the result in %r."""
    body = "\n  ".join(lines)
    return (
        f"func.func {visibility} @{name}(%x: !t, %y: !t) -> !t {{\n  {body}\n  return %r : !t\n}}"
    )


ADD = '%r = "ttnn.add"(%x, %y) : (!t, !t) -> !t'


def written(text: str, **options: Any) -> bytes:
    """The file of a module."""
    return compiler.write_ttnn(compiler.parse(text), **options)


def run(data: bytes, number: int = 0) -> Any:
    """What a program makes of two tensors, and the tensors."""
    x, y = (np.full((40, 70), value, np.float32) for value in (3.0, -5.0))
    (result,) = submit(open_device(), read_binary(data, "file.ttnn"), number, [x, y])
    return to_host(result).to_numpy()


def test_the_layout_is_that_of_the_latest_schema() -> None:
    """The file says so, and carries the text, with locations."""
    data = written(module(function(ADD)))
    loaded = load(data, "file.ttnn")
    assert loaded.later is LATER_SCHEMAS[-1]
    assert loaded.root.schema_hash == LATER_SCHEMAS[-1].digest
    assert "loc(" in loaded.root.mlir.source
    assert loaded.root.programs[0].operations[0].type.lhs.desc.layout.memory_desc.tile_shape == (
        32,
        32,
    )
    np.testing.assert_array_equal(run(data), np.full((40, 70), -2.0))
    for section in SECTIONS:
        assert section_text("file.ttnn", data, section)


def test_several_programs() -> None:
    """Each is run by its place; what they call comes last, wherever it stands."""
    call = "%r = ttcore.load_cached(@weights, [%x, %y]) : (!t, !t) -> !t"
    weights = function(
        '%r = "ttnn.subtract"(%x, %y) : (!t, !t) -> !t', name="weights", visibility="private"
    ).replace("-> !t {", '-> !t attributes {tt.function_type = "const_eval"} {')
    text = module(weights, function(ADD), function(call, name="other"))
    data = written(text)
    root = load(data, "file.ttnn").root
    assert [each.name for each in root.programs] == ["main", "other", "weights"]
    cached = root.programs[1].operations[0].type
    assert (cached.program_idx, cached.callee_name) == (2, "weights")
    assert re.fullmatch("[0-9a-f]{64}", cached.program_hash)
    np.testing.assert_array_equal(run(data, 1), np.full((40, 70), 8.0))


def test_hashes_differ_where_the_last_element_of_a_constant_does() -> None:
    """Constants whose text would be cut off, too; the name of the function makes no difference."""
    functions: list[str] = []
    values = np.random.default_rng(3).normal(size=(130, 170)).astype(np.float32)
    for name, last in (("first", 1.0), ("second", 2.0), ("again", 1.0)):
        values[-1, -1] = last
        constant = (
            '%d = "ttnn.get_device"() : () -> !ttnn.device\n  '
            f'%r = "ttnn.constant"(%d) <{{value = dense<"0x{values.tobytes().hex()}"> : '
            "tensor<130x170xf32>}> : (!ttnn.device) -> !large"
        )
        functions += [
            f"func.func private @{name}() -> !large attributes {{tt.function_type = "
            f'"const_eval"}} {{\n  {constant}\n  return %r : !large\n}}',
            f"func.func @{name}_main() -> !large {{\n  %r = ttcore.load_cached(@{name}, []) : "
            "() -> !large\n  return %r : !large\n}",
        ]
    large = module(*functions).replace("40x70", "130x170").replace("2x3x", "5x6x")
    root = load(written(large.replace("!t =", "!large =")), "file.ttnn").root
    first, second, again = (each.operations[0].type.program_hash for each in root.programs[:3])
    assert first == again != second


def test_loops_and_calls() -> None:
    """Counted loops of either spelling, and functions that are called once."""
    twice = function(ADD, name="twice", visibility="private")
    loop = (
        '%r = "ttcore.while_loop"(%x, %y) <{body_program = @twice, '
        "initial = #ttcore.loop_bound<1>, limit = #ttcore.loop_bound<4>, "
        "output_indices = array<i32: 0>, state_count = 1 : i32, "
        "step = #ttcore.loop_bound<1>}> : (!t, !t) -> !t"
    )
    earlier = '%r = "ttnn.while"(%x, %y) <{body = @twice, trip_count = 3 : i64}> : (!t, !t) -> !t'
    call = "%r = func.call @twice(%x, %y) : (!t, !t) -> !t"
    for line, expected in ((loop, -12.0), (earlier, -12.0), (call, -2.0)):
        data = written(module(function(line), twice))
        np.testing.assert_array_equal(run(data), np.full((40, 70), expected))


def test_golden_tensors() -> None:
    """By names of inputs and outputs, for the first device."""
    x, y = (np.arange(2800, dtype=np.float32).reshape(40, 70) * sign for sign in (1, 2))
    data = written(module(function(ADD)), golden=Golden(inputs=[x, y], outputs=[x + y]))
    entries = load(data, "file.ttnn").root.programs[0].debug_info.golden_info.golden_map
    assert [entry.key for entry in entries] == ["input_0", "input_1", "output_0"]
    kept = entries[2].value[0]
    assert (kept.device, kept.value.shape, kept.value.stride) == (0, (40, 70), (70, 1))
    golden = read_binary(data, "file.ttnn").programs[0].golden
    assert golden is not None
    np.testing.assert_array_equal(golden.outputs[0], x + y)


def test_activations_and_numbers() -> None:
    """What is fused with an operation, and numbers in the union for them."""
    fused = (
        '%0 = "ttnn.multiply"(%x, %y) <{activations = [#ttnn.unary_with_param<op_type = neg>], '
        "input_tensor_a_activations = [], input_tensor_b_activations = "
        "[#ttnn.unary_with_param<op_type = abs>]}> : (!t, !t) -> !t"
    )
    clamp = '%r = "ttnn.clamp_scalar"(%0) <{max = 4 : i32, min = -9.5 : f32}> : (!t) -> !t'
    data = written(module(function(fused, clamp)))
    operations = load(data, "file.ttnn").root.programs[0].operations
    first, second = (each.type for each in operations)
    assert [each.op_type for each in first.activations] == ["Neg"]
    assert first.input_tensor_a_activations == ()
    assert [each.op_type for each in first.input_tensor_b_activations] == ["Abs"]
    assert (second.params.min_type, second.params.min.value) == ("FloatingPointType", -9.5)
    assert (second.params.max_type, second.params.max.value) == ("IntegralType", 4)
    np.testing.assert_array_equal(run(data), np.full((40, 70), -9.5))


REFUSALS = {
    "an operation without a record": (
        ('%r = "ttnn.softsign"(%x) : (!t) -> !t',),
        r"'ttnn.softsign' op cannot be written to a .ttnn file, whose schema has no record for it",
    ),
    "an unknown activation": (
        (
            '%r = "ttnn.add"(%x, %y) <{activations = [#ttnn.unary_with_param<op_type = nothing>]}>'
            " : (!t, !t) -> !t",
        ),
        "attribute 'activations' is nothing; files know Exp, Recip, Gelu",
    ),
    "a function that is not there": (
        ("%r = ttcore.load_cached(@nowhere, [%x]) : (!t) -> !t",),
        "'ttcore.load_cached' op 'nowhere' does not reference a function",
    ),
    "an operation of another dialect": (
        ('%r = "ttir.add"(%x, %y) : (!t, !t) -> !t',),
        "holds operations of ttnn, calls and loops only",
    ),
    "a call of something unknown": (
        ("%r = stablehlo.custom_call @who.knows(%x) : (!t) -> !t",),
        "nothing says what 'who.knows' computes; before .* ttmlir.register_custom_call",
    ),
    "a tensor without a layout": (
        (
            '%0 = "ttnn.abs"(%x) : (!t) -> tensor<40x70xf32>',
            '%r = "ttnn.abs"(%0) : (tensor<40x70xf32>) -> !t',
        ),
        "type 'tensor<40x70xf32>' has no layout",
    ),
    "a tensor that was deallocated": (
        (
            '%0 = "ttnn.abs"(%x) : (!t) -> !t',
            '"ttnn.deallocate"(%0) <{force = false}> : (!t) -> ()',
            '%r = "ttnn.add"(%y, %0) : (!t, !t) -> !t',
        ),
        "(?s)'ttnn.add' op .*: it uses a tensor that was deallocated before.*it is deallocated ",
    ),
    "a product with an unknown activation": (
        (
            '%0 = "ttnn.matmul"(%x, %y) <{transpose_b = true, activation = "softmax"}> : (!t, !t) '
            "-> tensor<40x40xf32, #tiles>",
            '%r = "ttnn.abs"(%x) : (!t) -> !t',
        ),
        "computes the activation 'softmax', which is no function of one tensor alone, such as relu",
    ),
    "a tile that no chip has": (
        (
            '%0 = "ttnn.abs"(%x) : (!t) -> tensor<40x70xf32, #ttnn.ttnn_layout<(d0, d1) -> '
            "(d0, d1), <1x1>, memref<2x1x!ttcore.tile<32x329, f32>, #dram>, <interleaved>>>",
            '%r = "ttnn.abs"(%x) : (!t) -> !t',
        ),
        "'ttnn.abs' op cannot be written to a .ttnn file: a tile of 32x329 is not made of faces: ",
    ),
    "a huge tensor": (
        (
            '%0 = "ttnn.abs"(%x) : (!t) -> tensor<4294967296x70xf32, #tiles>',
            '%r = "ttnn.abs"(%0) : (tensor<4294967296x70xf32, #tiles>) -> !t',
        ),
        "shape 4294967296 is larger than 2147483647",
    ),
    "unknown extents": (
        (
            '%0 = "ttnn.abs"(%x) : (!t) -> tensor<?x70xf32, #tiles>',
            '%r = "ttnn.abs"(%0) : (tensor<?x70xf32, #tiles>) -> !t',
        ),
        "has extents that are not known; give them numbers",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    """A message at the operation's place, and no file."""
    lines, message = REFUSALS[name]
    with pytest.raises(DiagnosticError, match=message) as caught:
        written(module(function(*lines)))
    assert re.search(r":\d+:\d+: error: ", str(caught.value))


def test_calls_that_nest_too_deep() -> None:
    """A file of them does not run: the deepest chain that does is written."""

    def calling(number: int, name: str = "main", visibility: str = "public") -> str:
        line = f"%r = call @f{number}(%x, %y) : (!t, !t) -> !t"
        return function(line, name=name, visibility=visibility)

    leaf = function('%r = "ttnn.abs"(%y) : (!t) -> !t', name="f0", visibility="private")
    chain = [leaf, *(calling(number - 1, f"f{number}", "private") for number in range(1, 33))]
    found = run(written(module(calling(31), *chain[:-1])))
    np.testing.assert_array_equal(found, np.full((40, 70), 5))
    with pytest.raises(DiagnosticError, match=r"'func.call' op .*: calls nest more than 32 deep"):
        _ = written(module(calling(32), *chain))
    with pytest.raises(DiagnosticError, match=r"'func.call' op .*: @f1 calls itself"):
        _ = written(module(calling(1), calling(1, "f1", "private")))


def test_no_output_file_is_left(tmp_path: Path) -> None:
    """Where the translation is refused."""
    source, target = tmp_path / "m.mlir", tmp_path / "m.ttnn"
    source.write_text(module(function('%r = "ttnn.softsign"(%x) : (!t) -> !t')))
    assert ttmlir_translate.main(["--ttnn-to-flatbuffer", str(source), "-o", str(target)]) != 0
    assert not target.exists()


RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    '%r = "ttnn.gelu_bw"(%x, %y) <{approximate = "tanh"}>': (
        "ExperimentalEltwiseBinaryBackwardOp",
        {"type": "GeluBW", "grad": 1, "input": 2, "approximate": "tanh", "out": 3},
    ),
    '%r = "ttnn.rotary_embedding"(%x, %y, %x) <{token_index = 5 : ui32}>': (
        "RotaryEmbeddingOp",
        {"input": 1, "cos_cache": 2, "sin_cache": 1, "token_index": 5},
    ),
    '%r = "ttnn.all_gather"(%x) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32, '
    "num_links = 2 : ui32, topology = #ttcore.topology<ring>}>": (
        "AllGatherOp",
        {"in": 1, "all_gather_dim": 1, "cluster_axis": 1, "num_links": 2, "topology": "Ring"},
    ),
    '%r = "ttnn.reduce_scatter"(%x) <{cluster_axis = 1 : ui32, scatter_dim = 1 : si32, '
    "reduce_type = #ttcore.reduce_type<max>}>": (
        "ReduceScatterOp",
        {"in": 1, "reduce_type": 2, "scatter_dim": 1, "cluster_axis": 1},
    ),
    '%r = "ttnn.scatter"(%x, %y, %x) <{dim = 1 : i32, '
    "scatter_reduce_type = #ttcore.reduce_type<prod>}>": (
        "ScatterOp",
        {"input": 1, "index": 2, "source": 1, "dim": 1, "scatter_reduce_type": "Prod"},
    ),
    '%r = "ttnn.dropout"(%x) <{prob = 0.25 : f32, scale = 2.0 : f32, seed = 7 : ui32, '
    "use_per_device_seed = false}>": (
        "DropoutOp",
        {"in": 1, "prob": 0.25, "scale": 2.0, "seed": 7, "use_per_device_seed": False},
    ),
    '%r = "ttnn.requantize"(%x, %y, %x, %y, %x) <{axis = 1 : i32}>': (
        "EltwiseQuantizationOp",
        {"type": "Requantize", "axis": 1, "params_type": "RequantizeOpParams"},
    ),
    '%r = "ttnn.point_to_point"(%x) <{sender_coord = array<i64: 0, 0>, '
    "receiver_coord = array<i64: 0, 1>}>": (
        "PointToPointOp",
        {"in": 1, "sender_coord": (0, 0), "receiver_coord": (0, 1), "out": 3},
    ),
}
"""Operations that the corpus has none of, and fields of the schema's table for each; a number is
that of a tensor."""


AUGUST = LATER_SCHEMAS[0]
DIGEST, COMMIT = "ab" * 32, "19c86fca45" + 30 * "0"


def file_of_another(tmp_path: Path, *, commit: str = COMMIT) -> str:
    """A file without programs, as another program of August writes it; its path."""
    stamp = {"version": (0, 12, 7), "schema_hash": DIGEST, "ttmlir_git_hash": commit}
    root: dict[str, Any] = {**stamp, "programs": []}
    path = tmp_path / "theirs.ttnn"
    path.write_bytes(load_schema(AUGUST.path).pack(root))
    return str(path)


def test_the_schema_of_another_file(tmp_path: Path) -> None:
    """Numbers of operations are those of its schema, and the file says what that says of itself."""
    text = module(function('%r = "ttnn.relu"(%x) : (!t) -> !t'))
    status, out = translate(tmp_path, text, file_of_another(tmp_path))
    assert status == 0
    data = out.read_bytes()
    loaded = load(data, "file.ttnn")
    assert loaded.later is AUGUST
    root = loaded.root
    assert (root.schema_hash, root.ttmlir_git_hash) == (DIGEST, COMMIT)
    assert (root.version.major, root.version.minor, root.version.patch) == (0, 12, 7)
    assert root.programs[0].operations[0].type_type == "EltwiseUnaryOp"
    np.testing.assert_array_equal(run(data), np.full((40, 70), 3.0))


def translate(tmp_path: Path, text: str, theirs: str) -> tuple[int, Path]:
    """The exit status of the translation with the schema of a file, and what it writes."""
    (tmp_path / "in.mlir").write_text(text)
    out = tmp_path / "out.ttnn"
    arguments = ["--ttnn-to-flatbuffer", str(tmp_path / "in.mlir"), "-o", str(out)]
    return ttmlir_translate.main([*arguments, f"--schema-of={theirs}"]), out


def test_an_unknown_schema_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message has its digest, and those that are known."""
    theirs = file_of_another(tmp_path, commit="1234567" + 33 * "0")
    status, out = translate(tmp_path, module(function(ADD)), theirs)
    message = capsys.readouterr().err
    assert status == 1
    assert not out.exists()
    assert f"{theirs}: version: written by tt-mlir 0.12.7, commit 1234567" in message
    assert "Traceback" not in message
    assert "internal" not in message
    assert "SHA-256 abababababab..." in message
    assert "that of commit 19c86fca45" in message
    assert "912b70aa54f8..." in message


def test_the_schema_of_a_file_of_2024_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its layout is that of modules of 2024."""
    (tmp_path / "old.ttnn").write_bytes(load_schema("TTNN/binary.fbs").pack(version_stamp()))
    status, out = translate(tmp_path, module(function(ADD)), str(tmp_path / "old.ttnn"))
    assert status == 1
    assert not out.exists()
    message = capsys.readouterr().err
    assert "old.ttnn: no .ttnn file of a version with a schema of its own" in message
    assert "internal" not in message
    assert translate(tmp_path, module(function(ADD)), str(tmp_path / "none.ttnn"))[0] == 1
    assert "none.ttnn: No such file or directory" in capsys.readouterr().err


def test_a_module_of_2024_has_no_other_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option is refused at the module."""
    status, out = translate(tmp_path, "module {}", file_of_another(tmp_path))
    assert status == 1
    assert not out.exists()
    assert "files of 2024 have one schema" in capsys.readouterr().err


@pytest.mark.parametrize("line", RECORDS)
def test_records(line: str) -> None:
    """Fields follow from their names and types."""
    operands = line.partition("(")[2].partition(")")[0].count("%")
    typed = f"{line} : ({', '.join(['!t'] * operands)}) -> !t"
    text = module(function(typed))
    if RECORDS[line][0] == "RotaryEmbeddingOp":
        # Its tensors have four dimensions.
        text = text.replace(TILES, FOUR_DIMENSIONS).replace("(d0, d1) ->", "(d0, d1, d2, d3) ->")
        text = text.replace("-> (d0, d1), <1x1>", "-> (d0 * 64 + d1 * 64 + d2, d3), <1x1>")
    data = written(text)
    record = load(data, "file.ttnn").root.programs[0].operations[0]
    table, fields = RECORDS[line]
    assert record.type_type == table
    found = {name: record.type[name] for name in fields}
    numbers = {
        name: value.global_id if isinstance(value, TableView) and "global_id" in value else value
        for name, value in found.items()
    }
    assert numbers == fields
    assert set(record.type) >= set(fields) - {"type"}
