"""Plans of programs: what they compute, and what they no longer do in each run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from running.randomness import TestGenerator
from samples.ttnn_program import ProgramBuilder, Ref
from torch import Tensor, nn
from torch.nn import functional

import ttmlir
from ttmlir.runtime import open_device, read_binary, submit
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.execution import executor, planning, recurrent
from ttmlir.runtime.execution.executor import rehearse
from ttmlir.runtime.execution.kernels import KERNELS
from ttmlir.runtime.execution.planning import make_plans, plan_of
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.execution.steps import PreparedProgram, Step

RNG = TestGenerator(__name__)


def normal(*shape: int) -> np.ndarray:
    """Numbers around 0."""
    return RNG.standard_normal(shape).astype(np.float32)


def prepared(b: ProgramBuilder) -> PreparedProgram:
    """The program, ready to run."""
    return prepare(read_binary(b.pack(), "x.ttnn").program(0))


def planned(program: PreparedProgram) -> Counter[str]:
    """How often a plan runs each operation."""
    return Counter(
        step.call.definition.mnemonic for step in plan_of(program).steps if step.call is not None
    )


def run(b: ProgramBuilder, *inputs: np.ndarray) -> list[np.ndarray]:
    """The results of a program."""
    binary = read_binary(b.pack(), "x.ttnn")
    return [each.to_numpy() for each in submit(open_device(), binary, 0, inputs)]


class Twin:
    """A program, and the same in NumPy, which shares no memory between its tensors."""

    def __init__(self, *inputs: np.ndarray) -> None:
        """Begin with the inputs."""
        self.builder = ProgramBuilder()
        self.tensors: list[tuple[Ref, np.ndarray]] = []
        for array in inputs:
            ref = self.builder.to_device(self.builder.input(array.shape))
            self.tensors.append((ref, array.copy()))

    def add(self, table: str, value: np.ndarray, **fields: Any) -> None:
        """An operation whose result is known."""
        ref = self.builder.compute(table, value.shape, **fields)
        self.tensors.append((ref, value.copy()))

    def combine(self, kind: str, first: int, second: int) -> None:
        """A number for each pair of numbers."""
        (a, x), (b, y) = self.tensors[first], self.tensors[second]
        value = {"Add": np.add, "Multiply": np.multiply, "Maximum": np.maximum}[kind](x, y)
        self.add("EltwiseOp", value, type=kind, ins=[a, b])

    def change(self, kind: str, place: int) -> None:
        """A number for each number, or a view."""
        ref, x = self.tensors[place]
        match kind:
            case "Relu":
                self.add("EltwiseOp", np.maximum(x, 0), type=kind, ins=[ref])
            case "Neg":
                self.add("EltwiseOp", -x, type=kind, ins=[ref])
            case "Reshape":
                shape = x.shape[::-1]
                self.add("ReshapeOp", x.reshape(shape), **{"in": ref}, shape=list(shape))
            case "Transpose":
                self.add("TransposeOp", x.T, **{"in": ref}, dim0=0, dim1=1)
            case _:
                begins, ends = [1, 0], [x.shape[0], x.shape[1]]
                part = self.builder.compute(
                    "SliceOp", x[1:].shape, **{"in": ref}, begins=begins, ends=ends, step=[1, 1]
                )
                first = self.builder.compute(
                    "SliceOp",
                    (1, x.shape[1]),
                    **{"in": ref},
                    begins=[0, 0],
                    ends=[1, x.shape[1]],
                    step=[1, 1],
                )
                value = np.concatenate([x[1:], x[:1]])
                self.add("ConcatOp", value, inputs=[part, first], dim=0)


CHANGES = st.sampled_from(["Relu", "Neg", "Reshape", "Transpose", "Turn"])
COMBINATIONS = st.sampled_from(["Add", "Multiply", "Maximum"])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_memory_that_is_used_again(data: st.DataObject) -> None:
    """Views, results that are used late, and inputs keep their numbers; outputs are apart."""
    inputs = [normal(4, 6), normal(4, 6)]
    twin = Twin(*inputs)
    for _ in range(data.draw(st.integers(3, 12))):
        last = len(twin.tensors) - 1
        first = data.draw(st.integers(max(0, last - 3), last))
        shape = twin.tensors[first][1].shape
        others = [i for i, (_, value) in enumerate(twin.tensors) if value.shape == shape]
        if data.draw(st.booleans()):
            twin.combine(data.draw(COMBINATIONS), first, data.draw(st.sampled_from(others)))
        else:
            twin.change(data.draw(CHANGES), first)
    count = data.draw(st.integers(1, 3))
    expected = twin.tensors[-count:]
    for ref, _ in expected:
        twin.builder.output(ref)
    given_arrays = [each.copy() for each in inputs]
    results = run(twin.builder, *given_arrays)
    for result, (_, value) in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-6)
        result[...] = 0
    for array, before in zip(given_arrays, inputs, strict=True):
        np.testing.assert_array_equal(array, before)


def test_constants_are_computed_once() -> None:
    """And nobody changes them through a result."""
    b = ProgramBuilder()
    x = b.to_device(b.input((3, 5)))
    one = b.ref((3, 5), space="DeviceDRAM")
    b.op("FullOp", device=b.device, fill_value=1.5, out=one)
    both = b.eltwise("Add", [one, one])
    b.output(b.eltwise("Multiply", [x, both]))
    b.output(both)
    program = prepared(b)
    assert planned(program) == {"multiply": 1}
    binary, device, given_array = program.program.binary, open_device(), normal(3, 5)
    for _ in range(2):
        product, constant = (t.to_numpy() for t in submit(device, binary, 0, [given_array]))
        np.testing.assert_array_equal(product, given_array * 3)
        np.testing.assert_array_equal(constant, np.full((3, 5), 3))
        constant[...] = 7


def test_equal_steps_run_once() -> None:
    """What is computed twice from the same operands, however often it is used."""
    b = ProgramBuilder()
    x, y = (b.to_device(b.input((3, 5))) for _ in range(2))
    first, second = (b.eltwise("Add", [x, y]) for _ in range(2))
    other = b.eltwise("Add", [y, x])
    b.output(b.eltwise("Multiply", [b.eltwise("Multiply", [first, second]), other]))
    b.output(second)
    assert planned(prepared(b)) == {"add": 2, "multiply": 2}
    p, q = normal(3, 5), normal(3, 5)
    product, total = run(b, p, q)
    np.testing.assert_allclose(product, (p + q) ** 3, rtol=1e-5)
    np.testing.assert_array_equal(total, p + q)


def test_what_only_constants_take_needs_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long chain is computed once where there is room for two of its results."""
    monkeypatch.setattr(planning, "_ROOM", 2 * 4 * 15)
    builder = ProgramBuilder()
    ref = builder.to_device(builder.input((3, 5)))
    chain = builder.compute("FullOp", (3, 5), fill_value=2.0)
    for _ in range(9):
        chain = builder.eltwise("Neg", [chain])
    builder.output(builder.to_host(builder.eltwise("Add", [ref, chain])))
    assert planned(prepared(builder)) == {"add": 1}
    given_array = normal(3, 5)
    np.testing.assert_array_equal(run(builder, given_array)[0], given_array - 2)


