"""Files of 2026 that are written here, right ones and wrong ones, with the message of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttmlir
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.system_desc import system_differences
from ttmlir.runtime.tensor import Array, open_device
from ttmlir.runtime.ttrt.boards import board_table
from ttmlir.runtime.ttrt.reports import section_text
from ttmlir.schema import load_schema
from ttmlir.schema.versions import LATER_SCHEMAS

AUGUST, SEPTEMBER = LATER_SCHEMAS
COMMIT = "19c86fca45" + 30 * "0"


def tensor(number: int, *shape: int, dtype: str = "Float32") -> dict[str, Any]:
    """A tensor in tiles in DRAM."""
    memory = {
        "storage_type": "Device",
        "tile_shape": (32, 32),
        "data_type": dtype,
        "memory_config": {"tensor_memory_layout": "Interleaved", "buffer_type": "DRAM"},
    }
    return {"global_id": number, "desc": {"shape": shape, "layout": {"memory_desc": memory}}}


def operation(table: str, **fields: Any) -> dict[str, Any]:
    """A record."""
    return {"type_type": table, "type": fields, "debug_info": "", "loc_info": ""}


def program(
    name: str, inputs: list[Any], outputs: list[Any], *operations: Any, private: bool = False
) -> dict[str, Any]:
    """A program of a file."""
    return {
        "name": name,
        "inputs": inputs,
        "outputs": outputs,
        "operations": operations,
        "private": private,
    }


def packed(
    *programs: Any, later: Any = SEPTEMBER, digest: str | None = None, **fields: Any
) -> bytes:
    """A file."""
    root = {
        "version": (0, 12, 0),
        "schema_hash": digest or later.digest or "ab" * 32,
        "ttmlir_git_hash": COMMIT if later is AUGUST else "unknown",
        "programs": programs,
        **fields,
    }
    return load_schema(later.path).pack(root)


def run(data: bytes, *inputs: Array) -> list[Array]:
    """The results of the first program."""
    binary = read_binary(data, "file.ttnn")
    return [to_host(each).to_numpy() for each in submit(open_device(), binary, 0, list(inputs))]


X = np.array([[-1.0, 2.0, 3.5], [0.5, -4.0, 1.0]], np.float32)
RELU = operation("EltwiseUnaryOp", type="Relu", **{"in": tensor(1, 2, 3)}, out=tensor(2, 2, 3))


@pytest.mark.parametrize("later", LATER_SCHEMAS, ids=["august", "september"])
def test_both_states_run(later: Any) -> None:
    """The union members have other numbers."""
    data = packed(program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], RELU), later=later)
    np.testing.assert_array_equal(run(data, X)[0], [[0, 2, 3.5], [0.5, 0, 1]])


def test_functions_fused_with_an_operation() -> None:
    """Those of operands come before it, those of the result after it."""
    add = operation(
        "EltwiseBinaryOp",
        type="Subtract",
        lhs=tensor(1, 2, 3),
        rhs=tensor(2, 1, 3),
        input_tensor_b_activations=[{"op_type": "Neg"}],
        activations=[{"op_type": "Abs"}, {"op_type": "Sqrt"}],
        out=tensor(3, 2, 3),
    )
    data = packed(program("main", [tensor(1, 2, 3), tensor(2, 1, 3)], [tensor(3, 2, 3)], add))
    row = np.array([[1.0, 2.0, 3.0]], np.float32)
    np.testing.assert_allclose(run(data, X, row)[0], np.sqrt(np.abs(X + row)), rtol=1e-6)


@pytest.mark.parametrize("name", ["reciprocal", "log1p"])
def test_fused_functions_have_names_in_files(name: str) -> None:
    """Functions that the compiler fuses into products are written by the names of files."""
    x, y = np.array([[0.5, 3, 7]], np.float32), np.array([[2, -5, 11]], np.float32)
    text = f"""
        func.func @main(%x: tensor<1x3xf32>, %y: tensor<1x3xf32>) -> tensor<1x3xf32> {{
          %0 = "ttir.{name}"(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32>
          %1 = "ttir.multiply"(%0, %y) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
          return %1 : tensor<1x3xf32>
        }}"""
    compiled = ttmlir.compile(text, spelling="2026")
    assert "input_tensor_a_activations" in compiled.text("ttnn")
    expected = getattr(np, name)(x) * y
    np.testing.assert_allclose(compiled(x, y), expected, rtol=1e-6)


def test_private_programs_are_called() -> None:
    """The file's place of a program says which one; a cached one is run once in each run."""
    call = operation(
        "LoadCachedOp", inputs=[tensor(1, 2, 3)], outputs=[tensor(2, 2, 3)], program_idx=1
    )
    inner = program("inner", [tensor(1, 2, 3)], [tensor(2, 2, 3)], RELU, private=True)
    data = packed(program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], call), inner)
    binary = read_binary(data, "file.ttnn")
    assert [each.name for each in binary.programs] == ["main"]
    assert [each.name for each in binary.functions] == ["inner"]
    np.testing.assert_array_equal(run(data, X)[0], np.maximum(X, 0))


