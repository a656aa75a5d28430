"""The writer of `.ttnn` files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.table_ops import ParameterValue
from ttmlir.layout.data_format import Element, ScalarType, TileFormat
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import SystemDesc, default_system_desc
from ttmlir.limits import MAX_CALL_DEPTH
from ttmlir.mlir.context import make_context
from ttmlir.mlir.printing import attribute_text
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Family, Kind, OpDefinition
from ttmlir.schema.versions import load
from ttmlir.target.flatbuffer.tensors import TTNN, TensorTables
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

GOLDEN = Path(__file__).parents[2] / "golden"
CONTEXT = make_context({"tt": "ttmlir.dialects.tt:TT", "ttnn": "ttmlir.dialects.ttnn:TTNN"})
SYSTEM = tt.SystemDescAttr(default_system_desc())
DEVICE = tt.DeviceAttr.from_system_desc(SYSTEM)
DEVICE_TYPE = "!tt.device<#device>"
GET_DEVICE = f'%dev = "ttnn.get_device"() : () -> {DEVICE_TYPE}'


def parse(text: str) -> ModuleOp:
    """The module with this text, in the file x.mlir."""
    return parse_module(text, "x.mlir", CONTEXT)


def module_text(*functions: str, device: tt.DeviceAttr = DEVICE) -> str:
    """A module with the default system and these functions, the first of them on line 3."""
    attributes = f"attributes {{tt.device = #device, tt.system_desc = {attribute_text(SYSTEM)}}}"
    lines = [f"#device = {attribute_text(device)}", f"module {attributes} {{", *functions, "}"]
    return "\n".join(lines)


def function(arguments: str, *body: str) -> str:
    """A function `main`, its body from the line after its own on."""
    return "\n".join([f"func.func @main({arguments}) {{", *body, "return", "}"])


def tensor(
    shape: str,
    element: str = "f32",
    shard: str | None = None,
    *,
    grid: str = "1x1",
    memory: str = "dram>>, interleaved",
) -> str:
    """The type of a two-dimensional tensor; `shard` is the memref without its memory space."""
    shard = shard or f"{shape}x{element}"
    layout = f"(d0, d1) -> (d0, d1), undef, <{grid}>, memref<{shard}, #tt.memory_space<{memory}"
    return f"tensor<{shape}x{element}, #tt.layout<{layout}>>"


def write(text: str) -> dict[str, Any]:
    """What the file of a module holds."""
    data = ttnn_to_flatbuffer(parse(text))
    loaded = load(data, "x.ttnn")
    assert loaded.warning is None
    return loaded.root.as_dict(defaults=False)


def steps(text: str) -> list[dict[str, Any]]:
    """The tables of the operations of a module's first function."""
    operations = write(text)["programs"][0]["operations"]
    return [step["type"] | {"table": step["type_type"]} for step in operations]


def refusal(text: str) -> str:
    """The message with which a module is refused."""
    with pytest.raises(DiagnosticError) as error:
        ttnn_to_flatbuffer(parse(text))
    return str(error.value)


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.ttnn")))
def test_files_equal_those_of_tt_mlir(name: str) -> None:
    """Everything, the lines of the operations included, but for who has written the file."""
    golden = load((GOLDEN / name).read_bytes(), name).root.as_dict()
    texts = golden["programs"][0]["debug_info"]
    data = ttnn_to_flatbuffer(parse(texts["mlir"]["source"]), cpp_source=texts["cpp"])
    ours = load(data, name).root.as_dict()
    assert ours.pop("producer").startswith("ttmlir-py ")
    assert ours == golden


SAMPLES: dict[Kind, ParameterValue] = {
    Kind.SI32: -1,
    Kind.I32: 3,
    Kind.I64: 2,
    Kind.SI64: -7,
    Kind.F32: 0.75,
    Kind.BOOL: True,
    Kind.I32_ARRAY: (4, -5, 6),
    Kind.I64_ARRAY: (7, 8),
    Kind.DENSE_I32: (9, 0, 1),
    Kind.DENSE_I64: (2, 0, 1),
    Kind.DENSE_BOOL: (1, 0),
    Kind.STRING: "max",
}


