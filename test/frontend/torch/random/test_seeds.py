"""Random numbers of torch programs: the generator against JAX's, distributions, and calls."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import ttmlir
from ttmlir.frontend.torch.random.distributions import draw_words
from ttmlir.runtime.errors import InputError

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")


def words_of(seed: int, count: int) -> Any:
    """The words as JAX has them."""
    return np.asarray(jax.random.bits(jax.random.key(seed), (count,)))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("seed", "count"), [(0, 3), (7, 1024), (123456789, 2500)])
def test_words(seed: int, count: int) -> None:
    """Bit for bit those of JAX, as many as asked for."""
    words = draw_words(torch.tensor(seed, dtype=torch.int32), count).numpy()
    np.testing.assert_array_equal(words.view(np.uint32), words_of(seed, count))


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_numbers_of_words(numerics: Any) -> None:
    """Operations take words one after the other; what they make of them is documented."""

    def draw(x: Any) -> Any:
        return (
            torch.rand(3, 5),
            torch.randn(2, 7),
            F.dropout(x, 0.3, training=True),
            torch.randint(-3, 8, (4,)),
            torch.bernoulli(torch.full((9,), 0.25)),
            torch.rand(6, dtype=torch.bfloat16),
        )

    x = torch.arange(1.0, 12.0)
    compiled = ttmlir.compile(draw, x)
    words = words_of(42, 15 + 14 + 11 + 4 + 9 + 6)
    results = compiled(x, seed=42, numerics=numerics)
    parts = np.split(words, np.cumsum([15, 14, 11, 4, 9]))
    uniform = [((part >> 9) * np.float32(2.0**-23)) for part in parts]
    np.testing.assert_array_equal(results[0], uniform[0].reshape(3, 5))
    normal = np.sqrt(2) * jax.scipy.special.erfinv(2 * uniform[1] - 1 + 2.0**-24)
    np.testing.assert_allclose(results[1], np.asarray(normal).reshape(2, 7), rtol=1e-4, atol=1e-5)
    kept = np.where(uniform[2] < np.float32(0.7), x.numpy() / np.float32(0.7), 0)
    np.testing.assert_allclose(results[2], kept, rtol=1e-6)
    np.testing.assert_array_equal(results[3], (parts[3] >> 1) % 11 - np.int64(3))
    np.testing.assert_array_equal(results[4], uniform[4] < 0.25)
    np.testing.assert_array_equal(results[5].float(), (parts[5] >> 24) / 256.0)


def test_first_numbers_are_those_of_jax() -> None:
    """A program's first operation draws what `jax.random` draws with the seed as the key."""
    compiled = ttmlir.compile(lambda x: torch.rand(33, 70) + x, torch.zeros(70))
    expected = jax.random.uniform(jax.random.key(5), (33, 70))
    np.testing.assert_array_equal(compiled(torch.zeros(70), seed=5), expected)


