"""Programs that contradict themselves: refused before they run, with file, program and operation.

And what a program is told of itself: fields that are left out, empty memory, other devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from samples.ttnn_program import ProgramBuilder, tensor_desc

from ttmlir.errors import Error
from ttmlir.runtime import Numerics, Tensor, open_device, read_binary, submit
from ttmlir.runtime.binary import Operation, location_of

WHERE = "x.ttnn: program 0 'forward'"
Alter = Callable[[ProgramBuilder], None]


def operation(b: ProgramBuilder, table: str) -> dict[str, Any]:
    """The first operation of a kind."""
    return next(each for each in b.operations if each["type_type"] == table)


def built(alter: Alter | None = None) -> ProgramBuilder:
    """The sum of an input and a constant: operations 0 to 6."""
    b = ProgramBuilder()
    x = b.to_device(b.input((3, 5)))
    data = np.arange(15, dtype=np.float32).tobytes()
    c = {"global_id": 50, "desc": tensor_desc((3, 5), space="DeviceDRAM", constant=data)}
    b.op("ConstantOp", device=b.device, out=c)
    b.output(b.eltwise("Add", [x, c]))
    if alter is not None:
        alter(b)
    return b


def run(b: ProgramBuilder, *inputs: np.ndarray, **options: Any) -> list[np.ndarray]:
    """The results of a program."""
    binary = read_binary(b.pack(), "x.ttnn")
    given = inputs or (np.ones((3, 5), np.float32),)
    results = submit(open_device(**options), binary, 0, [Tensor.from_numpy(x) for x in given])
    return [each.to_numpy() for each in results]


def change(table: str, **fields: Any) -> Alter:
    """Change fields of the first operation of a kind."""
    return lambda b: operation(b, table)["type"].update(fields)


def retyped(table: str, other: str, **fields: Any) -> Alter:
    """Another kind of operation in the place of the first of a kind."""

    def alter(b: ProgramBuilder) -> None:
        operation(b, table).update(type_type=other, type=fields)

    return alter


def leaky(*numbers: float) -> Alter:
    """A function with parameters in the place of the sum."""

    def alter(b: ProgramBuilder) -> None:
        fields = operation(b, "EltwiseOp")["type"]
        fields.update(type="LeakyRelu", ins=fields["ins"][:1], parameters=list(numbers))

    return alter


def free(b: ProgramBuilder, ref: dict[str, Any], before: int) -> None:
    """Free a tensor in front of an operation."""
    b.op("DeallocOp", **{"in": ref})
    b.operations.insert(before, b.operations.pop())


def free_operand(b: ProgramBuilder) -> None:
    """Free the constant before it is added."""
    free(b, operation(b, "ConstantOp")["type"]["out"], 5)


def free_output(b: ProgramBuilder) -> None:
    """Free what the program returns."""
    b.op("DeallocOp", **{"in": b.outputs[0]})


def unknown_output(b: ProgramBuilder) -> None:
    """Return a tensor that nothing computes."""
    b.outputs.append({"global_id": 77, "desc": tensor_desc((2, 2))})


def input_twice(b: ProgramBuilder) -> None:
    """Give two inputs one number."""
    b.inputs.append(b.inputs[0])


def on_host(b: ProgramBuilder) -> None:
    """Add a tensor that is still in host memory."""
    operation(b, "EltwiseOp")["type"]["ins"][0] = b.inputs[0]


HOST = {"tensor_memory_layout": "None", "buffer_type": "SystemMemory"}
UNWRITTEN = {"global_id": 50, "desc": tensor_desc((3, 5), space="DeviceDRAM")}
OUT = {"global_id": 4, "desc": tensor_desc((3, 5), space="DeviceDRAM", tiled=True)}

TURNED = tensor_desc((5, 3), space="DeviceDRAM", tiled=True)

REFUSED: list[tuple[Alter, str]] = [
    (
        change("GetDeviceOp", chip_ids=[]),
        ": operation 0 (GetDeviceOp, {}): field 'chip_ids' is empty",
    ),
    (change("GetDeviceOp", out=None), ": operation 0 (GetDeviceOp, {}): field 'out' is missing"),
    (change("ToLayoutOp", **{"in": None}), ": operation 1 (ToLayoutOp, {}): field 'in' is missing"),
    (
        change("ToLayoutOp", device={"global_id": 9}),
        ": operation 1 (ToLayoutOp, {}): device 9 was not opened by a get_device operation",
    ),
    (
        change("ToDeviceOp", memcfg=HOST),
        ": operation 2 (ToDeviceOp, {}): the result of to_device is in host memory; use to_layout "
        "or to_memory_config to move a tensor there",
    ),
    (
        change("ToDeviceOp", out={"global_id": 3, "desc": tensor_desc((3, 5))}),
        ": operation 2 (ToDeviceOp, {}): the result of to_device is in host memory; use to_layout "
        "or to_memory_config to move a tensor there",
    ),
    (
        change("ConstantOp", out=UNWRITTEN),
        ": operation 3 (ConstantOp, {}): field 'out.desc.constant_data' is missing",
    ),
    (
        change("ConstantOp", device={"global_id": 4}),
        ": operation 3 (ConstantOp, {}): device 4 was not opened by a get_device operation",
    ),
    (
        change("EmptyOp", device={"global_id": 4}),
        ": operation 4 (EmptyOp, {}): device 4 was not opened by a get_device operation",
    ),
    (
        change("EltwiseOp", ins=[]),
        ": operation 5 (EltwiseOp Add, {}): ttnn.add has 0 operands; expected 2",
    ),
    (change("EltwiseOp", out=None), ": operation 5 (EltwiseOp Add, {}): field 'out' is missing"),
    (
        change("EltwiseOp", type="Relu"),
        ": operation 5 (EltwiseOp Relu, {}): ttnn.relu has 2 operands; expected 1",
    ),
    (
        retyped("EltwiseOp", "ConcatOp", inputs=[], dim=0, out=OUT),
        ": operation 5 (ConcatOp, {}): ttnn.concat has no operands",
    ),
    (
        leaky(),
        ": operation 5 (EltwiseOp LeakyRelu, {}): field 'parameters' has 0 numbers; "
        "ttnn.leaky_relu takes 1",
    ),
    (
        leaky(1.0, 2.0),
        ": operation 5 (EltwiseOp LeakyRelu, {}): field 'parameters' has 2 numbers; "
        "ttnn.leaky_relu takes 1",
    ),
    (
        free_operand,
        ": operation 6 (EltwiseOp Add, {}): tensor 50 is used after operation 5 deallocated it",
    ),
    (
        change("ToDeviceOp", out={"global_id": 3, "desc": TURNED}),
        ": operation 2 (ToDeviceOp, {}): a tensor of shape (3, 5) cannot be moved to one of shape "
        "(5, 3)",
    ),
    (
        on_host,
        ": operation 5 (EltwiseOp Add, {}): operand 0 of ttnn.add (tensor 1) is in host memory; "
        "move it to the device with ttnn.to_device first",
    ),
    (free_output, ": output 0 (tensor 5) was deallocated by operation 7"),
    (unknown_output, ": nothing computes output 1 (tensor 77)"),
    (input_twice, ": input 1 has the id 1 of another input"),
]


@pytest.mark.parametrize(("alter", "message"), REFUSED)
def test_programs_that_contradict_themselves(alter: Alter, message: str) -> None:
    """The whole message, with the operation's place in the source."""
    b = built(alter)
    table = message.partition("(")[2].partition(",")[0].partition(" ")[0]
    expected = WHERE + message.replace("{}", f'loc("{table}")' if table else "")
    for each in b.operations:
        each["debug_info"] = f'op loc("{each["type_type"]}")'
    with pytest.raises(Error) as caught:
        run(b)
    assert str(caught.value).splitlines()[0] == expected