def sample(definition: OpDefinition) -> dict[str, ParameterValue]:
    """Values of an operation's parameters; the numbers of windows are stored without a sign."""
    unsigned = definition.flatbuffer is not None and definition.family is Family.WINDOW
    return {
        p.name: 5 if unsigned and p.kind is Kind.SI32 else SAMPLES[p.kind]
        for p in definition.parameters
    }


@pytest.mark.parametrize(
    "mnemonic",
    [
        name
        for name, definition in DEFINITIONS.items()
        if definition.flatbuffer and definition.in_ttnn and name != "constant"
    ],
)
def test_every_operation_of_the_table(mnemonic: str) -> None:
    """Operands, device and parameters of each operation are in the fields of its table."""
    definition = DEFINITIONS[mnemonic]
    cls = ttnn.op_class(mnemonic)
    layout = tt.LayoutAttr.of((32, 64), f32, MemorySpace.DEVICE_DRAM, (1, 1))
    type = TensorType(f32, [32, 64], layout)
    block = Block(arg_types=[type] * len(definition.operands))
    device = ttnn.GetDeviceOp.make(tt.DeviceType(DEVICE), location=UNKNOWN_LOC)
    values = sample(definition)
    properties = cls.parameter_properties(values)
    if issubclass(cls, ttnn.CreationOp):
        op = cls.make(device.results[0], type, properties, location=UNKNOWN_LOC)
        block.add_ops([device, op, ReturnOp()])
    else:
        empties = [
            ttnn.EmptyOp.make(device.results[0], type, location=UNKNOWN_LOC)
            for _ in definition.results
        ]
        op = cls.dps(
            block.args,
            [empty.results[0] for empty in empties],
            properties,
            location=UNKNOWN_LOC,
            device=device.results[0] if definition.device else None,
        )
        block.add_ops([device, *empties, op, ReturnOp()])
    main = FuncOp("main", ([type] * len(definition.operands), []), Region(block))
    module = ModuleOp([main], {"tt.device": DEVICE, "tt.system_desc": SYSTEM})
    data = ttnn_to_flatbuffer(module)
    step = load(data, "x").root.programs[0].operations[-1]

    assert definition.flatbuffer is not None
    assert step.type_type == definition.flatbuffer.table
    table = step["type"]
    for field, filler in definition.flatbuffer.fields:
        match filler:
            case "type":
                assert table[field] == definition.flatbuffer.kind
            case "output":
                assert table[field].global_id == len(definition.operands) + 1
            case "outputs":
                ids = [tensor.global_id for tensor in table[field]]
                first = len(definition.operands) + 1
                assert ids == list(range(first, first + len(definition.results)))
            case "device":
                assert table[field].global_id == 0
            case "parameters":
                assert table[field] == tuple(values.values())
            case "inputs":
                ids = [tensor.global_id for tensor in table[field]]
                assert ids == list(range(1, len(definition.operands) + 1))
            case _ if filler in values:
                assert table[field] == values[filler]
            case _:
                number = [operand.name for operand in definition.operands].index(filler) + 1
                assert table[field].global_id == number


DATA_TYPES = [
    ("f32", "Float32", 4, None),
    ("f16", "Float16", 2, None),
    ("bf16", "BFloat16", 2, None),
    ("f64", "Float32", 4, "Float64"),
    ("ui32", "UInt32", 4, None),
    ("ui16", "UInt16", 2, None),
    ("ui8", "UInt8", 1, None),
    ("ui64", "UInt32", 4, "UInt64"),
    ("i32", "UInt32", 4, "Int32"),
    ("si32", "UInt32", 4, "Int32"),
    ("i16", "UInt16", 2, "Int16"),
    ("si8", "UInt8", 1, "Int8"),
    ("i64", "UInt32", 4, "Int64"),
    ("index", "UInt32", 4, "Int64"),
    ("i1", "BFloat16", 2, "Bool"),
]