def test_a_program_that_calls_itself_is_refused() -> None:
    """Also by way of another one."""
    call = operation("FuncCallOp", program_id=1, inputs=[], outputs=[])
    again = operation("LoadCachedOp", program_idx=1, inputs=[], outputs=[])
    data = packed(program("main", [], [], again), program("f", [], [], again, private=True))
    with pytest.raises(BinaryError, match="program 1 'f' calls itself"):
        prepare(read_binary(data, "file.ttnn").programs[0])
    # No file of September has been seen with this call.
    data = packed(program("main", [], [], call), later=AUGUST)
    with pytest.raises(BinaryError, match="program 'main' calls program 1, but the file has 1"):
        prepare(read_binary(data, "file.ttnn").programs[0])


def test_counted_loops() -> None:
    """As often as the counter takes to the limit."""
    double = operation(
        "EltwiseBinaryOp",
        type="Add",
        lhs=tensor(1, 2, 3),
        rhs=tensor(1, 2, 3),
        out=tensor(2, 2, 3),
    )
    loop = {
        "body_program": 1,
        "limit": {"value": 7},
        "step": {"value": 2},
        "initial": {"value": 2},
        "state_count": 1,
        "output_indices": [0],
        "inputs": [tensor(1, 2, 3)],
        "outputs": [tensor(2, 2, 3)],
    }
    body = program("body", [tensor(1, 2, 3)], [tensor(2, 2, 3)], double, private=True)
    main = program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], operation("WhileOp", **loop))
    np.testing.assert_array_equal(run(packed(main, body), X)[0], 8 * X)
    del loop["step"]
    main["operations"] = [operation("WhileOp", **loop)]
    with pytest.raises(BinaryError, match="the step of its counter is 0"):
        prepare(read_binary(packed(main, body), "file.ttnn").programs[0])


def _traced() -> list[dict[str, Any]]:
    """A program that launches a recording of another one, on a slot for its input."""
    launch = operation(
        "CaptureOrExecuteTraceOp",
        capture_program_id=3,
        execute_program_id=4,
        allocate_slots_program_id=2,
        inputs=[tensor(1, 2, 3)],
        outputs=[tensor(2, 2, 3)],
    )
    copy = operation("CopyOp", src=tensor(4, 2, 3), dst=tensor(5, 2, 3))
    relu = operation("EltwiseUnaryOp", type="Relu", **{"in": tensor(3, 2, 3)}, out=tensor(4, 2, 3))
    call = operation("FuncCallOp", program_id=1, inputs=[tensor(9, 2, 3), tensor(10, 2, 3)])
    write = operation("WriteTensorOp", host_tensor=tensor(8, 2, 3), device_tensor=tensor(9, 2, 3))
    trace = tensor(11, dtype="UInt32")
    begin, end = (operation(f"{which}TraceCaptureOp", trace_id=trace) for which in ("Begin", "End"))
    slots = [tensor(6, 2, 3), tensor(7, 2, 3)]
    taken = [tensor(8, 2, 3), tensor(9, 2, 3), tensor(10, 2, 3)]
    recorded = [tensor(3, 2, 3), tensor(5, 2, 3)]
    return [
        program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], launch),
        program("trace", recorded, [], relu, copy, private=True),
        program("slots", [], slots, private=True),
        program("capture", taken, [trace], write, call, begin, call, end, private=True),
        program("execute", [trace], [], private=True),
    ]


