"""`torch.compile(model, backend="ttmlir")`: inference, training, graph breaks, shapes, options.

Expected values are what torch computes without it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import pytest

import ttmlir
from ttmlir.compiler import find_level
from ttmlir.frontend.torch import dynamo

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")

pytestmark = [
    # torch's own, from within its compiler.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:isinstance.*is deprecated:FutureWarning"),
]


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Leave nothing of a test to the next one."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def network() -> Any:
    """Three kinds of layers."""
    return nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.LayerNorm(7), nn.Linear(7, 3))


def test_torch_finds_the_backend() -> None:
    """By the package's entry point, and by its name once it is imported."""
    assert dynamo.NAME in torch._dynamo.list_backends(())
    [entry] = entry_points(group="torch_dynamo_backends", name="ttmlir")
    assert entry.load() is dynamo.compile_graph


def test_a_module_with_several_shapes() -> None:
    """One program for each shape, also where torch takes sizes for unknown ones."""
    torch.manual_seed(0)
    module = network().eval()
    compiled = torch.compile(module, backend="ttmlir")
    with torch.no_grad():
        for rows in (4, 2, 3, 4):
            x = torch.randn(rows, 5)
            torch.testing.assert_close(compiled(x), module(x), atol=1e-5, rtol=1e-5)


def test_queries_that_share_keys() -> None:
    """Attention with fewer heads of keys and values, as language models have it, and gradients."""
    torch.manual_seed(1)

    def attend(q: Any, k: Any, v: Any) -> Any:
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(q, k, v, is_causal=True, enable_gqa=True)

    given = [torch.randn(2, heads, 5, 6, requires_grad=True) for heads in (6, 2, 2)]
    expected = attend(*given)
    expected.square().sum().backward()
    gradients = [each.grad.clone() for each in given]
    for each in given:
        each.grad = None
    found = torch.compile(attend, backend="ttmlir")(*given)
    found.square().sum().backward()
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for each, gradient in zip(given, gradients, strict=True):
        torch.testing.assert_close(each.grad, gradient, atol=1e-5, rtol=1e-4)