@pytest.mark.parametrize(("element", "data_type", "size", "name"), DATA_TYPES)
def test_element_types(element: str, data_type: str, size: int, name: str | None) -> None:
    """The element type is written where the storage format does not imply it."""
    type = tensor("5x7", element, memory="system>>")
    desc = write(module_text(function(f"%a: {type}")))["programs"][0]["inputs"][0]["desc"]
    memory = desc["layout"]["memory_desc"]
    assert memory.get("data_type", "Float32") == data_type
    assert (memory["size"], memory["tile_shape"]) == (35 * size, {"y": 1, "x": 1})
    assert desc.get("element_type") == name


@pytest.mark.parametrize(
    ("format", "element", "size", "name"),
    [
        ("bfp_bf8", "bf16", 1024, None),
        ("bfp_bf8", "f32", 1024, "Float32"),
        ("bfp_f4", "f16", 512, None),
        ("bf16", "bf16", 2048, None),
        ("f32", "f32", 4096, None),
        ("bf16", "f32", 2048, "Float32"),
        ("u32", "i32", 4096, "Int32"),
        ("u8", "ui8", 1024, None),
        ("u8", "i8", 1024, "Int8"),
    ],
)
def test_tiles(format: str, element: str, size: int, name: str | None) -> None:
    """Shards are counted in tiles; 40x70 elements are 2x3 of them."""
    type = tensor("40x70", element, f"2x3x!tt.tile<32x32, {format}>")
    desc = write(module_text(function(f"%a: {type}")))["programs"][0]["inputs"][0]["desc"]
    memory = desc["layout"]["memory_desc"]
    assert (memory["shape"], memory["tile_shape"]) == ([2, 3], {"y": 32, "x": 32})
    assert (memory["size"], desc["layout"]["stride"]) == (6 * size, [70, 1])
    assert desc.get("element_type") == name


def test_equal_layouts_of_unequal_tensors_keep_their_strides() -> None:
    """One tile holds 32x32 or 16x8 elements: rows are 32 or 8 elements apart."""
    tile = "1x1x!tt.tile<32x32, f32>"
    main = function(f"%a: {tensor('32x32', 'f32', tile)}, %b: {tensor('16x8', 'f32', tile)}")
    first, second = write(module_text(main))["programs"][0]["inputs"]
    assert first["desc"]["layout"]["stride"] == [32, 1]
    assert second["desc"]["layout"]["stride"] == [8, 1]


def test_equal_shards_keep_their_memory_layouts() -> None:
    """The same shard, interleaved and sharded by blocks."""
    types = [
        tensor("64x96", "f32", "32x48xf32", grid="2x2", memory=f"l1>>, {layout}")
        for layout in ("interleaved", "block_sharded")
    ]
    main = function(f"%a: {types[0]}, %b: {types[1]}")
    descs = [input["desc"] for input in write(module_text(main))["programs"][0]["inputs"]]
    assert [desc["layout"]["memory_desc"]["memory_layout"] for desc in descs] == [
        TensorMemoryLayout.INTERLEAVED.schema_name,
        TensorMemoryLayout.BLOCK_SHARDED.schema_name,
    ]
    ranges = [desc["layout"]["core_range_set"] for desc in descs]
    assert ranges == [[{"loc": {"y": 0, "x": 0}, "size": {"y": 2, "x": 2}}]] * 2


T = tensor("3x5")
EMPTY = f'%e = "ttnn.empty"(%dev) : ({DEVICE_TYPE}) -> {T}'


def relu(result: str, input: str, init: str) -> str:
    """A line of IR."""
    segments = "<{operandSegmentSizes = array<i32: 1, 1>}>"
    return f'{result} = "ttnn.relu"({input}, {init}) {segments} : ({T}, {T}) -> {T}'


def ids(text: str) -> list[tuple[list[int], int]]:
    """Numbers of the inputs and of the output of each elementwise operation."""
    return [
        ([tensor["global_id"] for tensor in step["ins"]], step["out"]["global_id"])
        for step in steps(text)
        if step["table"] == "EltwiseOp"
    ]


