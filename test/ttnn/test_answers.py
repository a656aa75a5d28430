"""Calls give what the real ttnn gives: its answers are recorded in `Inputs/answers.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest
from running.ttnn_answers import Program, Step, read_sections

from ttmlir import ttnn
from ttmlir.errors import Error
from ttmlir.ttnn import registry
from ttmlir.ttnn.activate import activate
from ttmlir.ttnn.operations.elementwise.tables import Elementwise

ANSWERS = Path(__file__).with_name("Inputs") / "answers.txt"

DIFFERENT = {
    # Results of shards of another shape are interleaved: which shards ttnn chooses changes often.
    "ttnn.sum(h, dim=-1)": "[64] padded to [32, 64] BFLOAT16 TILE L1 INTERLEAVED",
    "ttnn.transpose(h, 0, 1)": "[128, 64] BFLOAT16 TILE L1 INTERLEAVED",
    "ttnn.reshape(h, (128, 64))": "[128, 64] BFLOAT16 TILE L1 INTERLEAVED",
    "ttnn.slice(h, [0, 0], [32, 64])": "[32, 64] BFLOAT16 TILE L1 INTERLEAVED",
    "h[0:32]": "[32, 128] BFLOAT16 TILE L1 INTERLEAVED",
    # What a kernel lacks, and a meaning has.
    "ttnn.layer_norm(h)": "[64, 128] BFLOAT16 TILE L1 HEIGHT_SHARDED [32, 128] on 2x1",
    "x.reshape(66, 70)": "[66, 70] padded to [96, 96] BFLOAT16 TILE DRAM INTERLEAVED",
    "ttnn.embedding(i, tensor((2, 5, 64), layout=ttnn.ROW_MAJOR_LAYOUT))": (
        "[2, 6, 64] BFLOAT16 ROW_MAJOR DRAM INTERLEAVED"
    ),
    "ttnn.conv2d(**c, conv_config=ttnn.Conv2dConfig(output_layout=ttnn.ROW_MAJOR_LAYOUT)).layout": (
        "Layout.ROW_MAJOR"
    ),
    # What ttnn takes without a check, or cuts down to an integer.
    "ttnn.bitwise_not(x)": "error",
    "ttnn.bitcast(x, ttnn.float32)": "error",
    "ttnn.permute(x, (0, 1, 1))": "error",
    "ttnn.conv2d(**c, groups=2).shape": "error",
    "ttnn.max_pool2d(x, 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1])": "error",
    "ttnn.maximum(i, 2.5)": "error",
    "ttnn.where(i, 1.5, 0)": "error",
    # As of February 2026.
    "ttnn.embedding(i, tensor((10, 64)))": "[2, 6, 64] BFLOAT16 ROW_MAJOR DRAM INTERLEAVED",
    "ttnn.where(i, 1, 0)": "[32, 32] INT32 TILE DRAM INTERLEAVED",
}
"""What differs from the real ttnn, and why."""

WITHOUT_OPERATOR = {"f // 2", "f % 2"}
"""Lines that Python refuses, without a call of any package."""

SECTIONS = dict(read_sections(ANSWERS.read_text(encoding="utf-8")))


INTEGERS = "integers of operations on elements"
NOT_OF_TTNN = {"experimental.where"}
"""Operations on elements that only this project has."""


def test_integers_of_all_operations_are_answered() -> None:
    """Which operations refuse integers is the real ttnn's to say, of new ones, too."""
    called = {line.partition("(")[0].removeprefix("ttnn.") for line, _ in SECTIONS[INTEGERS]}
    for name, operation in registry.operations().items():
        if isinstance(getattr(operation, "entry", None), Elementwise) and name not in NOT_OF_TTNN:
            assert name in called, (
                f"add '>>> ttnn.{name}(i)' to '# {INTEGERS}' in {ANSWERS.name} with the answer of "
                "the real ttnn, as running/ttnn_answers.py writes it. If that is an error, add "
                "ttnn_refuses_integers=True to the definition in ttmlir/optable/, or "
                "takes=Takes.FLOATS to the declaration in ttmlir/ttnn/operations/elementwise/"
            )


def kind(answer: str) -> str:
    """What is compared: of an error that it is one."""
    return "error" if answer.startswith("error: ") else answer


@pytest.mark.parametrize("title", SECTIONS)
def test_answers(title: str) -> None:
    """Shape, padded shape, data type, layout, memory and refusals are the real ttnn's.

    Only errors of the project are refusals, and those of Python for operators that tensors lack.
    """
    activate()
    device = ttnn.open_device(device_id=0)
    try:
        program = Program(ttnn, device)
        steps: list[Step] = SECTIONS[title]
        assert steps
        for line, answer in steps:
            expected = DIFFERENT.get(line, kind(answer))
            refusals = TypeError if line in WITHOUT_OPERATOR else Error
            assert (line, kind(program.answer(line, refusals))) == (line, expected)
    finally:
        ttnn.close_device(device)


MESH_ANSWERS = dict(
    read_sections(ANSWERS.with_name("mesh_answers.txt").read_text(encoding="utf-8"))
)

DIFFERENT_ON_MESHES = {
    # What ttnn takes, and leaves numbers out, or sends nothing.
    "ttnn.reduce_scatter(tensor((1, 1, 64, 33)), 3)": "error",
    "ttnn.broadcast(y, ttnn.MeshCoordinate(0, 5))": "error",
    # What links and buffers of a card are needed for.
    "ttnn.experimental.reduce_scatter_minimal_direct(wide, 3)": (
        "[1, 1, 64, 64] BFLOAT16 TILE DRAM INTERLEAVED"
    ),
    "ttnn.experimental.dit_fused_distributed_rmsnorm(narrow, 1, device, word(2), "
    "topology=ttnn.Topology.Linear)": "[1, 1, 32, 64] BFLOAT16 TILE DRAM INTERLEAVED",
    "ttnn.experimental.dit_fused_distributed_rmsnorm(narrow, 1, device, word(2), "
    "topology=ttnn.Topology.Linear, num_heads_per_device=2, weight=tensor((1, 64)))": (
        "[1, 2, 32, 32] BFLOAT16 TILE DRAM INTERLEAVED"
    ),
}
"""The same for meshes."""


@pytest.mark.parametrize("title", MESH_ANSWERS)
def test_answers_of_meshes(title: str) -> None:
    """The same for tensors on two devices."""
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    try:
        program = Program(ttnn, mesh)
        for line, answer in MESH_ANSWERS[title]:
            expected = DIFFERENT_ON_MESHES.get(line, kind(answer))
            assert (line, kind(program.answer(line, Error))) == (line, expected)
    finally:
        ttnn.close_mesh_device(mesh)


def test_differences_are_some() -> None:
    """Lines that stand here for their difference are in the transcript, and do differ."""
    answers = {line: kind(answer) for steps in SECTIONS.values() for line, answer in steps}
    assert [line for line, ours in DIFFERENT.items() if answers[line] == ours] == []