def test_queries_that_see_no_key() -> None:
    """Padding at the front of a text: its rows are 0, and so are their gradients."""
    torch.manual_seed(1)
    mask = torch.ones(2, 1, 5, 5, dtype=torch.bool).tril()
    mask[1, :, :2] = False

    def attend(q: Any, k: Any, v: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    given = [torch.randn(2, 3, 5, 6, requires_grad=True) for _ in range(3)]
    expected = attend(*given)
    assert not expected[1, :, :2].any()
    wanted = torch.autograd.grad(expected.square().sum(), given)
    compiled = torch.compile(attend, backend="ttmlir")
    with torch.no_grad():
        torch.testing.assert_close(compiled(*given), expected, atol=1e-5, rtol=1e-5)
    found = torch.autograd.grad(compiled(*given).square().sum(), given)
    for each, gradient in zip(found, wanted, strict=True):
        torch.testing.assert_close(each, gradient, atol=1e-5, rtol=1e-4)


def test_training() -> None:
    """Three steps of Adam arrive at the same weights."""
    torch.manual_seed(0)
    mine, theirs = network(), network()
    theirs.load_state_dict(mine.state_dict())
    inputs = torch.randn(3, 4, 5)
    for model, function in ((mine, torch.compile(mine, backend="ttmlir")), (theirs, theirs)):
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        for x in inputs:
            optimizer.zero_grad()
            function(x).square().mean().backward()
            optimizer.step()
    for name, weight in theirs.state_dict().items():
        torch.testing.assert_close(mine.state_dict()[name], weight, atol=1e-5, rtol=1e-4)


def test_graph_breaks_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the user, why, and what becomes of it; the results are right."""

    def function(x: Any) -> Any:
        y = torch.tanh(x) * 2
        print("between")
        return y.sum(1), x + 1

    x = torch.randn(3, 5)
    compiled = torch.compile(function, backend="ttmlir")
    line = function.__code__.co_firstlineno + 2
    message = rf"test_dynamo\.py:{line}: torch\.compile breaks the graph here; .*`print`"
    with pytest.warns(UserWarning, match=message):
        got = compiled(x)
    for mine, theirs in zip(got, function(x), strict=True):
        torch.testing.assert_close(mine, theirs)
    assert capsys.readouterr().out == "between\n" * 2


def test_arguments_that_are_changed_in_place() -> None:
    """As in torch."""

    def function(x: Any) -> Any:
        x.mul_(2)
        return x.sum()

    mine = torch.randn(3, 5)
    theirs = copy.deepcopy(mine)
    torch.testing.assert_close(torch.compile(function, backend="ttmlir")(mine), function(theirs))
    torch.testing.assert_close(mine, theirs)


def test_options() -> None:
    """Those of `ttmlir.compile`; others are named."""
    x = torch.full((2, 3), 1.001)
    options = {"numerics": "device", "board": "n150"}
    rounded = torch.compile(lambda x: x.bfloat16() * 3, backend="ttmlir", options=options)(x)
    assert rounded.dtype == torch.bfloat16
    with pytest.raises(Exception, match=r"options of the backend are numerics, .*, not 'fast'"):
        torch.compile(lambda x: x * 3, backend="ttmlir", options={"fast": True})(x)


@pytest.mark.parametrize(
    ("options", "words", "level"),
    [
        ({}, "", 3),
        ({"optimization_level": 0}, "optimization-level=0", 0),
        ({"spelling": "2024", "options": "enable-const-eval=false"}, "spelling=2024", 0),
    ],
)
def test_levels_and_spellings(
    options: dict[str, Any], words: str, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `ttmlir.compile`, of which all take the same defaults."""
    found: list[Any] = []
    compile_once = dynamo._Graph._compile

    def keep(graph: Any, inputs: Any) -> Any:
        found.append(compile_once(graph, inputs))
        return found[-1]

    monkeypatch.setattr(dynamo._Graph, "_compile", keep)
    x = torch.randn(2, 5)
    result = torch.compile(torch.tanh, backend="ttmlir", options=options)(x)
    torch.testing.assert_close(result, torch.tanh(x))
    assert words in found[0]._options
    assert find_level(found[0]._options) == level
    same = ttmlir.compile(torch.tanh, x, **options)
    assert ("#tt.layout" in found[0].text("ttnn")) == ("#tt.layout" in same.text("ttnn"))


def test_levels_without_a_meaning() -> None:
    """As in `ttmlir.compile`."""
    with pytest.raises(ValueError, match=r"optimization_level is 0, 1, 2 or 3, not 9"):
        dynamo.compile_graph(None, [], options={"optimization_level": 9})


def test_statistics_that_are_not_those_of_the_batch() -> None:
    """The gradient of a batch norm in eval(), whose statistics torch keeps as nothing."""
    module = nn.BatchNorm1d(3).eval()
    module.running_mean.copy_(torch.randn(3))
    x = torch.randn(4, 3)
    torch.compile(module, backend="ttmlir")(x).square().sum().backward()
    found = module.weight.grad.clone()
    module.zero_grad()
    module(x).square().sum().backward()
    torch.testing.assert_close(found, module.weight.grad, atol=1e-5, rtol=1e-5)


def test_products_that_are_added_in_one_step() -> None:
    """Which torch.compile makes of optimizers whose rates are tensors."""
    fma = import_module("torch._inductor.inductor_prims").fma
    a, b, c = torch.randn(3, 2, 5)
    torch.testing.assert_close(ttmlir.compile(fma, a, b[:1], c)(a, b[:1], c), a * b[:1] + c)


def test_refusals_are_at_the_users_line() -> None:
    """As those of `ttmlir.compile`."""

    def function(x: Any) -> Any:
        return torch.hash_tensor(x.sin())

    line = function.__code__.co_firstlineno + 1
    with pytest.raises(ttmlir.CompilationError, match=rf"test_dynamo\.py:{line}:.*hash_tensor"):
        torch.compile(function, backend="ttmlir")(torch.randn(3))


def test_double_precision_is_narrowed_with_a_warning() -> None:
    """Once, when the program is made."""
    x = torch.randn(3, dtype=torch.float64)
    with pytest.warns(UserWarning, match=r"torch\.compile: tensors of f64 are kept as f32"):
        torch.compile(lambda x: x * 2, backend="ttmlir")(x)


class Shifted(nn.Module):
    """A layer and a buffer, of which the last argument is no weight."""

    def __init__(self) -> None:
        """Make them."""
        super().__init__()
        self.layer = nn.Linear(5, 3)
        self.register_buffer("shift", torch.randn(3))

    def forward(self, x: Any, scale: Any) -> Any:
        """Compute."""
        return torch.tanh(self.layer(x)) * scale + self.shift


def test_weights_that_are_constants() -> None:
    """Programs are passed arguments alone, and made anew for other weights or shapes."""
    torch.manual_seed(1)
    module, x, scale = Shifted().eval(), torch.randn(4, 5), torch.randn(3)
    programs: list[dict[Any, Any]] = []
    compiled = torch.compile(module, backend="ttmlir", options={"weights": "constants"})

    def check(x: Any) -> None:
        torch.testing.assert_close(compiled(x, scale), module(x, scale), atol=1e-5, rtol=1e-5)

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        compile_once = dynamo._Graph._compile

        def count(graph: Any, inputs: Any) -> Any:
            program = compile_once(graph, inputs)
            programs.append({"inputs": program.source.input_names})
            return program

        patch.setattr(dynamo._Graph, "_compile", count)
        check(x)
        check(x + 1)
        assert [len(each["inputs"]) for each in programs] == [2]
        module.layer.weight.mul_(2)
        check(x)
        module.shift = torch.randn(3)
        check(x)
        check(x[:2])
        assert len(programs) >= 4


def test_weights_of_gradients_are_arguments() -> None:
    """An optimizer changes them between calls."""
    torch.manual_seed(2)
    module, x, scale = Shifted(), torch.randn(4, 5), torch.randn(3)
    compiled = torch.compile(module, backend="ttmlir", options={"weights": "constants"})
    compiled(x, scale).sum().backward()
    gradient = module.layer.weight.grad.clone()
    module.zero_grad()
    module(x, scale).sum().backward()
    torch.testing.assert_close(gradient, module.layer.weight.grad, atol=1e-5, rtol=1e-5)


def test_weights_are_one_of_two_things() -> None:
    """Others are named."""
    message = "weights are 'arguments' or 'constants', not 'frozen'"
    with pytest.raises(ValueError, match=message):
        dynamo.compile_graph(None, [], options={"weights": "frozen"})


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[int, ...]]]:
    """The shapes of the arguments of all programs that are made."""
    made: list[list[tuple[int, ...]]] = []

    def compiled(*args: Any, **kwargs: Any) -> Any:
        model = ttmlir.frontend.compiled.CompiledModel(*args, **kwargs)
        made.append([desc.shape for _, desc in model.inputs])
        return model

    monkeypatch.setattr(dynamo, "CompiledModel", compiled)
    return made