def test_results_take_over_the_memory_of_their_init() -> None:
    """Through a chain in which each result is the init of the next operation."""
    body = [GET_DEVICE, EMPTY, relu("%b", "%a", "%e"), relu("%c", "%a", "%b")]
    assert ids(module_text(function(f"%a: {T}", *body))) == [([1], 2), ([1], 2)]


def test_an_init_with_other_uses_keeps_its_elements() -> None:
    """Two results with one init, which is read too: three tensors."""
    body = [
        GET_DEVICE,
        EMPTY,
        relu("%b", "%a", "%e"),
        relu("%c", "%e", "%e"),
        relu("%d", "%b", "%c"),
    ]
    assert ids(module_text(function(f"%a: {T}", *body))) == [([1], 3), ([2], 4), ([3], 4)]


def test_an_argument_as_init_keeps_its_elements() -> None:
    """The result is a tensor of its own."""
    body = [GET_DEVICE, relu("%b", "%a", "%a2")]
    assert ids(module_text(function(f"%a: {T}, %a2: {T}", *body))) == [([1], 3)]


def test_structure_operations() -> None:
    """Fields of the operations that move tensors, with the schema's numbers of memory layouts."""
    host = tensor("3x5", memory="system>>")
    body = [
        GET_DEVICE,
        f'%b = "ttnn.to_layout"(%a, %dev) <{{layout = #ttnn.layout<row_major>}}> :'
        f" ({host}, {DEVICE_TYPE}) -> {host}",
        '%c = "ttnn.to_device"(%b, %dev) <{memory_config ='
        " #ttnn.memory_config<<height_sharded>, <l1_small>>}> :"
        f" ({host}, {DEVICE_TYPE}) -> {T}",
        f'%d = "ttnn.to_memory_config"(%c, %dev) : ({T}, {DEVICE_TYPE}) -> {host}',
        f'"ttnn.dealloc"(%c) : ({T}) -> ()',
    ]
    device, to_layout, to_device, to_memory, dealloc = steps(
        module_text(function(f"%a: {host}", *body))
    )
    assert device == {
        "table": "GetDeviceOp",
        "mesh": {"y": 1, "x": 1},
        "chip_ids": [0],
        "out": {},
    }
    assert to_layout["table"] == "ToLayoutOp"
    assert "layout" not in to_layout
    assert (to_layout["in"]["global_id"], to_layout["out"]["global_id"]) == (1, 2)
    assert to_device["memcfg"] == {
        "tensor_memory_layout": "HeightSharded",
        "buffer_type": "L1Small",
    }
    assert (to_memory["in0"]["global_id"], to_memory["out"]["global_id"]) == (3, 4)
    assert (dealloc["table"], dealloc["in"]["global_id"]) == ("DeallocOp", 3)


def test_optional_parameters_and_operands_are_left_out() -> None:
    """No `dim_arg` reduces over all dimensions; a convolution may have no bias."""
    result = tensor("1x1")
    body = [
        GET_DEVICE,
        f'%e = "ttnn.empty"(%dev) : ({DEVICE_TYPE}) -> {result}',
        f'%b = "ttnn.sum"(%a, %e) <{{keep_dim = true}}> : ({T}, {result}) -> {result}',
    ]
    table = steps(module_text(function(f"%a: {T}", *body)))[-1]
    assert table["keep_dim"] is True
    assert "dim_arg" not in table


MESHES = [((2, 1, 1), (0, 1)), ((1, 2), (0, 1)), ((2, 2), (3, 1, 0, 2))]