def test_the_program_as_it_is() -> None:
    """Its sum, and nothing wrong with it."""
    [result] = run(built())
    np.testing.assert_array_equal(result, np.arange(15).reshape(3, 5) + 1)


def test_fields_that_may_be_left_out() -> None:
    """Chips of a device, memory of a move, the program's debug information, an operation's."""

    def leave_out(b: ProgramBuilder) -> None:
        operation(b, "GetDeviceOp")["type"]["chip_ids"] = None
        operation(b, "ToDeviceOp")["type"]["memcfg"] = None
        for each in b.operations:
            each["debug_info"] = None

    b = built(leave_out)
    [result] = run(b)
    np.testing.assert_array_equal(result, np.arange(15).reshape(3, 5) + 1)
    [program] = read_binary(b.pack(), "x.ttnn").programs
    device, _, move, *_ = program.operations
    assert device.where == f"{WHERE}: operation 0 (GetDeviceOp)"
    assert device.debug_info == device.location == ""
    assert move.nested_enumerator("memcfg", "buffer_type") is None
    assert not move.has("memcfg")
    assert (move.has_enumerator("memcfg"), move.has_enumerator("nothing")) == (False, False)
    assert (device.device("out"), device.device("nothing")) == (0, None)
    add: Operation = program.operations[5]
    assert (add.title, add.enumerator("type"), add.has_enumerator("type")) == (
        *("EltwiseOp Add", "Add"),
        True,
    )
    assert read_binary(built().pack(), "x.ttnn").programs[0].operations[2].nested_enumerator(
        "memcfg", "buffer_type"
    ) == "DRAM"  # fmt: skip
    assert [each.global_id for each in add.tensors("ins")] == [3, 50]
    assert add.tensor("out").global_id == 4
    assert device.numbers("chip_ids" if device.has("chip_ids") else "mesh") == (1, 1)


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ('op loc("x.mlir":3:4)', '"x.mlir":3:4'),
        ("op loc(unknown)", ""),
        ("op", ""),
        ("op loc(fused[a, b])  ", "fused[a, b]"),
        ("loc(a) op", ""),
    ],
)
def test_locations(text: str, location: str) -> None:
    """What stands in the last `loc`, at the end of the text."""
    assert location_of(text) == location


