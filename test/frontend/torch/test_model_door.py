"""`ttmlir.compile` for torch: containers, weights, state, types and what is refused."""

from __future__ import annotations

import copy
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.runtime.errors import InputError

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")


class Scaled(nn.Module):
    """A layer between containers, with an option."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.layer = nn.Linear(7, 3)

    def forward(self, inputs: Any, scale: float = 1.0, *, extra: Any = None) -> Any:
        """A dictionary with a tensor, a nested tuple and what is no tensor."""
        y = self.layer(inputs["x"]) * scale
        if extra is not None:
            y = y + extra
        return {"y": y, "more": (y.sum(), None, 3), "x": inputs["x"]}


@pytest.mark.parametrize("weights", ["constants", "arguments"])
def test_containers(weights: Any) -> None:
    """Arguments and results have the containers of the module."""
    module, inputs = Scaled(), {"x": torch.randn(5, 7)}
    compiled = ttmlir.compile(
        module, inputs, 2.0, example_kwargs={"extra": torch.ones(3)}, weights=weights
    )
    result = compiled(inputs, 2.0, extra=torch.full((3,), 4.0))
    expected = module(inputs, 2.0, extra=torch.full((3,), 4.0))
    assert list(result) == ["y", "more", "x"]
    assert result["more"][1:] == (None, 3)
    torch.testing.assert_close(result["y"], expected["y"].detach())
    torch.testing.assert_close(result["more"][0], expected["more"][0].detach())
    torch.testing.assert_close(result["x"], inputs["x"])


def test_weights_stay_outside_of_the_file() -> None:
    """With weights as arguments they take no room in the file and share the module's memory."""
    module = nn.Linear(300, 200)
    x = torch.randn(2, 300)
    inside, outside = (
        ttmlir.compile(module, x, weights=weights) for weights in ("constants", "arguments")
    )
    assert len(inside.to_bytes()) > 4 * 300 * 200 > 4 * len(outside.to_bytes())
    torch.testing.assert_close(outside(x), module(x).detach())
    with torch.no_grad():
        module.bias += 1
    torch.testing.assert_close(outside(x), module(x).detach())


class Counter(nn.Module):
    """A running sum and the number of calls."""

    def __init__(self) -> None:
        """Start at 0."""
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        """The sum so far."""
        self.total.add_(x)
        self.calls += 1
        return self.total / self.calls


def test_buffers_that_change() -> None:
    """New values of buffers are there in the next call, in each compiled model for itself."""
    x = torch.tensor([1.0, 2.0, 4.0])
    compiled, other = ttmlir.compile(Counter(), x), ttmlir.compile(Counter(), x)
    module = Counter()
    for factor in (1, 2, 3):
        torch.testing.assert_close(compiled(x * factor), module(x * factor))
    torch.testing.assert_close(other(x), x)


@pytest.mark.parametrize("momentum", [None, 0.3])
def test_statistics_of_all_batches(momentum: Any) -> None:
    """Means over as many batches as there have been, and those that forget; read in eval()."""
    module, x = nn.BatchNorm2d(2, momentum=momentum), torch.randn(3, 2, 5, 4)
    compiled = ttmlir.compile(copy.deepcopy(module), x)
    for factor in (1, 2, 3):
        torch.testing.assert_close(compiled(x * factor), module(x * factor))
    for name, buffer in module.named_buffers():
        found = compiled.source.bound[[*dict(module.named_buffers())].index(name)]
        torch.testing.assert_close(torch.as_tensor(found).to(buffer.dtype), buffer)
    torch.testing.assert_close(ttmlir.compile(module.eval(), x)(x), module(x))


def test_functions_and_exported_programs() -> None:
    """Everything that torch has for programs."""

    def function(x: Any, y: Any) -> Any:
        return x @ y, x.sum()

    x, y = torch.randn(3, 5), torch.randn(5, 2)
    compiled = ttmlir.compile(function, x, y)
    torch.testing.assert_close(compiled(x, y), function(x, y))
    exported = torch.export.export(nn.Linear(5, 2), (x,))
    torch.testing.assert_close(
        ttmlir.compile(exported)(x), exported.module()(x), msg="exported program"
    )
    torch.testing.assert_close(ttmlir.compile(exported, x)(x), exported.module()(x))
    with pytest.raises(
        ttmlir.CompilationError, match=r"exported for other .*, for .*size\(\)\[0\] == 3"
    ):
        ttmlir.compile(exported, x[:2])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torch_script_is_refused() -> None:
    """Scripted and traced; torch's own message would be about a missing argument."""
    layer = torch.nn.Linear(2, 3)
    for scripted in (torch.jit.script(layer), torch.jit.trace(layer, torch.ones(1, 2))):
        with pytest.raises(TypeError, match="it takes the module or function that"):
            ttmlir.compile(scripted, torch.ones(1, 2))