@pytest.mark.parametrize(("mesh", "chip_ids"), MESHES)
def test_meshes(mesh: tuple[int, ...], chip_ids: tuple[int, ...]) -> None:
    """The chips in a row for readers that know no other meshes, and the mesh as it is."""
    one = default_system_desc()
    chips = tuple(0 for _ in chip_ids)
    system = SystemDesc(
        chip_descs=one.chip_descs, chip_desc_indices=chips, chip_capabilities=tuple(chips)
    )
    device = tt.DeviceAttr.from_system_desc(system, mesh, chip_ids)
    (step,) = steps(module_text(function("", GET_DEVICE), device=device))
    assert step["mesh"] == {"y": 1, "x": len(chip_ids)}
    assert (step["mesh_shape"], step["chip_ids"]) == (list(mesh), list(chip_ids))
    assert step["out"].get("global_id", 0) == chip_ids[0]


CONSTANTS = [
    ("2x3", "f32", "[[1.0, -2.5, 3.0], [4.0, 0.1, 0x7FC00000]]", "<f4"),
    ("2x3", "bf16", "[[1.0, -2.5, 3.0], [4.0, 5.0, 6.0]]", None),
    ("2x2", "i32", "[[1, -2], [3, 2147483647]]", "<i4"),
    ("1x3", "ui8", "[[1, 255, 0]]", "u1"),
    ("1x3", "si16", "[[1, -32768, 7]]", "<i2"),
    ("1x2", "i64", "[[-1, 4294967296]]", "<i8"),
    ("1x4", "i1", "[[true, false, true, true]]", "?"),
    ("2x2", "f64", "3.5", "<f8"),
]


@pytest.mark.parametrize(("shape", "element", "text", "dtype"), CONSTANTS)
def test_constants(shape: str, element: str, text: str, dtype: str | None) -> None:
    """The elements stand in row-major order in the description of the one tensor they are of."""
    type = tensor(shape, element)
    line = f"<{{value = dense<{text}> : tensor<{shape}x{element}>}}> : ({DEVICE_TYPE}) -> {type}"
    main = function(f"%a: {type}", GET_DEVICE, f'%c = "ttnn.constant"(%dev) {line}')
    data = ttnn_to_flatbuffer(parse(module_text(main)))
    program = load(data, "x").root.programs[0]
    stored = program.operations[1]["type"].out.desc.constant_data
    assert program.inputs[0].desc.constant_data is None
    if dtype is None:
        assert bytes(stored).hex(" ", 2) == "803f 20c0 4040 8040 a040 c040"
        return
    rows, columns = map(int, shape.split("x"))
    values = text.replace("true", "1").replace("false", "0").replace("0x7FC00000", "float('nan')")
    expected = np.broadcast_to(np.array(eval(values), dtype), (rows, columns))
    actual = np.frombuffer(stored, dtype).reshape(rows, columns)
    np.testing.assert_array_equal(actual, expected)


def test_constants_in_resources() -> None:
    """The contents of the resource, without the alignment in front of it."""
    type = tensor("1x2")
    value = "dense_resource<weights> : tensor<1x2xf32>"
    line = f'%c = "ttnn.constant"(%dev) <{{value = {value}}}> : ({DEVICE_TYPE}) -> {type}'
    text = module_text(function("", GET_DEVICE, line))
    blob = '"0x040000000000803F00000040"'
    blobs = f"{{-# dialect_resources: {{ builtin: {{ weights: {blob} }} }} #-}}"
    out = steps(f"{text}\n{blobs}")[1]["out"]
    assert np.frombuffer(bytes(out["desc"]["constant_data"]), "<f4").tolist() == [1.0, 2.0]
    assert "the module does not hold the resource 'weights'" in refusal(text)
    short = blobs.replace("00000040", "0000")
    assert "the resource 'weights' has 6 bytes instead of 8" in refusal(f"{text}\n{short}")


def test_texts_of_the_module_are_kept() -> None:
    """All programs share one table of them."""
    first = "func.func @first() { return }"
    module = parse(module_text(first, function("")))
    root = load(ttnn_to_flatbuffer(module, mlir_source="M", cpp_source="C"), "x").root
    assert [program.name for program in root.programs] == ["first", "main"]
    texts = [program.debug_info for program in root.programs]
    assert texts[0] == texts[1]
    assert (texts[0].mlir.name, texts[0].mlir.source, texts[0].cpp) == ("ttnn", "M", "C")