def test_a_launch_runs_what_is_recorded() -> None:
    """On the tensors that are written to its slots; the call before the recording is none."""
    np.testing.assert_array_equal(run(packed(*_traced()), X)[0], np.maximum(X, 0))


@pytest.mark.parametrize(
    ("place", "changes", "message"),
    [
        (2, {"outputs": [tensor(6, 2, 3)]}, "inputs are not those of the programs that it names"),
        (3, {"operations": []}, "records 0 calls, not one"),
        (3, {"operations": [RELU]}, "the program that records has a EltwiseUnaryOp"),
        (1, {"operations": []}, "program 'trace' does not fit its tensors"),
    ],
)
def test_launches_of_other_forms_are_refused(
    place: int, changes: dict[str, Any], message: str
) -> None:
    """The message says what is not as compilers write it."""
    programs = _traced()
    programs[place] |= changes
    with pytest.raises((BinaryError, UnsupportedError), match=message):
        run(packed(*programs), X)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("allocate_slots_program_id", "names program 77, but the file has 5"),
        ("capture_program_id", "names program 77, but the file has 5"),
    ],
)
def test_launches_of_programs_that_are_not_there_are_refused(field: str, message: str) -> None:
    """Whatever the number."""
    programs = _traced()
    programs[0]["operations"][0]["type"][field] = 77
    with pytest.raises(BinaryError, match=message):
        run(packed(*programs), X)


def test_slots_are_written_from_inputs() -> None:
    """A tensor that is no slot, or comes from none of the inputs, makes no sense."""
    programs = _traced()
    programs[3]["operations"][0]["type"]["device_tensor"] = tensor(77, 2, 3)
    with pytest.raises(BinaryError, match="a slot is written that is none, or from no input"):
        run(packed(*programs), X)
    programs = _traced()
    programs[3]["operations"][3]["type"]["inputs"] = [tensor(9, 2, 3), tensor(77, 2, 3)]
    with pytest.raises(BinaryError, match="takes other tensors than the slots"):
        run(packed(*programs), X)
    programs = _traced()
    programs[3]["operations"] = programs[3]["operations"][1:]
    with pytest.raises(BinaryError, match="the recorded program writes other tensors than slots"):
        run(packed(*programs), X)


def test_constants_stand_in_their_operations() -> None:
    """As many bytes as the result takes."""
    numbers = np.arange(6, dtype="<i4")
    constant = operation(
        "ConstantOp",
        input=numbers.tobytes(),
        input_dtype="Int32",
        out=tensor(1, 2, 3, dtype="Int32"),
    )
    main = program("main", [], [tensor(1, 2, 3, dtype="Int32")], constant)
    np.testing.assert_array_equal(run(packed(main))[0], numbers.reshape(2, 3))
    constant["type"]["input"] = numbers.tobytes()[:-1]
    with pytest.raises(BinaryError, match=r"has 23 bytes; a tensor of shape .* has 24"):
        run(packed(main))


def test_what_cannot_run_can_be_read() -> None:
    """The summary has it, a run names it."""
    copy = operation("CpuOp", ins=[tensor(1, 2, 3)], outs=[tensor(2, 2, 3)], func_name="f")
    data = packed(program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], copy))
    assert "1 CpuOp" in section_text("file.ttnn", data, "summary")
    with pytest.raises(UnsupportedError, match="machine code of the host, which is never executed"):
        run(data, X)