def test_memory_that_nobody_has_written() -> None:
    """It holds zeros, whether it is read or returned."""
    b = ProgramBuilder()
    empty = b.empty((3, 5))
    b.output(b.eltwise("Add", [b.to_device(b.input((3, 5))), empty]))
    b.output(b.empty((2, 2)), on_device=True)
    first, second = run(b)
    np.testing.assert_array_equal(first, np.ones((3, 5)))
    np.testing.assert_array_equal(second, np.zeros((2, 2)))


def test_programs_by_number() -> None:
    """Those that there are."""
    binary = read_binary(built().pack(ProgramBuilder("second")), "x.ttnn")
    assert [binary.program(i).name for i in (0, 1)] == ["forward", "second"]
    for number in (-1, 2):
        with pytest.raises(Error) as caught:
            binary.program(number)
        message = f"x.ttnn: there is no program {number}; the file has 2: 0 'forward', 1 'second'"
        assert str(caught.value) == message


@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_moves_to_another_type_round(element: str) -> None:
    """On devices with the numerics of a card; moves within a type keep all digits."""
    values = np.linspace(-3, 3, 15, dtype=np.float32).reshape(3, 5)
    kept, rounded = ProgramBuilder(), ProgramBuilder()
    kept.output(kept.to_device(kept.input((3, 5))))
    rounded.output(rounded.to_device(rounded.input((3, 5)), element=element))
    [same] = run(kept, values, numerics=Numerics.DEVICE)
    [cut] = run(rounded, values, numerics=Numerics.DEVICE)
    np.testing.assert_array_equal(same, values)
    type_ = ml_dtypes.bfloat16 if element == "bf16" else np.float16
    expected = values.astype(type_).astype(np.float32)
    assert (expected != values).any()
    np.testing.assert_array_equal(cut.astype(np.float32), expected)