def test_lines_of_operations_elide_long_constants() -> None:
    """Seventeen elements are too many; locations stand at the end."""
    type = tensor("1x17")
    value = f"dense<[[{', '.join(map(str, range(17)))}]]> : tensor<1x17xi32>"
    line = f"<{{value = {value}}}> : ({DEVICE_TYPE}) -> {type.replace('f32', 'i32')}"
    main = function("", GET_DEVICE, f'%c = "ttnn.constant"(%dev) {line}')
    debug_info = write(module_text(main))["programs"][0]["operations"][1]["debug_info"]
    assert debug_info.startswith('%1 = "ttnn.constant"(%0) <{value = dense_resource<__elided__>')
    assert debug_info.endswith('loc("x.mlir":5:6)')


LARGEST_SHARD = f"{2**31 - 1}x{2**31 - 1}x!tt.tile<32x32, f32>"
REFUSALS = [
    (
        module_text(function("")).replace("tt.system_desc =", "other ="),
        "x.mlir:2:1: error: 'builtin.module' op has no attribute 'tt.system_desc' with the system "
        "to run on; add it with --ttir-load-system-desc",
    ),
    (
        module_text(function("")).replace("tt.device =", "other ="),
        "x.mlir:3:1: error: 'func.func' op has no attribute 'tt.device' around it with the device "
        "to run on; add it with --ttir-implicit-device, or lower the module with "
        "--ttir-to-ttnn-backend-pipeline",
    ),
    (
        module_text("func.func private @main()"),
        "x.mlir:3:1: error: 'func.func' op has no body to run",
    ),
    (
        module_text(function("%a: tensor<3x5xf32>")),
        "x.mlir:3:1: error: 'func.func' op cannot be written to a .ttnn file: type "
        "'tensor<3x5xf32>' has no layout; .ttnn files hold tensors with a #tt.layout, which "
        "--ttir-to-ttnn-backend-pipeline gives them",
    ),
    (
        module_text(function("%a: index")),
        "type 'index' has no layout",
    ),
    (
        module_text(function(f"%a: {tensor('3x5', 'i7')}")),
        "element type 'i7' has no storage format; supported are",
    ),
    (
        module_text(function(f"%a: {tensor('3x5', grid='1x1x1')}")),
        "a layout's grid has the rank of the device's grid, 2, got 1x1x1",
    ),
    (
        module_text(function(f"%a: {tensor('4294967296x1')}")),
        "shape 4294967296 is larger than 2147483647, the largest that a .ttnn file holds",
    ),
    (
        module_text(function(f"%a: {tensor('3x70', shard='0x70xf32')}")),
        "x.mlir:3:1: error: 'func.func' op cannot be written to a .ttnn file: a tensor of shape "
        "[3, 70] does not fit its layout, which has [0, 70] elements on each core of a grid of 1x1",
    ),
    (
        module_text(function(f"%a: {tensor('1x' * 64 + '5', shard='1x5xf32')}")),
        "x.mlir:3:1: error: 'func.func' op cannot be written to a .ttnn file: a tensor of rank "
        "65; .ttnn files run with at most 64, so merge some of them by a reshape before",
    ),
    (
        module_text(function(f"%a: {tensor('?x5', shard='3x5xf32')}")),
        "has extents that are not known; give them numbers",
    ),
    (
        module_text(function(f"%a: {tensor('3x5', shard=LARGEST_SHARD)}")),
        f"a shard of {(2**31 - 1) ** 2 * 32 * 32 * 4} bytes is larger than a file can say",
    ),
    (
        module_text(function(f"%a: {tensor('3x5', 'ui1')}")),
        "element type 'ui1' cannot be stored in a .ttnn file",
    ),
    (
        module_text(
            function(
                f"%a: {T}",
                GET_DEVICE,
                EMPTY,
                EMPTY.replace("%e", "%f"),
                f'%r:2 = "ttnn.relu"(%a, %e, %f) <{{operandSegmentSizes = array<i32: 1, 2>}}> :'
                f" ({T}, {T}, {T}) -> ({T}, {T})",
            )
        ),
        "x.mlir:7:8: error: 'ttnn.relu' op cannot be written to a .ttnn file with 2 results; "
        "split it up",
    ),
    (
        module_text(function("", "%0 = arith.constant 1 : i32")),
        "x.mlir:4:6: error: 'arith.constant' op cannot be written to a .ttnn file, which holds "
        "'ttnn' operations only; lower the module with --ttir-to-ttnn-backend-pipeline first",
    ),
    (
        module_text(
            function("", "func.call @again() : () -> ()"),
            "func.func @again() {\nreturn\n}",
        ),
        "x.mlir:4:1: error: 'func.call' op cannot be written to a .ttnn file, which holds 'ttnn' "
        "operations only; put what it calls in its place with --inline before the pipeline; "
        "a function that calls itself has to be a loop instead",
    ),
    (
        module_text(
            function(
                "",
                '%0 = "ttnn.alloc"() <{address = 0 : i64, size = 60 : i64,'
                f" memory_space = #tt.memory_space<dram>}}> : () -> {T}",
            )
        ),
        "x.mlir:4:6: error: 'ttnn.alloc' op cannot be written to a .ttnn file; use 'ttnn.empty', "
        "whose location the runtime chooses",
    ),
    (
        module_text(function(f"%dev: {DEVICE_TYPE}", EMPTY)),
        "type '!tt.device<",
    ),
    (
        module_text(
            function(
                "",
                GET_DEVICE,
                '%c = "ttnn.constant"(%dev) <{value = dense<1> : tensor<3x5xi32>}> :'
                f" ({DEVICE_TYPE}) -> {T}",
            )
        ),
        "x.mlir:5:6: error: 'ttnn.constant' op cannot be written to a .ttnn file: its elements "
        "are of type 'i32', those of its result of type 'f32'",
    ),
    (
        module_text(
            function(
                f"%a: {T}",
                GET_DEVICE,
                EMPTY,
                '%b = "ttnn.max_pool2d"(%a, %e, %dev) <{batch_size = 1 : si32, input_height = 1 :'
                " si32, input_width = 1 : si32, channels = 5 : si32, kernel_height = 1 : si32,"
                " kernel_width = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32,"
                " dilation_height = 1 : si32, dilation_width = 1 : si32, ceil_mode = false,"
                f" padding_height = -2 : si32, padding_width = 0 : si32}}> : ({T}, {T},"
                f" {DEVICE_TYPE}) -> {T}",
            )
        ),
        "x.mlir:6:6: error: 'ttnn.max_pool2d' op cannot be written to a .ttnn file: attribute "
        "'padding_height' is -2, and the field of type uint for it does not hold that",
    ),
]