def masked(x: Any, mask: Any) -> Any:
    """Results of the argument's size, of half of it and others, and the size itself."""
    rows = x * mask
    halves = torch.nn.functional.avg_pool1d(rows, 3, 2, 1)
    return rows, rows.sum(1), rows[:, 1:], halves, x.shape[1], mask > 0


def test_buckets(shapes: list[Any]) -> None:
    """One program for each, and for each size that is larger."""
    options = {"buckets": ttmlir.Buckets(16, 5)}
    compiled = torch.compile(masked, backend="ttmlir", options=options)
    with torch.no_grad():
        for size in (7, 3, 9, 20, 5):
            given = torch.randn(2, size), torch.arange(size).expand(2, size).clone() % 3
            for found, wanted in zip(compiled(*given), masked(*given), strict=True):
                torch.testing.assert_close(found, wanted)
    assert [inputs[0] for inputs in shapes] == [(2, 7), (2, 5), (2, 16), (2, 20)]


def test_what_buckets_leave_alone(shapes: list[Any]) -> None:
    """Joined dimensions of results, of which no part is padding, and graphs with gradients."""
    options = {"buckets": (8, 16)}
    joined = torch.compile(
        lambda x: (x * 2).reshape(-1), backend="ttmlir", dynamic=True, options=options
    )
    with torch.no_grad():
        for size in (3, 5):
            x = torch.randn(2, size)
            torch.testing.assert_close(joined(x), x.reshape(-1) * 2)
    squared = torch.compile(lambda x: x.square(), backend="ttmlir", dynamic=True, options=options)
    x = torch.randn(6, requires_grad=True)
    squared(x).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x)
    assert {*shapes[0], *shapes[1]} == {(2, 3), (2, 5)}
    assert {*shapes[2], *shapes[3]} == {(6,)}


@pytest.mark.filterwarnings("ignore:.*tensors of f64 are kept as f32:UserWarning")
def test_a_float_that_changes() -> None:
    """torch makes a tensor of it, which is converted to the type of the others."""
    scaled = torch.compile(lambda x, factor: x * factor, backend="ttmlir")
    x = torch.arange(3.0)
    for factor in (1.5, 2.5):
        torch.testing.assert_close(scaled(x, factor), x * factor)


@pytest.mark.parametrize(
    ("buckets", "message"),
    [
        (16, r"buckets are sizes, such as \(16, 64\), not 16"),
        ((16, "a"), r"buckets are sizes, such as \(16, 64\), not \(16, 'a'\)"),
        ((16,), "buckets are two or more sizes above 0, got 16"),
    ],
)
def test_buckets_are_sizes(buckets: Any, message: str) -> None:
    """Others are named."""
    with pytest.raises(ValueError, match=message):
        dynamo.compile_graph(None, [], options={"buckets": buckets})
