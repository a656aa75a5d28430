"""Models as flax's guides write them: the library has layers and no networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from model_zoo.entry import SEED, Entry, Sample


def _linen(name: str, kind: str, create: Callable[[], tuple[Any, tuple[Any, ...]]]) -> Entry:
    """A module of linen and its arguments, called by `apply` with its variables."""

    def make() -> Sample:
        import jax

        module, args = create()
        variables = module.init(jax.random.key(SEED), *args)
        return Sample(module.apply, (variables, *args))

    return Entry("flax", kind, f"linen {name}", make)


def _normal(*shape: int) -> Any:
    import jax

    return jax.random.normal(jax.random.key(SEED + 1), shape)


def _words(*shape: int) -> Any:
    import jax

    return jax.random.randint(jax.random.key(SEED + 1), shape, 0, 97)


def _mlp() -> tuple[Any, tuple[Any, ...]]:
    from flax import linen

    layers = [linen.Dense(33), linen.relu, linen.LayerNorm(), linen.Dense(7)]
    return linen.Sequential(layers), (_normal(5, 20),)


def _cnn() -> tuple[Any, tuple[Any, ...]]:
    from flax import linen

    def pool(x: Any) -> Any:
        return linen.avg_pool(x, (2, 2), (2, 2))

    layers = [
        linen.Conv(8, (3, 3)),
        linen.relu,
        pool,
        linen.Conv(12, (3, 3)),
        linen.relu,
        pool,
        lambda x: x.reshape(x.shape[0], -1),
        linen.Dense(10),
    ]
    return linen.Sequential(layers), (_normal(2, 20, 20, 1),)


def _resnet() -> tuple[Any, tuple[Any, ...]]:
    from flax import linen

    class Block(linen.Module):
        width: int

        @linen.compact
        def __call__(self, x: Any) -> Any:
            y = linen.Conv(self.width, (3, 3), (2, 2), use_bias=False)(x)
            y = linen.relu(linen.BatchNorm(use_running_average=True)(y))
            y = linen.Conv(self.width, (3, 3), use_bias=False)(y)
            y = linen.BatchNorm(use_running_average=True)(y)
            return linen.relu(y + linen.Conv(self.width, (1, 1), (2, 2), use_bias=False)(x))

    layers = [Block(8), Block(16), lambda x: x.mean((1, 2)), linen.Dense(10)]
    return linen.Sequential(layers), (_normal(2, 30, 30, 3),)


def _transformer() -> tuple[Any, tuple[Any, ...]]:
    from flax import linen

    class Transformer(linen.Module):
        @linen.compact
        def __call__(self, words: Any) -> Any:
            x = linen.Embed(97, 32)(words)
            mask = linen.make_causal_mask(words)
            for _ in range(2):
                y = linen.LayerNorm()(x)
                x = x + linen.MultiHeadDotProductAttention(4)(y, y, mask=mask)
                y = linen.gelu(linen.Dense(48)(linen.LayerNorm()(x)))
                x = x + linen.Dense(32)(y)
            return linen.Dense(97)(linen.LayerNorm()(x))

    return Transformer(), (_words(2, 9),)


def _lstm() -> tuple[Any, tuple[Any, ...]]:
    from flax import linen

    return linen.RNN(linen.OptimizedLSTMCell(24)), (_normal(2, 9, 13),)


def _gru() -> tuple[Any, tuple[Any, ...]]:
    from flax import linen

    first, second = linen.RNN(linen.GRUCell(12)), linen.RNN(linen.GRUCell(12))
    return linen.Bidirectional(first, second), (_normal(2, 9, 13),)


def _nnx_mlp() -> Sample:
    from flax import nnx

    rngs = nnx.Rngs(SEED)
    layers = (nnx.Linear(20, 33, rngs=rngs), nnx.gelu, nnx.LayerNorm(33, rngs=rngs))
    return Sample(nnx.Sequential(*layers, nnx.Linear(33, 7, rngs=rngs)), (_normal(5, 20),))


def _nnx_cnn() -> Sample:
    from flax import nnx

    rngs = nnx.Rngs(SEED)
    model = nnx.Sequential(
        nnx.Conv(1, 8, (3, 3), rngs=rngs),
        nnx.BatchNorm(8, use_running_average=True, rngs=rngs),
        nnx.relu,
        lambda x: nnx.max_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1),
        nnx.Linear(800, 10, rngs=rngs),
    )
    return Sample(model, (_normal(2, 20, 20, 1),))


def _nnx_attention() -> Sample:
    from flax import nnx

    rngs = nnx.Rngs(SEED)
    attention = nnx.MultiHeadAttention(4, 32, decode=False, rngs=rngs)
    return Sample(attention, (_normal(2, 9, 32),))


def _nnx_rnn() -> Sample:
    from flax import nnx

    network = nnx.RNN(nnx.LSTMCell(13, 24, rngs=nnx.Rngs(SEED)))
    # Without it the cell draws a key, which changes the module: JAX cannot trace that.
    carry = _normal(2, 24), _normal(2, 24)
    return Sample(network, (_normal(2, 9, 13),), {"initial_carry": carry})


def _equinox_mlp() -> Sample:
    import equinox
    import jax

    return Sample(equinox.nn.MLP(20, 7, 33, 2, key=jax.random.key(SEED)), (_normal(20),))


def _equinox_attention() -> Sample:
    import equinox
    import jax

    attention = equinox.nn.MultiheadAttention(4, 32, key=jax.random.key(SEED))
    x = _normal(9, 32)
    return Sample(attention, (x, x, x))


def _equinox_cnn() -> Sample:
    import equinox
    import jax

    first, second = jax.random.split(jax.random.key(SEED))
    layers = [
        equinox.nn.Conv2d(3, 8, 3, key=first),
        equinox.nn.Lambda(jax.nn.relu),
        equinox.nn.MaxPool2d(2, 2),
        equinox.nn.Conv2d(8, 5, 3, key=second),
    ]
    return Sample(equinox.nn.Sequential(layers), (_normal(3, 21, 21),))


def _equinox_cell() -> Sample:
    import equinox
    import jax

    cell = equinox.nn.LSTMCell(13, 24, key=jax.random.key(SEED))
    return Sample(cell, (_normal(13), (_normal(24), _normal(24))))


def entries() -> Iterator[Entry]:
    """Those of linen, nnx and equinox."""
    yield _linen("MLP", "dense", _mlp)
    yield _linen("CNN", "image", _cnn)
    yield _linen("ResNet", "image", _resnet)
    yield _linen("Transformer", "decoder", _transformer)
    yield _linen("LSTM", "recurrent", _lstm)
    yield _linen("bidirectional GRU", "recurrent", _gru)
    yield Entry("flax", "dense", "nnx MLP", _nnx_mlp)
    yield Entry("flax", "image", "nnx CNN", _nnx_cnn)
    yield Entry("flax", "attention", "nnx MultiHeadAttention", _nnx_attention)
    yield Entry("flax", "recurrent", "nnx LSTM", _nnx_rnn)
    yield Entry("equinox", "dense", "MLP", _equinox_mlp)
    yield Entry("equinox", "attention", "MultiheadAttention", _equinox_attention)
    yield Entry("equinox", "image", "CNN", _equinox_cnn)
    yield Entry("equinox", "recurrent", "LSTMCell", _equinox_cell)