@pytest.mark.parametrize(("extent", "is_written"), [(2**31 - 1, True), (2**31, False)])
def test_largest_extent(extent: int, is_written: bool) -> None:
    """Extents of tensors are numbers of 32 bits with sign."""
    text = module_text(function(f"%a: {tensor(f'{extent}x1')}"))
    if is_written:
        desc = write(text)["programs"][0]["inputs"][0]["desc"]
        assert desc["shape"] == [extent, 1]
        assert desc["layout"]["memory_desc"]["size"] == 4 * extent
    else:
        message = "shape 2147483648 is larger than 2147483647, the largest that a .ttnn file holds"
        assert message in refusal(text)


@pytest.mark.parametrize(
    ("shard", "element", "size"),
    [
        # 2^64 - 1 is the product of the Fermat numbers 3, 5, 17, 257, 65537 and 641 * 6700417.
        ((255, 641 * 65537, 257 * 6700417), ScalarType("i8"), 2**64 - 1),
        ((2**26, 2**26), TileFormat(32, 32, DataType.F32), 2**64),
        ((2**26, 2**26 - 1), TileFormat(32, 32, DataType.F32), 2**64 - 2**38),
    ],
)
def test_largest_size_of_a_shard(shard: tuple[int, ...], element: Element, size: int) -> None:
    """A size is a number of 64 bits without sign."""
    tables = TensorTables(DEVICE.data, TTNN)
    place = (MemorySpace.DEVICE_DRAM, TensorMemoryLayout.INTERLEAVED)
    if size < 2**64:
        assert tables.memory(shard, element, *place)["size"] == size
        return
    with pytest.raises(LayoutError, match=f"a shard of {size} bytes is larger than a file can say"):
        tables.memory(shard, element, *place)