MANY = (40, 500)
STATISTICS: dict[str, tuple[Callable[[], Any], float, float]] = {
    # The mean and the deviation that there should be.
    "rand": (lambda: torch.rand(MANY), 0.5, 12**-0.5),
    "rand_like": (lambda: torch.rand_like(torch.zeros(MANY)), 0.5, 12**-0.5),
    "randn_like": (lambda: torch.randn_like(torch.zeros(MANY)), 0.0, 1.0),
    "normal": (lambda: torch.normal(3.0, 2.0, MANY), 3.0, 2.0),
    "normal of tensors": (lambda: torch.normal(torch.ones(MANY), torch.full(MANY, 0.5)), 1.0, 0.5),
    "uniform_": (lambda: torch.empty(MANY).uniform_(-1, 3), 1.0, 4 * 12**-0.5),
    "exponential_": (lambda: torch.empty(MANY).exponential_(2.0), 0.5, 0.5),
    "geometric_": (lambda: torch.empty(MANY).geometric_(0.25), 4.0, 12**0.5),
    "log_normal_": (lambda: torch.empty(MANY).log_normal_(0.0, 0.5).log(), 0.0, 0.5),
    "cauchy_": (lambda: torch.empty(MANY).cauchy_(1.0, 2.0).clamp(-1, 3).sub(1).sign(), 0.0, 1.0),
    "bernoulli": (lambda: torch.bernoulli(torch.full(MANY, 0.2)), 0.2, 0.4),
    "bernoulli_": (lambda: torch.empty(MANY).bernoulli_(0.2), 0.2, 0.4),
    "randint": (lambda: torch.randint(0, 10, MANY).float(), 4.5, 8.25**0.5),
    "random_": (lambda: torch.empty(MANY).random_(10), 4.5, 8.25**0.5),
    "multinomial": (
        lambda: torch.multinomial(torch.tensor([1.0, 2, 1]), 20000, replacement=True).float(),
        *(1.0, 0.5**0.5),
    ),
    "multinomial without replacement": (
        lambda: torch.multinomial(torch.tensor([[1.0, 2, 1]]).repeat(500, 1), 1).float(),
        *(1.0, 0.5**0.5),
    ),
    "dropout": (lambda: F.dropout(torch.ones(MANY), 0.2, training=True), 1.0, 0.5),
    "alpha_dropout": (lambda: F.alpha_dropout(torch.randn(MANY), 0.2, training=True), 0.0, 1.0),
    "rrelu": (lambda: F.rrelu(-torch.ones(MANY), 0.1, 0.5, training=True), -0.3, 0.4 * 12**-0.5),
    "gumbel": (lambda: -torch.empty(MANY).exponential_().log(), 0.5772, 1.2825),
}


def test_distributions() -> None:
    """Mean and deviation of many numbers."""

    def draw(x: Any) -> Any:
        return [make() for make, _, _ in STATISTICS.values()], x

    compiled = ttmlir.compile(draw, torch.zeros(()))
    results, _ = compiled(torch.zeros(()), seed=1)
    for (name, (_, mean, deviation)), result in zip(STATISTICS.items(), results, strict=True):
        values = result.double()
        near = 4 * deviation / values.numel() ** 0.5
        assert abs(values.mean() - mean) < near, name
        assert abs(values.std(correction=0) / deviation - 1) < 0.08, name


def test_orders_and_choices() -> None:
    """Permutations have each number once, choices without replacement none twice."""
    weights = torch.tensor([[1.0, 0, 3, 4, 5], [1, 1, 1, 1, 0]])
    compiled = ttmlir.compile(lambda w: (torch.randperm(50), torch.multinomial(w, 4)), weights)
    seen: set[tuple[int, ...]] = set()
    for seed in range(5):
        order, chosen = compiled(weights, seed=seed)
        assert sorted(order.tolist()) == list(range(50))
        assert [sorted(row) for row in chosen.tolist()] == [[0, 2, 3, 4], [0, 1, 2, 3]]
        seen.add(tuple(order.tolist()))
    assert len(seen) == 5


class Dropping(nn.Module):
    """Dropout of several kinds, as in training."""

    def __init__(self) -> None:
        """Layers of torch."""
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.AlphaDropout(0.1))
        self.lstm = nn.LSTM(8, 4, num_layers=2, dropout=0.5, batch_first=True)
        self.images = nn.Dropout2d(0.4)

    def forward(self, x: Any) -> Any:
        """Also within attention."""
        y, _ = self.lstm(self.layers(x))
        chance = 0.3 if self.training else 0.0
        y = F.scaled_dot_product_attention(y, y, y, dropout_p=chance, is_causal=True)
        return self.images(y[None])[0]