def test_examples_may_be_the_same_tensor() -> None:
    """What is the same for the example may differ in a call."""
    zeros = torch.zeros(2, 3)
    compiled = ttmlir.compile(lambda x, y: x[0] - x[1] * y, (zeros, zeros), zeros)
    a, b, c = (torch.randn(2, 3) for _ in range(3))
    torch.testing.assert_close(compiled((a, b), c), a - b * c)


def test_numerics_and_types() -> None:
    """Results have torch's types; the device rounds."""
    x = torch.randn(33, 70, dtype=torch.bfloat16)
    compiled = ttmlir.compile(lambda x: (x.softmax(-1), x > 0, x.argmax(1)), x)
    exact, device = compiled(x), compiled(x, numerics="device")
    assert [t.dtype for t in exact] == [torch.bfloat16, torch.bool, torch.int64]
    torch.testing.assert_close(exact[0], x.softmax(-1), atol=1e-2, rtol=1e-2)
    torch.testing.assert_close(device[0], x.softmax(-1), atol=2e-2, rtol=2e-2)
    assert np.array_equal(exact[2].numpy(), x.argmax(1).numpy())


def test_double_precision_is_narrowed_with_a_warning() -> None:
    """The device keeps 32 bits of float64."""
    x = torch.randn(3, dtype=torch.float64)
    with pytest.warns(UserWarning, match="tensors of f64 are kept as f32 on the device"):
        compiled = ttmlir.compile(nn.Hardtanh(), x)
    assert compiled(x).dtype == torch.float64
    assert "f64" in compiled.text("ttir")


def test_operations_have_places() -> None:
    """Locations are the user's own lines, under torch's names."""
    from ttmlir.mlir.reporting import file_line_col, name_of

    compiled = ttmlir.compile(Scaled(), {"x": torch.randn(5, 7)})
    module: Any = compiled._imported.module
    matmul = next(op for op in module.walk() if op.name == "ttir.matmul")
    place = file_line_col(matmul.location)
    assert place is not None
    assert name_of(matmul.location) == "layer/linear"
    line = Path(place.file).read_text().splitlines()[place.line - 1]
    assert line[place.column - 1 :] == 'y = self.layer(inputs["x"]) * scale'


def _refusal(function: Any, *arguments: Any) -> str:
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(function, *arguments)
    return str(caught.value)


def splitting(x: Any) -> Any:
    """Splits numbers into mantissas and exponents, which is not supported."""
    y = x * 2
    return torch.hash_tensor(y)


def test_modules_of_torch_itself_are_at_the_line_that_compiles_them() -> None:
    """Their frames, and those of functions that torch writes, are in no file of the user."""
    module = nn.Sequential(nn.Linear(3, 2)).eval()
    compiled = ttmlir.compile(module, torch.ones(4, 3))
    places = {
        re.sub(r'"[^"]*/', '"', each.location)
        for each in compiled.estimate("n150").operations
        if "linear" in each.location
    }
    [place] = places
    assert re.fullmatch(r'"linear"\("test_model_door\.py":\d+:5\)', place)


def test_unsupported_operations_are_named_at_their_line() -> None:
    """The message shows the user's own line and what is near."""
    message = _refusal(splitting, torch.randn(5))
    first, line, caret = message.splitlines()
    place = r"test/frontend/torch/test_model_door\.py:\d+:5"
    assert re.match(rf"{place}: error: 'aten\.hash_tensor", first)
    assert first.endswith("this operation is not supported")
    assert line.strip() == "return torch.hash_tensor(y)"
    assert caret.rstrip() == "    ^"