def test_wrong_data_of_constants_is_reported_by_the_run() -> None:
    """A row that a table does not have is no reason to refuse the file."""
    b = ProgramBuilder()
    table = b.to_device(b.input((3, 4)))
    rows = b.ref((2,), "i32", "DeviceDRAM")
    b.op("FullOp", device=b.device, fill_value=5, out=rows)
    b.output(b.compute("EmbeddingOp", (2, 4), input=rows, weight=table, out_field="output"))
    make_plans(prepared(b))
    rehearse(prepared(b))
    with pytest.raises(ttmlir.runtime.ExecutionError, match=r"EmbeddingOp.*table of 3 rows"):
        run(b, normal(3, 4))


@pytest.mark.parametrize(
    ("model", "taken"),
    [
        (nn.Linear(420, 400), (399, 420)),
        (nn.Linear(420, 400), (411, 420)),
        (nn.Conv2d(16, 20, 31), (1, 16, 60, 58)),
        (nn.ConvTranspose2d(16, 4, 31, stride=2), (1, 16, 70, 71)),
        (nn.MaxPool2d(30, 1), (1, 64, 70, 69)),
    ],
)
def test_steps_that_take_long_are_not_rehearsed(
    model: nn.Module, taken: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that combines 2**26 numbers, or what comes after it, is left for the first call."""
    done: list[str] = []

    def write(values: Any, step: Step, result: Any) -> None:
        values[step.output] = result
        done.append("" if step.call is None else step.call.definition.mnemonic)

    monkeypatch.setattr(executor, "_write", write)
    ttmlir.compile(model, torch.zeros(taken))
    assert ("matmul" in done) == (taken == (399, 420))
    assert {"conv2d", "conv_transpose2d", "max_pool2d"}.isdisjoint(done)


@pytest.fixture(params=["2024", "2026"])
def spelling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The year whose operations `planned_model` compiles to."""
    monkeypatch.setenv("TTMLIR_SPELLING", request.param)
    return request.param


def planned_model(model: Any, *inputs: Tensor) -> tuple[Counter[str], float]:
    """What a compiled model of torch runs, and how far its results are from torch's."""
    with torch.no_grad():
        compiled = ttmlir.compile(model, *inputs)
        expected = model(*inputs)
        expected = expected[0] if isinstance(expected, tuple) else expected
        result = compiled(*inputs)
    result = torch.as_tensor(result[0] if isinstance(result, tuple) else result)
    error = float((result - expected).abs().max() / expected.abs().max())
    return planned(prepare(compiled.binary.program(0))), error


@pytest.mark.usefixtures("spelling")
@pytest.mark.parametrize(("layers", "width", "batch"), [(1, 5, 3), (2, 7, 9)])
def test_steps_of_an_lstm_are_one_step(layers: int, width: int, batch: int) -> None:
    """Gates, projection and states; all states are results.

    In large batches the product with the inputs is no step of its own, either.
    """
    torch.manual_seed(layers)
    model = nn.LSTM(6, width, layers)
    counts, error = planned_model(model, torch.randn(4, batch, 6))
    assert error < 1e-6
    assert counts["sigmoid"] == counts["tanh"] == 0
    # Also the first one, whose state is 0.
    assert counts["multiply"] == layers
    assert counts["matmul"] == (0 if batch == 9 else layers)


class Bidirectional(nn.Module):
    """Both directions of an LSTM that begins with states of its caller."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.layers = nn.LSTM(5, 3, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> Tensor:
        """All that it computes, in one row."""
        outer, (last, inner) = self.layers(x, (h, c))
        return torch.cat([outer.flatten(), last.flatten(), inner.flatten()])


@pytest.mark.usefixtures("spelling")
@pytest.mark.parametrize(("numbers", "batch"), [(1, 2), (75, 2), (1 << 16, 2), (1 << 16, 8)])
def test_sequences_of_an_lstm_in_both_directions(
    numbers: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps of a direction are one, and its last inner state is a result.

    Inputs are turned for one, three (of seven) or all steps at once.
    """
    monkeypatch.setattr(recurrent, "_BLOCK", numbers)
    torch.manual_seed(4)
    inputs = torch.randn(batch, 7, 5), torch.randn(2, batch, 3), torch.randn(2, batch, 3)
    counts, error = planned_model(Bidirectional(), *inputs)
    assert error < 1e-6
    assert counts["sigmoid"] == 0
    assert counts["multiply"] == 2


class Gated(nn.Module):
    """Both directions of a GRU that begins with states of its caller."""

    def __init__(self, layers: int, width: int) -> None:
        """Make the layers."""
        super().__init__()
        self.layers = nn.GRU(5, width, layers, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        """All that it computes, in one row."""
        states, last = self.layers(x, h)
        return torch.cat([states.flatten(), last.flatten()])


@pytest.mark.usefixtures("spelling")
@pytest.mark.parametrize(("layers", "width"), [(1, 3), (2, 7)])
def test_steps_of_a_gru_are_one_step(layers: int, width: int) -> None:
    """Gates, projection and state, also of the first step."""
    torch.manual_seed(layers)
    inputs = torch.randn(2, 4, 5), torch.randn(2 * layers, 2, width)
    counts, error = planned_model(Gated(layers, width), *inputs)
    assert error < 1e-6
    assert counts["sigmoid"] == counts["tanh"] == counts["multiply"] == 0


class Watched(nn.Module):
    """A GRU whose candidate, gates or products are needed otherwise, or in another order."""

    def __init__(self, needs: str) -> None:
        """Make the weights."""
        super().__init__()
        self.needs = needs
        self.hidden = nn.Linear(6, 18)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        """The next state, and what else is needed."""
        hidden = self.hidden(h)
        r, z, n = hidden.chunk(3, -1)
        a, b, c = x.chunk(3, -1)
        if self.needs == "order":
            r, n, a, c = n, r, c, a
        r, z = torch.sigmoid(r + a), torch.sigmoid(b + z)
        candidate = torch.tanh(c + n * r)
        change = candidate - h if self.needs == "sign" else h - candidate
        state = change * z + candidate
        more = {"candidate": candidate, "update": z, "hidden": hidden[..., :6]}
        return state + more.get(self.needs, 0)


@pytest.mark.usefixtures("spelling")
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("needs", ["nothing", "candidate", "update", "hidden", "order", "sign"])
def test_units_that_are_not_those_of_a_gru_stay_apart(needs: str) -> None:
    """All results are those of torch; only what is one, is one step."""
    torch.manual_seed(6)
    counts, error = planned_model(Watched(needs), torch.randn(3, 18), torch.randn(1, 3, 6))
    assert error < 1e-6
    assert (counts["tanh"] == 0) == (needs == "nothing")


@pytest.mark.usefixtures("spelling")
def test_inputs_that_are_repeated_for_several_states() -> None:
    """What is given to one state is given to three."""
    torch.manual_seed(6)
    counts, error = planned_model(Watched("nothing"), torch.randn(1, 18), torch.randn(3, 6))
    assert error < 1e-6
    assert counts["tanh"] == 1


class Feedback(nn.Module):
    """Cells that are given what was computed from the states of the ones before."""

    def __init__(self, takes: str) -> None:
        """Make the layers."""
        super().__init__()
        self.takes = takes
        self.cell, self.last = nn.LSTMCell(4, 6), nn.Linear(6, 4)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> Tensor:
        """What is given to the cells after the last one."""
        inner: list[Tensor] = []
        for _ in range(4):
            h, c = self.cell(x, (h, c))
            inner.append(c)
            x = self.last(h) if self.takes == "outer" else x + c[:, :4]
        return torch.cat([x, *inner], 1)


@pytest.mark.usefixtures("spelling")
@pytest.mark.parametrize("takes", ["outer", "inner"])
def test_cells_that_need_more_than_states_stay_apart(takes: str) -> None:
    """A decoder, whose next input is not there before the cell has run."""
    torch.manual_seed(5)
    _, error = planned_model(
        Feedback(takes), torch.randn(3, 4), torch.randn(3, 6), torch.randn(3, 6)
    )
    assert error < 1e-6


@pytest.mark.usefixtures("spelling")
def test_gates_that_are_used_otherwise_stay_apart() -> None:
    """An inner state or a gate that is needed before the outer state is there."""
    torch.manual_seed(3)
    weights = torch.randn(5, 12)

    def cell(x: Tensor, c: Tensor) -> Tensor:
        gates = x @ weights
        i, f, g, o = gates.chunk(4, 1)
        forget, opened = torch.sigmoid(f), torch.sigmoid(o)
        inner = forget * c + torch.sigmoid(i) * torch.tanh(g)
        return opened * torch.tanh(inner) + inner * forget

    counts, error = planned_model(cell, torch.randn(2, 5), torch.randn(2, 3))
    assert error < 1e-6
    assert counts["sigmoid"] == 1


@pytest.mark.usefixtures("spelling")
@pytest.mark.parametrize("shape", [(33,), (3, 5), (1500,)])
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norms_are_one_step(shape: tuple[int, ...], affine: bool) -> None:
    """Over one dimension or more, with and without weights, few numbers and many."""
    torch.manual_seed(1)
    norm = nn.LayerNorm(shape, elementwise_affine=affine)
    for parameter in norm.parameters():
        nn.init.normal_(parameter)
    counts, error = planned_model(nn.Sequential(norm, nn.ReLU()), torch.randn(2, 7, *shape) * 3 + 5)
    assert error < 2e-6
    assert not counts["rsqrt"]
    assert not counts["mean"]


@pytest.mark.usefixtures("spelling")
def test_a_norm_whose_parts_are_results_stays_apart() -> None:
    """Only what nothing else needs is joined."""

    def normalize(x: Tensor) -> tuple[Tensor, Tensor]:
        centered = x - x.mean(-1, keepdim=True)
        root = torch.rsqrt((centered * centered).mean(-1, keepdim=True) + 1e-5)
        return centered * root, root

    counts, error = planned_model(normalize, torch.randn(3, 9))
    assert error < 1e-6
    assert counts["rsqrt"] == 1


def test_compiled_models_are_prepared() -> None:
    """The first call makes no plan any more."""
    compiled = ttmlir.compile(nn.Linear(3, 4).eval(), torch.randn(2, 3))
    assert "plan" in prepare(compiled.binary.program(0)).derived


def test_models_that_cannot_run_here_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for an estimate of a large model need not be able to run it."""
    monkeypatch.setenv("TTMLIR_MEMORY_GIB", "0.001")

    def differ(x: Tensor) -> Tensor:
        return torch.relu(x[:, None] - x[None]).sum()

    x = torch.randn(1000)
    compiled = ttmlir.compile(differ, x)
    with pytest.raises(BinaryError, match="bytes"):
        compiled(x)


@pytest.mark.usefixtures("spelling")
@pytest.mark.parametrize(("stride", "groups"), [((2, 1), 1), ((1, 2), 2)])
def test_images_whose_sides_are_padded_apart(stride: tuple[int, int], groups: int) -> None:
    """Weights are put in order once, wherever the borders are."""
    torch.manual_seed(11)
    conv = nn.Conv2d(4, 6, (3, 2), stride, groups=groups)
    model = nn.Sequential(nn.ZeroPad2d((1, 2, 0, 3)), conv, nn.ReLU())
    _, error = planned_model(model, torch.randn(2, 4, 9, 11))
    assert error < 1e-6


class Borders(nn.Module):
    """Reflected borders, all different, before and after a function, and repeated pixels."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.first, self.last = nn.ReflectionPad2d((1, 2, 3, 0)), nn.ReflectionPad2d((2, 0, 1, 3))
        self.convolve = nn.Conv2d(3, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Twice as high and three times as wide."""
        wide = self.last(functional.gelu(self.convolve(self.first(x))))
        return functional.interpolate(wide, scale_factor=(2.0, 3.0), mode="nearest")


@pytest.mark.usefixtures("spelling")
def test_borders_are_taken_at_once() -> None:
    """Chains of lookups and views are one step, also across functions of single numbers."""
    torch.manual_seed(6)
    counts, error = planned_model(Borders(), torch.randn(2, 3, 6, 5))
    assert error < 1e-6
    assert counts["embedding"] == 0
    assert counts["gelu"] == 1


@pytest.mark.usefixtures("spelling")
def test_pixels_between_each_other() -> None:
    """Each number is where torch puts it."""
    _, error = planned_model(nn.PixelShuffle(2), torch.randn(2, 12, 3, 17))
    assert error == 0


@pytest.mark.usefixtures("spelling")
def test_a_moved_tensor_that_is_used_twice() -> None:
    """What comes before it is not computed again, nor is it lost."""

    def shift(x: Tensor) -> Tensor:
        wide = functional.pad(x, (2, 1, 0, 0), mode="circular")
        border = functional.pad(wide, (1, 1, 1, 1), mode="reflect")
        return torch.cat([border.flatten(), wide.sin().flatten()])

    _, error = planned_model(shift, torch.randn(1, 2, 4, 5))
    assert error < 1e-6


@pytest.mark.parametrize("is_kept", [True, False])
def test_numbers_in_the_place_of_others(is_kept: bool) -> None:
    """What is masked in all runs alike, whatever stands there."""
    mask = torch.rand(5, 7, generator=torch.Generator().manual_seed(7)) > 0.5
    x = torch.randn(2, 3, 5, 7)
    x[0, 0, :, :3] = torch.tensor([float("nan"), float("inf"), float("-inf")])
    other = torch.tensor(-float("inf"))

    def choose(x: Tensor) -> Tensor:
        return torch.where(mask, x, other) if is_kept else torch.where(mask, other, x)

    with torch.no_grad():
        result = ttmlir.compile(choose, x)(x)
    torch.testing.assert_close(torch.as_tensor(result), choose(x), equal_nan=True)


def test_a_scalar_in_the_place_of_another() -> None:
    """As the variance of a vector is chosen, where no element may be too few."""
    mask, other = torch.tensor(True), torch.tensor(float("nan"))
    x = torch.tensor([2.0, 5.0, 11.0])
    found = ttmlir.compile(lambda x: torch.where(mask, x.var(), other), x)(x)
    torch.testing.assert_close(torch.as_tensor(found), torch.tensor(21.0))


@pytest.mark.parametrize("count", [5, 3001])
def test_bounds(count: int) -> None:
    """Few numbers and many, infinite ones and those that are none."""
    x = torch.randn(count, generator=torch.Generator().manual_seed(8)) * 4
    x[:4] = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0])

    def bound(x: Tensor) -> Tensor:
        return torch.stack([torch.relu(x), x.clamp(-1, 2.5), x.clamp(min=1), x.clamp(max=-1)])

    result = ttmlir.compile(bound, x)(x)
    torch.testing.assert_close(torch.as_tensor(result), bound(x), equal_nan=True)


def messages(nodes: Tensor, begin: Tensor, end: Tensor, weights: Tensor) -> Tensor:
    """What a layer of a graph network computes along its edges."""
    return torch.cat([nodes[begin], nodes[end]], 1) @ weights


@pytest.mark.usefixtures("spelling")
def test_tables_are_multiplied_before_rows_are_taken() -> None:
    """Where rows are taken more than once."""
    torch.manual_seed(9)
    inputs = torch.randn(6, 33), torch.randint(6, (14,)), torch.randint(6, (14,))
    counts, error = planned_model(messages, *inputs, torch.randn(66, 5))
    assert error < 1e-6
    assert counts["concat"] == 0
    few = inputs[0], inputs[1][:9], inputs[2][:9]
    counts, error = planned_model(messages, *few, torch.randn(66, 5))
    assert error < 1e-6
    assert counts["concat"] == 1


def test_rows_that_a_multiplied_table_does_not_have() -> None:
    """The lookup is named, not the product."""
    b = ProgramBuilder()
    table, weights = b.to_device(b.input((3, 32))), b.to_device(b.input((32, 2)))
    rows = b.to_device(b.input((6,), "i32"))
    found = b.compute("EmbeddingOp", (6, 32), input=rows, weight=table, out_field="output")
    b.output(b.compute("MatmulOp", (6, 2), in0=found, in1=weights))
    given_arrays = normal(3, 32), normal(32, 2)
    places = np.array([0, 2, 1, 0, 2, 2], np.int32)
    [result] = run(b, *given_arrays, places)
    np.testing.assert_allclose(result, given_arrays[0][places] @ given_arrays[1], rtol=1e-5)
    with pytest.raises(ttmlir.runtime.ExecutionError, match=r"EmbeddingOp.*table of 3 rows"):
        run(b, *given_arrays, places + 1)


@pytest.mark.usefixtures("spelling")
def test_rows_are_added_at_places_that_are_not_spelled_out() -> None:
    """What a layer of a graph network gathers at its nodes, several at one of them."""

    def gather(nodes: Tensor, end: Tensor, rows: Tensor) -> Tensor:
        return nodes.index_add(0, end, rows)

    torch.manual_seed(9)
    inputs = torch.randn(5, 3), torch.tensor([4, 0, 2, 4, 4, 1, 0]), torch.randn(7, 3)
    counts, error = planned_model(gather, *inputs)
    assert error < 1e-6
    assert counts["repeat"] == counts["concat"] == 0


def test_results_of_functions_without_arguments_are_constants() -> None:
    """Files of 2026 compute constants in functions, which do nothing that differs between runs."""
    linear, x = nn.Linear(4, 3), torch.ones(2, 4)
    compiled = ttmlir.compile(linear, x, spelling="2026")
    plan = plan_of(prepare(compiled.binary.program(0)))
    assert [step.control for step in plan.steps] == [None] * len(plan.steps)
    torch.testing.assert_close(compiled(x), linear(x).detach())


@pytest.mark.parametrize(("reduction", "function"), [("sum", np.add), ("max", np.maximum)])
def test_rows_that_are_scattered(reduction: str, function: Any) -> None:
    """Rows of two batches, several at one place, and some outside."""
    rng = np.random.default_rng(0)
    rows, source = (rng.normal(size=(2, n, 3)).astype(np.float32) for n in (5, 40))
    index = rng.integers(-1, 6, (2, 1, 40))
    found = KERNELS["rows_scatter"](
        np, rows, index, source, sizes=(5,), windows=(1,), column=False, reduction=reduction
    )
    for batch in range(2):
        inside = (index[batch, 0] >= 0) & (index[batch, 0] < 5)
        function.at(rows[batch], index[batch, 0][inside], source[batch][inside])
    np.testing.assert_allclose(found, rows, rtol=1e-5)