@pytest.mark.exhaustive
def test_modules_in_training() -> None:
    """Results are those of a reference with the same seed; nothing is random in `eval`."""
    torch.manual_seed(0)
    x = torch.randn(3, 5, 6)
    compiled = ttmlir.compile(Dropping(), x)
    result = compiled(x, seed=3)
    torch.testing.assert_close(result, compiled.reference(x, seed=3), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(result, compiled(x, seed=torch.tensor(3, dtype=torch.int32)))
    torch.testing.assert_close(result, compiled(x, seed=3 + 2**32))
    assert not torch.equal(result, compiled(x, seed=4))
    assert [name for name, _ in compiled.inputs] == ["x", "seed"]
    calm = ttmlir.compile(Dropping().eval(), x)
    assert [name for name, _ in calm.inputs] == ["x"]


def test_checked_functions() -> None:
    """Inverses of random numbers are checked in torch, in an order of their own."""
    x = torch.zeros(3, 3)
    inverted = ttmlir.compile(lambda x: torch.linalg.inv(x + torch.rand(3, 3)), x)
    drawn = ttmlir.compile(lambda x: x + torch.rand(3, 3), x)
    product = inverted(x, seed=3) @ drawn(x, seed=3)
    torch.testing.assert_close(product, torch.eye(3), rtol=1e-4, atol=1e-4)


def test_calls_without_a_seed() -> None:
    """The seed comes from torch's generator, which `manual_seed` sets."""
    x = torch.ones(40)
    compiled = ttmlir.compile(nn.Dropout(0.5), x)
    torch.manual_seed(0)
    first, second = compiled(x), compiled(x)
    assert not torch.equal(first, second)
    torch.testing.assert_close(compiled.reference(x), second)
    torch.manual_seed(0)
    torch.testing.assert_close(compiled(x), first)


def test_generators() -> None:
    """Draws have the numbers of their own generator's seed, whether held or passed."""
    held, example = torch.Generator(), torch.Generator()

    def draw(x: Any, others: Any, generator: Any = None) -> Any:
        first = torch.rand(4, generator=generator)
        return first, torch.randn(4), x + torch.rand(4, generator=held), first + others[0]

    x = torch.zeros(4)
    compiled = ttmlir.compile(draw, x, [x], example)
    given = torch.Generator()
    calls: list[Any] = []
    for seeds in ((1, 2, 3), (1, 4, 5), (6, 2, 5)):
        given.manual_seed(seeds[0]), held.manual_seed(seeds[1]), torch.manual_seed(seeds[2])
        calls.append(compiled(x, others=[x], generator=given))
    first, second, third = calls
    torch.testing.assert_close(compiled.reference(x, [x], given), third)
    same = [[torch.equal(*pair) for pair in zip(first, each, strict=True)] for each in calls[1:]]
    assert same == [[True, False, False, True], [False, False, True, False]]
    assert torch.equal(second[1], third[1])
    # The words of each begin with the first one of the seed that torch draws from it.
    low, high = -(1 << 31), 1 << 31
    [seed] = torch.randint(low, high, (1,), generator=given.manual_seed(6), dtype=torch.int32)
    words = words_of(int(seed) % (1 << 32), 4)
    np.testing.assert_array_equal(third[0], (words >> 9) * np.float32(2**-23))
    for seed in (9, torch.tensor(9, dtype=torch.int32)):
        found = compiled(x, [x], None, seed=seed)
        assert not torch.equal(found[0], found[2])
        np.testing.assert_array_equal(found[0], (words_of(9, 4) >> 9) * np.float32(2**-23))


def test_a_held_generator_alone() -> None:
    """Torch's own stays as it is."""
    held = torch.Generator().manual_seed(7)
    x = torch.ones(3)
    compiled = ttmlir.compile(lambda x: torch.bernoulli(x / 2, generator=held) + x, x)
    before = torch.get_rng_state()
    held.manual_seed(7)
    first = [compiled(x) for _ in range(9)]
    held.manual_seed(7)
    assert all(torch.equal(each, compiled(x)) for each in first)
    assert len({tuple(each.tolist()) for each in first}) > 1
    assert torch.equal(before, torch.get_rng_state())


def test_files(tmp_path: Any) -> None:
    """A file takes the seed by name."""
    x = torch.ones(40)
    compiled = ttmlir.compile(nn.Dropout(0.5), x)
    loaded = ttmlir.load(compiled.save(tmp_path / "dropout.ttnn", golden=True))
    expected = compiled(x, seed=9).numpy()
    np.testing.assert_array_equal(loaded(x.numpy(), seed=9), expected)
    golden = loaded.golden
    np.testing.assert_array_equal(loaded(*golden.args, **golden.kwargs), golden.result)
    with pytest.raises(InputError, match="seed"):
        loaded(x.numpy())


def test_gradients_with_dropout() -> None:
    """The gradient sees the elements that were dropped."""

    def slopes(x: Any) -> Any:
        def loss_of(x: Any) -> Any:
            kept = F.dropout(x, 0.5, training=True)
            return kept.sum(), kept

        return torch.func.grad(loss_of, has_aux=True)(x)

    x = torch.rand(50) + 1
    gradient, kept = ttmlir.compile(slopes, x)(x, seed=2)
    torch.testing.assert_close(gradient, torch.where(kept > 0, 2.0, 0.0))
    assert 10 < (kept > 0).sum() < 40


def test_training_with_dropout() -> None:
    """Each step of training drops others; the seed can be given."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 30), nn.Dropout(0.5), nn.Linear(30, 2))
    x, y = torch.randn(5, 4), torch.randn(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    step = ttmlir.train_step(model, F.mse_loss, optimizer, x, y)
    assert step(x, y, seed=1) == step(x, y, seed=1) != step(x, y, seed=2)
    assert len({float(step(x, y)) for _ in range(4)}) == 4


@pytest.mark.exhaustive
def test_exported_programs() -> None:
    """A program of torch.export gets a seed, too."""
    x = torch.ones(40)
    exported = torch.export.export(nn.Dropout(0.5), (x,))
    compiled = ttmlir.compile(exported)
    torch.testing.assert_close(compiled(x, seed=2), ttmlir.compile(nn.Dropout(0.5), x)(x, seed=2))


def test_generators_of_calls(tmp_path: Path) -> None:
    """Lists hold a seed for each; others are refused in words; files hold no generator."""

    def draw(x: Any, g: Any, h: Any) -> Any:
        return x + torch.rand(2, generator=g) + torch.rand(2, generator=h) * 10

    x, g, h = torch.zeros(2), torch.Generator(), torch.Generator()
    compiled = ttmlir.compile(draw, x, g, h)
    wanted = compiled(x, g, h, seed=torch.tensor([3, 4], dtype=torch.int32))
    torch.testing.assert_close(compiled(x, g, h, seed=[3, 4]), wanted)
    torch.testing.assert_close(compiled(x, g, h, seed=(3, 4)), wanted)
    for seed in ([3], [3, 4, 5], ["a", 3], 2.5, torch.zeros(3)):
        with pytest.raises(InputError, match=r"seed is .* list of 2 whole numbers"):
            compiled(x, g, h, seed=seed)
    with pytest.raises(InputError, match="not 3; call"):
        compiled(x, g, 3)
    compiled.save(path := tmp_path / "draw.ttnn")
    assert b"torch._C.Generator" not in path.read_bytes()
    seed = torch.tensor([3, 4], dtype=torch.int32)
    loaded = ttmlir.load(path, framework="torch")
    torch.testing.assert_close(loaded(x, torch.Generator(), None, seed=seed.numpy()), wanted)
    g.manual_seed(5), h.manual_seed(6)
    drawn = loaded(x, g, h)
    assert not torch.equal(loaded(x, g, h), drawn)
    g.manual_seed(5), h.manual_seed(6)
    torch.testing.assert_close(compiled(x, g, h), drawn)
    with pytest.raises(InputError, match=r"'draw': random numbers come from a .* not 3"):
        loaded(x, g, 3)


def test_a_seed_of_the_model() -> None:
    """A model that takes a seed itself has to call it otherwise."""

    def draw(x: Any, seed: Any) -> Any:
        return torch.rand(3) + x + seed

    with pytest.raises(ttmlir.CompilationError, match=r"called with seed=\.\.\., which is an"):
        ttmlir.compile(draw, torch.ones(3), example_kwargs={"seed": torch.ones(3)})


def test_each_test_starts_with_a_seed_of_its_own() -> None:
    """Not the one that torch starts with, which is another in each process."""
    assert torch.initial_seed() < 2**32