@pytest.mark.parametrize(
    ("function", "dtype", "words"),
    [
        (lambda x: x[x > 0], "float32", "depends on the numbers in a tensor"),
        (lambda x: x.reshape(2, 2)[x[:2] > 0], "float32", "x2 depends on the numbers in a tensor"),
        (lambda x: x.nonzero(), "float32", "depends on the numbers in a tensor"),
        (lambda x: x.view(torch.int16), "float32", "reading the bits of f32 as i16"),
        (lambda x: torch.poisson(x.abs()), "float32", "an unknown number of tries"),
        (lambda x: torch.randint(0, 2**33, (4,)), "float32", "one of at most 2**31, not of"),
        (lambda x: torch.hash_tensor(x), "float32", "this operation is not supported"),
        (lambda x: x.unique(), "float32", "depends on the numbers in a tensor"),
        (lambda x: x @ x.reshape(1, 4) @ x, "float32", "torch cannot trace this: "),
        (lambda x: x if x.sum() > 0 else -x, "float32", "torch cannot trace this: "),
        (lambda x: x[::2].as_strided((2, 2), (1, 1)), "float32", "x.contiguous() before it"),
        (lambda x: x.unsqueeze_(0).sum(), "float32", "an argument gets another shape in place"),
        (lambda x: x.unsqueeze_(0).add_(1), "float32", "an argument gets another shape in place"),
    ],
)
def test_refusals(function: Any, dtype: str, words: str) -> None:
    """Each refusal says what is supported instead."""
    message = _refusal(function, torch.arange(4).to(getattr(torch, dtype)))
    assert words in message, message


def test_the_list_of_what_is_supported() -> None:
    """Every core operation has a state; nearly all can be imported."""
    from ttmlir.frontend.torch import supported

    states = {support.name: support.state for support in supported() if support.core}
    assert len(states) > 180
    assert set(states.values()) == {*("rule", "decomposed", "constant", "seed", "place", "refused")}
    refused = {name.split(".")[1] for name, state in states.items() if state == "refused"}
    assert refused <= {
        *("_adaptive_avg_pool2d_backward", "avg_pool2d_backward", "convolution_backward"),
        *("max_pool2d_with_indices_backward", "nonzero"),
        *("rand", "randn", "randperm", "sym_storage_offset"),
    }


def test_shared_parameters_are_one_constant() -> None:
    """The table of an embedding that is the matrix of the last layer too is stored once."""
    table, head = nn.Embedding(50, 40), nn.Linear(40, 50, bias=False)
    head.weight = table.weight
    x = torch.tensor([1, 49, 7])
    compiled = ttmlir.compile(nn.Sequential(table, head), x)
    torch.testing.assert_close(compiled(x), head(table(x)).detach())
    assert compiled.text("ttir").count("ttir.constant") == 1


def test_exported_programs_with_dynamic_shapes(tmp_path: Path) -> None:
    """Examples say the shapes, or buckets; without them they are not known."""

    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x: Any, *, mask: Any) -> Any:
            return {"y": self.layer(x) * mask}

    batch = torch.export.Dim("batch")
    x, mask = torch.randn(5, 3), torch.rand(5, 1)
    exported = torch.export.export(
        Masked(), (x,), {"mask": mask}, dynamic_shapes={"x": {0: batch}, "mask": {0: batch}}
    )
    expected = exported.module()(x, mask=mask)
    few = ttmlir.compile(exported, x[:2], example_kwargs={"mask": mask[:2]})
    torch.testing.assert_close(few(x[:2], mask=mask[:2])["y"], expected["y"][:2])
    by_size = ttmlir.compile(
        exported,
        x,
        example_kwargs={"mask": mask},
        buckets={"x": {0: (2, 8)}, "mask": {0: (2, 8)}},
    )
    for rows in (1, 5):
        found = by_size(x[:rows], mask=mask[:rows])["y"]
        torch.testing.assert_close(found, expected["y"][:rows])
    message = _refusal(exported)
    assert re.search(r"the shape s\d+x3 is not known; give examples of the arguments", message)
    # Loading a file of torch may run what stands in it.
    path = tmp_path / "model.pt2"
    torch.export.save(exported, path)
    with pytest.raises(InputError, match=r"of torch what is loaded: torch\.export\.load\('"):
        ttmlir.compile(str(path))
    with pytest.raises(InputError, match=r"of torch what is loaded: torch\.export\.load\('"):
        ttmlir.compile(str(path), x)


class _Coded(nn.Module):
    """Names of weights that modules of torch.fx have themselves, one of which is changed."""

    def __init__(self) -> None:
        """Make them."""
        super().__init__()
        self.register_buffer("code", torch.arange(3.0))
        self.graph = nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        """Count, and compute."""
        self.code.add_(1)
        return self.graph(x * self.code)