def test_texts_that_utf_8_cannot_write_are_refused() -> None:
    """The module is named, and the field that its text does not fit."""
    message = "the module cannot be written to a .ttnn file: DebugInfo.cpp: '\\ud800' does not fit"
    with pytest.raises(DiagnosticError) as error:
        ttnn_to_flatbuffer(parse(module_text(function(""))), cpp_source="\ud800")
    assert message in str(error.value)


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_refusals(text: str, message: str) -> None:
    """What no file can hold is named with its place and with what to do."""
    assert message in refusal(text)


def test_the_bytes_do_not_depend_on_the_process() -> None:
    """Two processes whose hashes differ write the same file."""
    path = GOLDEN / "two_functions.ttnn"
    program = (
        "import hashlib\n"
        "from ttmlir.mlir.context import make_context\n"
        "from ttmlir.mlir.reader import parse_module\n"
        "from ttmlir.schema.versions import load\n"
        "from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer\n"
        f"root = load(open({str(path)!r}, 'rb').read(), 'x').root\n"
        "text = root.programs[0].debug_info.mlir.source\n"
        "dialects = {'tt': 'ttmlir.dialects.tt:TT', 'ttnn': 'ttmlir.dialects.ttnn:TTNN'}\n"
        "module = parse_module(text, 'x.mlir', make_context(dialects))\n"
        "data = ttnn_to_flatbuffer(module)\n"
        "print(hashlib.sha256(data).hexdigest())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_ten_thousand_operations_are_written_in_linear_time() -> None:
    """Twenty times the operations in not much more than twenty times the time."""

    def seconds(count: int) -> float:
        lines = [GET_DEVICE, f"%e0 = {EMPTY.split(' = ')[1]}", relu("%r0", "%a", "%e0")]
        for i in range(1, count):
            lines += [f"%e{i} = {EMPTY.split(' = ')[1]}", relu(f"%r{i}", f"%r{i - 1}", f"%e{i}")]
        module = parse(module_text(function(f"%a: {T}", *lines)))
        start = time.process_time()
        data = ttnn_to_flatbuffer(module)
        elapsed = time.process_time() - start
        assert len(load(data, "x").root.programs[0].operations) == 2 * count + 1
        return elapsed

    seconds(10)
    assert seconds(5000) < 60 * seconds(250) + 1


def test_loops_that_nest_too_deep() -> None:
    """No file is written that the runtime would refuse."""

    def nested(depth: int) -> str:
        functions = "\n".join(
            f"""func.func private @f{n}(%x: {T}) -> {T} {{
              %r = "ttnn.while"(%x) <{{body = @f{n - 1}, trip_count = 2 : i64}}> : ({T}) -> {T}
              return %r : {T}
            }}"""
            for n in range(1, depth)
        )
        return f"""func.func private @f0(%x: {T}) -> {T} {{ return %x : {T} }}
        {functions}
        func.func @main(%x: {T}) -> {T} {{
          %r = "ttnn.while"(%x) <{{body = @f{depth - 1}, trip_count = 2 : i64}}> : ({T}) -> {T}
          return %r : {T}
        }}"""

    assert ttnn_to_flatbuffer(parse(module_text(nested(MAX_CALL_DEPTH))))
    with pytest.raises(DiagnosticError, match=f"nest more than {MAX_CALL_DEPTH} deep"):
        ttnn_to_flatbuffer(parse(module_text(nested(MAX_CALL_DEPTH + 1))))