def test_a_program_stands_for_machine_code_of_its_name() -> None:
    """A private one, as files that are written here have it, also for two calls."""
    called = [
        operation("CpuOp", ins=[tensor(a, 2, 3)], outs=[tensor(b, 2, 3)], func_name="f_helper")
        for a, b in ((1, 2), (2, 3))
    ]
    add = operation(
        "EltwiseBinaryOp",
        type="Add",
        lhs=tensor(4, 2, 3),
        rhs=tensor(4, 2, 3),
        out=tensor(5, 2, 3),
    )
    inner = program("f", [tensor(4, 2, 3)], [tensor(5, 2, 3)], add, private=True)
    main = program("main", [tensor(1, 2, 3)], [tensor(3, 2, 3)], *called)
    np.testing.assert_array_equal(run(packed(main, inner), X)[0], 4 * X)
    with pytest.raises(UnsupportedError, match="machine code of the host, which is never executed"):
        run(packed(main, inner | {"private": False}), X)


def test_an_unknown_digest_is_refused_whoever_asks() -> None:
    """Numbers of operations would be misread."""
    data = packed(program("main", [], []), digest="cd" * 32)
    with pytest.raises(BinaryError, match=r"SHA-256 cdcdcdcdcdcd.*912b70aa54f8"):
        read_binary(data, "file.ttnn", ignore_version=True)


def test_golden_results_in_the_file() -> None:
    """One device's part of each tensor."""
    value = {"name": "output_0", "shape": [2], "dtype": "Float32", "data": b"\0\0\x80?\0\0\0@"}
    info = {"golden_map": [{"key": "output_0", "value": [{"device": 0, "value": value}]}]}
    main = program("main", [], []) | {"debug_info": {"golden_info": info}}
    golden = read_binary(packed(main), "file.ttnn").programs[0].golden
    assert golden is not None
    assert golden.outputs[0].tolist() == [1.0, 2.0]


def test_the_python_api_moves_arrays_to_where_a_program_wants_them(tmp_path: Path) -> None:
    """Arguments of programs of 2026 are on the device."""
    path = tmp_path / "relu.ttnn"
    path.write_bytes(packed(program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], RELU)))
    result = ttmlir.load(path)(X)
    np.testing.assert_array_equal(result, np.maximum(X, 0))


def test_boards_are_compared_by_what_the_file_says(tmp_path: Path) -> None:
    """Where cores are is not in a file of 2026."""
    system = {
        "chip_descs": [
            {
                "arch": "Blackhole",
                "grid_size": (10, 13),
                "dram_grid_size": (1, 8),
                **{"l1_size": 1 << 20, "num_dram_channels": 8, "dram_channel_size": 1 << 30},
                **{"noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 64},
                "supported_data_types": ["Float32", "Int32"],
                "supported_tile_sizes": [(32, 32)],
            }
        ],
        "chip_desc_indices": [0],
        "chip_capabilities": ["HostMMIO"],
        "chip_coords": [(0, 0, 0, 0)],
    }
    main = program("main", [tensor(1, 2, 3)], [tensor(2, 2, 3)], RELU)
    path = tmp_path / "relu.ttnn"
    path.write_bytes(packed(main, system_desc=system))
    binary = read_binary(path.read_bytes(), "file.ttnn")
    own = binary.comparable_system
    assert own is not None
    lines = system_differences(board_table("p150", binary), own, unsaid=binary.UNSAID)
    assert "system_desc.chip_descs[0].l1_size: expected 1572864, got 1048576" in lines
    assert not [line for line in lines if "grid_size" in line or "capabilities" in line]
    assert not [line for line in lines if "physical_cores" in line]
    assert "blackhole with 10x13 cores" in section_text("f", path.read_bytes(), "summary")