@pytest.mark.parametrize("weights", ["constants", "arguments"])
def test_names_that_modules_of_torch_have_themselves(weights: Any) -> None:
    """They stay the names of the weights."""
    module, x = _Coded(), torch.randn(5, 3)
    compiled = ttmlir.compile(copy.deepcopy(module), x, weights=weights)
    names = {"graph.weight", "graph.bias"}
    assert {name for name, _ in compiled.source.signature.parameters} == names
    for _ in range(2):
        torch.testing.assert_close(compiled.reference(x), wanted := module(x))
        torch.testing.assert_close(compiled(x), wanted)


def test_wrong_calls() -> None:
    """A call that does not fit what was compiled says so."""
    compiled = ttmlir.compile(Scaled(), {"x": torch.randn(5, 7)}, 2.0)
    message = "^'Scaled' takes inputs as a dictionary of 'x'; got an array$"
    with pytest.raises(InputError, match=message):
        compiled(torch.randn(5, 7), 2.0)
    with pytest.raises(InputError, match=r"compiled for scale = 2\.0, not 3\.0"):
        compiled({"x": torch.randn(5, 7)}, 3.0)
    with pytest.raises(InputError, match=r"float32\[5,6\] instead of float32\[5,7\]"):
        compiled({"x": torch.randn(5, 6)}, 2.0)
    with pytest.raises(InputError, match=r"takes a tensor as inputs\['x'\], not 1"):
        compiled({"x": 1}, 2.0)


class _Router(torch.nn.Module):
    """Converts itself when it is called, as routers of experts do."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.classifier = torch.nn.Linear(5, 3)
        self.dtype = dtype

    def forward(self, x: Any) -> Any:
        self.classifier = self.classifier.to(self.dtype)
        return self.classifier(x.to(self.dtype)).softmax(-1)


def test_module_that_converts_itself_to_what_it_is() -> None:
    """Nothing changes, and torch's own `Module.to` is back afterwards."""
    torch.manual_seed(0)
    before = torch.nn.Module.to
    router, x = _Router(torch.float32), torch.randn(7, 5)
    compiled = ttmlir.compile(router, x)
    assert torch.allclose(compiled(x), router(x), atol=1e-6)
    assert torch.nn.Module.to is before


def test_module_that_converts_itself_to_another_type() -> None:
    """torch cannot trace that; the message is at the line."""
    with pytest.raises(ttmlir.CompilationError, match=r"Couldn't swap Linear.weight") as caught:
        ttmlir.compile(_Router(torch.bfloat16), torch.randn(7, 5))
    assert "self.classifier.to(self.dtype)" in str(caught.value)


NO_ROWS = {
    "sparse": (lambda x: x.to_sparse(), r"a torch\.sparse_coo tensor; give x\.to_dense\(\)"),
    "nested": (
        lambda x: torch.nested.nested_tensor([x[0], x[1]]),
        r"a nested tensor; give x\.to_padded_tensor\(0\)",
    ),
    "quantized": (
        lambda x: torch.quantize_per_tensor(x, 0.5, 0, torch.qint8),
        r"a torch\.qint8 tensor; give x\.dequantize\(\)",
    ),
    "of no numbers": (
        lambda x: x.to("meta"),
        "a tensor of the device 'meta', which has no numbers",
    ),
    "objects": (lambda x: np.empty((2, 3), object), "an array or a number, not an array of obj"),
}
"""What is made of a tensor, and what is said of it."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", NO_ROWS)
def test_tensors_that_are_no_rows_of_numbers(kind: str) -> None:
    """The message names the argument and what to give, for models of torch and of JAX."""
    x = torch.ones(2, 3)
    make, words = NO_ROWS[kind]
    # A nested tensor cannot even be asked for its shape, which JAX's arguments are.
    for example in (x,) if kind == "nested" else (x, jnp.ones((2, 3))):
        compiled = ttmlir.compile(lambda image: image * 2, example)
        with pytest.raises(InputError, match=f"'lambda': image is {words}"):
            compiled(make(x))
        np.testing.assert_array_equal(np.asarray(compiled(x)), np.full((2, 3), 2))


def test_a_function_without_arguments() -> None:
    """Its names say which framework it is of."""
    found = ttmlir.compile(lambda: torch.arange(3) * 2)()
    assert torch.equal(found, torch.tensor([0, 2, 4]))
    np.testing.assert_array_equal(ttmlir.compile(lambda: jnp.arange(3) * 2)(), [0, 2, 4])
