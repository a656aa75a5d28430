"""Descriptions of tensors: what files say of them, what is refused, how they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from samples.ttnn_program import ProgramBuilder

from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.runtime import BinaryError, get_layout, open_device, read_binary, submit
from ttmlir.runtime.tensor import ELEMENT_TYPES, Tensor, TensorDesc

SHARDED = TensorDesc(
    shape=(2, 33, 70),
    element=ELEMENT_TYPES["BFloat16"],
    data_type=DataType.BFP_BF8,
    memory_space=MemorySpace.DEVICE_L1,
    memory_layout=TensorMemoryLayout.HEIGHT_SHARDED,
    tile=(16, 32),
    stride=(2310, 70, 1),
    core_ranges=((0, 1, 3, 2), (5, 0, 1, 4)),
    shard=(1, 3),
)


def table() -> dict[str, Any]:
    """The table of `SHARDED` in a file."""
    return {
        "shape": [2, 33, 70],
        "element_type": "BFloat16",
        "layout": {
            "stride": [2310, 70, 1],
            "oob_val": "Undef",
            # Row and column of the first core, then rows and columns.
            "core_range_set": [((0, 1), (3, 2)), ((5, 0), (1, 4))],
            "memory_desc": {
                "shape": [1, 3],
                "tile_shape": (16, 32),
                "data_type": "BFP_BFloat8",
                "memory_space": "DeviceL1",
                "memory_layout": "HeightSharded",
                "size": 1632,
            },
        },
    }


def described(desc: dict[str, Any]) -> TensorDesc:
    """What is read from a file whose only input has a description."""
    b = ProgramBuilder()
    b.inputs.append({"global_id": 1, "desc": desc})
    return get_layout(read_binary(b.pack(), "x.ttnn"), 0, 0)


def test_every_field_is_read() -> None:
    """Cores are rows, then columns, in memory."""
    assert described(table()) == SHARDED
    assert SHARDED.padded_shape == (2, 48, 96)
    # 18 tiles of 512 numbers in bytes, with an exponent for each 16 of them.
    assert SHARDED.size_in_bytes == 18 * (512 + 32)
    assert str(SHARDED) == "2x33x70xbf16, bfp_bf8 tiles 16x32, l1 height_sharded"


def test_what_is_left_out_is_plain() -> None:
    """No tile, no stride and no cores: a row-major tensor of numbers as they are stored."""
    desc = table()
    desc["element_type"] = None
    desc["layout"] |= {"stride": None, "core_range_set": None}
    memory = desc["layout"]["memory_desc"]
    memory |= {"tile_shape": None, "data_type": "UInt16", "shape": [66, 70], "size": 9240}
    memory |= {"memory_space": "System", "memory_layout": "None"}
    expected = TensorDesc(
        shape=(2, 33, 70), element=ELEMENT_TYPES["UInt16"], data_type=DataType.U16
    )
    assert described(desc) == expected
    assert expected.size_in_bytes == 2 * 33 * 70 * 2
    assert str(expected) == "2x33x70xui16, system"
    memory["shape"] = [66, 69]
    with pytest.raises(BinaryError, match=r"is \[66, 69\] of 1x1 elements on 1 cores$"):
        described(desc)


def layout(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """Alter the layout."""
    return lambda desc: desc["layout"].update(fields)


def memory(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """Alter the memory."""
    return lambda desc: desc["layout"]["memory_desc"].update(fields)


REFUSED: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (lambda desc: desc.update(shape=None), ": field 'shape' is missing"),
    (lambda desc: desc.update(layout=None), ": field 'layout' is missing"),
    (layout(memory_desc=None), ".layout: field 'memory_desc' is missing"),
    (
        lambda desc: desc.update(shape=[1] * 65),
        ": a tensor of rank 65; at most 64 are supported",
    ),
    (lambda desc: desc.update(shape=[2, -1]), ": shape [2, -1] has negative extents"),
    (memory(tile_shape=(32, 0)), ": tile shape [32, 0] is out of range"),
    (memory(tile_shape=(1025, 32)), ": tile shape [1025, 32] is out of range"),
    (
        memory(tile_shape=(3, 5)),
        ": block floats need tiles of a multiple of 16 elements, got [3, 5]",
    ),
    (
        memory(tile_shape=(32, 33)),
        ": a tile of 32x33 is not made of faces: its extents are below 16 or multiples of 16",
    ),
    (
        layout(core_range_set=[((0, 0), (64, 32)), ((0, 0), (1, 2049))]),
        ": a tensor on more than 4096 cores; no chip has so many",
    ),
    (
        layout(core_range_set=[((0, 0), (4, 4)), ((-1, 2), (4, 4))]),
        ": a tensor on cores with negative numbers",
    ),
    (
        memory(shape=[0, 3]),
        ": a tensor of shape [2, 33, 70] does not fit its memory, which is [0, 3] of 16x32 "
        "elements on 10 cores",
    ),
    (
        memory(shape=[-1, -3]),
        ": a tensor of shape [2, 33, 70] does not fit its memory, which is [-1, -3] of 16x32 "
        "elements on 10 cores",
    ),
]


@pytest.mark.parametrize(("alter", "message"), REFUSED)
def test_descriptions_that_make_no_sense(
    alter: Callable[[dict[str, Any]], None], message: str
) -> None:
    """Refused before anything is done with them."""
    desc = table()
    desc["layout"]["memory_desc"]["shape"] = [1, 3]
    alter(desc)
    with pytest.raises(BinaryError) as caught:
        described(desc)
    assert str(caught.value) == f"x.ttnn: program 0 'forward': inputs[0].desc{message}"


def wide(shape: list[int], tile: tuple[int, int], shard: list[int], cores: Any) -> dict[str, Any]:
    """The table with another shape, tile, shard and cores."""
    desc = table()
    desc["shape"] = shape
    desc["layout"]["core_range_set"] = cores
    desc["layout"]["memory_desc"] |= {"shape": shard, "tile_shape": tile}
    return desc


@pytest.mark.parametrize(
    "desc",
    [
        wide([1] * 64, (16, 32), [1, 1], None),
        wide([0, 5], (1, 16), [1, 1], None),
        wide([5, 5], (1024, 1024), [1, 1], None),
        wide([64, 1 << 30], (1024, 1024), [1, 1 << 16], None),
        wide([5, 5], (16, 32), [1, 1], [((0, 0), (64, 32)), ((64, 0), (1, 2048))]),
        # 10 cores with one shard of 16x32 numbers each.
        wide([1, 5120], (16, 32), [1, 1], [((0, 0), (3, 2)), ((5, 0), (1, 4))]),
    ],
)
def test_the_largest_descriptions(desc: dict[str, Any]) -> None:
    """As many dimensions, elements and cores as may be; tiles and memory just large enough."""
    assert list(described(desc).shape) == desc["shape"]


@pytest.mark.parametrize(
    ("desc", "message"),
    [
        (
            wide([1774001, 38737], (1024, 1024), [1, 1 << 17], None),
            "a tensor of shape [1774001, 38737] has 68719476737 elements; at most 68719476736 are "
            "supported",
        ),
        (
            wide([1, 5121], (16, 32), [1, 1], [((0, 0), (3, 2)), ((5, 0), (1, 4))]),
            "a tensor of shape [1, 5121] does not fit its memory, which is [1, 1] of 16x32 "
            "elements on 10 cores",
        ),
        (
            wide([5, 5], (16, 32), [1, 1], [((0, 0), (64, -32)), ((0, 0), (1, 2049))]),
            "a tensor on more than 4096 cores; no chip has so many",
        ),
    ],
)
def test_descriptions_that_are_too_large(desc: dict[str, Any], message: str) -> None:
    """By one."""
    with pytest.raises(BinaryError) as caught:
        described(desc)
    assert str(caught.value) == f"x.ttnn: program 0 'forward': inputs[0].desc: {message}"


def golden(**fields: Any) -> dict[str, Any]:
    """A tensor of a reference run: 2x3 numbers of 16 bits."""
    return {
        "name": "x",
        "shape": [2, 3],
        "stride": [3, 1],
        "dtype": "BFloat16",
        "data": list(np.arange(6, dtype=np.float32).astype(ml_dtypes.bfloat16).tobytes()),
        **fields,
    }


def with_golden(*entries: tuple[str | None, dict[str, Any] | None]) -> Any:
    """The first program of a file that holds a reference run."""
    b = ProgramBuilder()
    program = b.table()
    tensors = [{"key": key, "value": value} for key, value in entries]
    program["debug_info"]["golden_info"] = {"golden_map": tensors}
    return read_binary(b.pack(programs=[program]), "x.ttnn").programs[0]


def test_reference_tensors() -> None:
    """Numbered inputs and outputs up to the first that is missing, of either kind of type."""
    integers = np.array([[1, -2, 3]], np.int64)
    found = with_golden(
        ("output_0", golden(shape=[1, 3], element_type="Int64", data=list(integers.tobytes()))),
        ("input_1", golden(shape=[3, 2])),
        ("input_0", golden()),
        ("other", golden(shape=None, data=list(bytes(2)))),
    ).golden
    assert [each.shape for each in found.inputs] == [(2, 3), (3, 2)]
    assert found.inputs[0].astype(float).tolist() == [[0, 1, 2], [3, 4, 5]]
    [output] = found.outputs
    assert output.dtype == np.int64
    assert output.tolist() == integers.tolist()
    assert with_golden().golden.inputs == ()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (None, "golden_info: field 'value' is missing"),
        (golden(data=None), "golden_info: 'input_0': field 'data' is missing"),
        (
            golden(shape=[2, 4]),
            "golden_info: 'input_0' has 12 bytes, which are no tensor of shape [2, 4] and element "
            "type bf16",
        ),
        (
            golden(shape=[-2, -3]),
            "golden_info: 'input_0' has 12 bytes, which are no tensor of shape [-2, -3] and "
            "element type bf16",
        ),
    ],
)
def test_reference_tensors_that_are_none(entry: dict[str, Any] | None, message: str) -> None:
    """Missing parts, and numbers that do not fill the shape."""
    with pytest.raises(BinaryError) as caught:
        _ = with_golden(("input_0", entry)).golden
    assert str(caught.value) == f"x.ttnn: program 0 'forward': {message}"


def test_differences_are_all_named() -> None:
    """Of sharded tensors the cores count, too; the stride never does."""
    assert SHARDED.differences(replace(SHARDED, stride=())) == []
    other = TensorDesc(
        shape=(2, 33, 71),
        element=ELEMENT_TYPES["Float32"],
        data_type=DataType.F32,
        memory_space=MemorySpace.DEVICE_DRAM,
        memory_layout=TensorMemoryLayout.INTERLEAVED,
        tile=(32, 32),
        core_ranges=((0, 0, 1, 1),),
    )
    assert SHARDED.differences(other) == [
        "shape (2, 33, 71) instead of (2, 33, 70)",
        "element f32 instead of bf16",
        "memory space dram instead of l1",
        "data type f32 instead of bfp_bf8",
        "tile (32, 32) instead of (16, 32)",
        "memory layout interleaved instead of height_sharded",
        "core ranges ((0, 0, 1, 1),) instead of ((0, 1, 3, 2), (5, 0, 1, 4))",
    ]
    interleaved = replace(SHARDED, memory_layout=TensorMemoryLayout.INTERLEAVED)
    assert interleaved.differences(replace(SHARDED, core_ranges=())) == []
    assert SHARDED.differences(SHARDED.on_host())[0] == "memory space system instead of l1"


def test_hosts_take_tensors_of_any_kept_form() -> None:
    """In host memory only shape and element count."""
    host = SHARDED.on_host()
    assert host.agrees_with(replace(host, data_type=DataType.F32, tile=(32, 32)))
    assert not host.agrees_with(SHARDED)
    assert not host.agrees_with(replace(host, shape=(2, 33, 71)))
    assert not host.agrees_with(replace(host, element=ELEMENT_TYPES["Float32"]))
    assert SHARDED.agrees_with(replace(SHARDED, stride=()))
    assert not SHARDED.agrees_with(replace(SHARDED, core_ranges=()))


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_the_device_keeps_32_bits_of_64(numerics: str) -> None:
    """Moving alone narrows, and moving back does not bring anything back."""
    from ttmlir.runtime import Numerics

    b = ProgramBuilder()
    b.output(b.to_host(b.to_device(b.input((1, 3), "i64"))))
    binary = read_binary(b.pack(), "x.ttnn")
    array = np.array([[1, -5, 2**33 + 7]])
    device = open_device(numerics=Numerics(numerics))
    [result] = submit(device, binary, 0, [Tensor.from_numpy(array)])
    expected = [[1, -5, 7]] if numerics == "device" else array
    np.testing.assert_array_equal(result.to_numpy(), expected)
