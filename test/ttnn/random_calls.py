"""Random calls of ttnn's operations, valid and not, as lines of a transcript.

    python test/ttnn/random_calls.py --calls 5000 > CALLS

The same seed gives the same lines. What the real ttnn answers to them is written into the
transcript by `test/support/running/ttnn_answers.py`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator

UNARY = """abs acos acosh alt_complex_rotate90 asin asinh atan atanh bitwise_not cbrt ceil cos cosh
deg2rad digamma eqz erf erfc erfinv exp exp2 expm1 floor frac gelu gez gtz hardmish hardsigmoid
hardswish i0 i1 identity isfinite isinf isnan isneginf isposinf lez lgamma log log10 log1p log2
log_sigmoid logical_not ltz mish multigammaln neg nez rad2deg reciprocal relu relu6 round rsqrt
sigmoid sigmoid_accurate sign signbit silu sin sinh sqrt square softsign swish tan tanh tanhshrink
trunc""".split()
BINARY = """add atan2 bias_gelu bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
bitwise_xor div div_no_nan divide eq floor_div fmod gcd ge gt hypot isclose lcm ldexp le logaddexp
logaddexp2 logical_and logical_left_shift logical_or logical_right_shift logical_xor lt maximum
minimum mul multiply ne nextafter outer pow remainder rsub squared_difference sub subtract
xlogy""".split()
IN_PLACE = """add_ bias_gelu_ div_ divide_ eq_ ge_ gt_ ldexp_ le_ logaddexp2_ logaddexp_
logical_and_ logical_or_ logical_xor_ lt_ mul_ multiply_ ne_ rsub_ squared_difference_ sub_
subtract_""".split()
REDUCTIONS = "sum mean max min std var prod argmax".split()

FLOATS = ["ttnn.bfloat16", "ttnn.float32", "ttnn.bfloat8_b"]
INTEGERS = ["ttnn.int32", "ttnn.uint32", "ttnn.uint16", "ttnn.uint8"]
DTYPES = ["ttnn.bfloat16"] * 4 + ["ttnn.float32"] * 3 + ["ttnn.bfloat8_b", "ttnn.bfloat4_b"]
DTYPES += ["ttnn.int32"] * 2 + ["ttnn.uint32", "ttnn.uint16", "ttnn.uint8"]
SHAPES = [(32,), (7,), (33, 70), (64, 32), (1, 45), (2, 33, 70), (3, 1, 64), (1, 1, 32, 32)]
SHAPES += [(1, 2, 33, 70), (2, 3, 64, 32), (2, 1, 5, 7), (1, 1, 1, 96), (2, 1, 3, 32, 40)]
MEMORIES = ["ttnn.DRAM_MEMORY_CONFIG", "ttnn.L1_MEMORY_CONFIG"]


class Calls:
    """Draws arguments and calls."""

    def __init__(self, seed: int) -> None:
        """Begin at a seed."""
        self.random = random.Random(seed)

    def pick(self, values: list[str]) -> str:
        """One of the values."""
        return self.random.choice(values)

    def shape(self) -> tuple[int, ...]:
        """A shape of one to five dimensions."""
        return self.random.choice(SHAPES)

    def rarely(self, share: float = 0.12) -> bool:
        """True in so many of the cases."""
        return self.random.random() < share

    def dtype(self) -> str:
        """A data type, bfloat16 more often than others."""
        return self.pick(DTYPES)

    def tensor(
        self,
        shape: tuple[int, ...],
        dtype: str = "",
        layout: str = "",
        *,
        anywhere: bool = False,
    ) -> str:
        """A tensor, mostly of tiles in DRAM of the device; rarely on the host if `anywhere`.

        Of operations that compute, tensors on the host end the process of the real ttnn.
        """
        facts = [spell(shape), dtype or self.dtype()]
        if layout or self.rarely(0.2):
            facts.append(f"layout={layout or 'ttnn.ROW_MAJOR_LAYOUT'}")
        if self.rarely(0.15):
            facts.append("memory=ttnn.L1_MEMORY_CONFIG")
        elif anywhere and self.rarely(0.1):
            facts.append("host=True")
        return f"tensor({', '.join(facts)})"

    def indices(self, shape: tuple[int, ...]) -> str:
        """A tensor of indices, mostly of unsigned integers in rows."""
        dtype = self.pick(["ttnn.uint32", "ttnn.uint32", "ttnn.uint16", "ttnn.int32"])
        layout = self.pick(["ttnn.ROW_MAJOR_LAYOUT", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"])
        return f"tensor({spell(shape)}, {dtype}, {layout})"

    def number(self) -> str:
        """A number."""
        return self.pick(["2", "0.5", "-1.5", "3", "0", "7.0", "True"])

    def tail(self, dtype: bool = False) -> list[str]:
        """Keywords that most operations take."""
        found: list[str] = []
        if self.rarely(0.25):
            found.append(f"memory_config={self.pick(MEMORIES)}")
        if dtype and self.rarely(0.2):
            found.append(f"dtype={self.dtype()}")
        if self.rarely(0.02):
            found.append("colour=3")
        return found

    def other(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that mostly broadcasts with another."""
        drawn = self.random.random()
        if drawn < 0.5:
            return shape
        if drawn < 0.75:
            return tuple(1 if self.rarely(0.5) else extent for extent in shape)
        if drawn < 0.85:
            return shape[self.random.randrange(len(shape)) :]
        return self.shape()

    def dim(self, rank: int) -> str:
        """A dimension, rarely none of the tensor's."""
        return str(rank + 1 if self.rarely(0.06) else self.random.randrange(-rank, rank))

    def unary(self, name: str) -> str:
        """An operation of one operand."""
        return call(name, self.tensor(self.shape()), *self.tail())

    def binary(self, name: str) -> str:
        """An operation of two operands."""
        shape = self.shape()
        dtype = self.dtype()
        first = self.tensor(shape, dtype)
        if self.rarely(0.2):
            second = self.number()
        else:
            second = self.tensor(self.other(shape), "" if self.rarely(0.3) else dtype)
        tail = [] if name.endswith("_") else self.tail(dtype=True)
        return call(name, first, second, *tail)

    def reduction(self, name: str) -> str:
        """A reduction."""
        shape = self.shape()
        rank = len(shape)
        arguments = [self.tensor(shape)]
        drawn = self.random.random()
        if drawn < 0.6:
            arguments.append(f"dim={self.dim(rank)}")
        elif drawn < 0.75:
            arguments.append(f"dim=[{self.dim(rank)}, {self.dim(rank)}]")
        if self.rarely(0.4):
            arguments.append(f"keepdim={self.rarely(0.7)}")
        if self.rarely(0.1) and name not in ("prod", "argmax"):
            arguments.append("scalar=0.5")
        return call(name, *arguments, *self.tail())


def spell(shape: tuple[int, ...] | list[int]) -> str:
    """A shape as Python's text."""
    return f"[{', '.join(map(str, shape))}]"


def call(name: str, *arguments: str) -> str:
    """A call of an operation of ttnn."""
    return f"ttnn.{name}({', '.join(arguments)})"


Draw = Callable[[Calls], str]


def _parameter(name: str, *values: str) -> Draw:
    def draw(calls: Calls) -> str:
        given = [value for value in (calls.pick([*values]),) if value]
        return call(name, calls.tensor(calls.shape()), *given, *calls.tail())

    return draw


def _ternary(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape, dtype = calls.shape(), calls.dtype()
        operands = [calls.tensor(shape, dtype)]
        for _ in range(2):
            same = "" if calls.rarely(0.2) else dtype
            number = calls.rarely(0.3) and name in ("where", "lerp", "mac")
            operands.append(calls.number() if number else calls.tensor(calls.other(shape), same))
        value = [f"value={calls.number()}"] if name in ("addcmul", "addcdiv") else []
        return call(name, *operands, *value, *calls.tail())

    return draw


def _matmul(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        m, k, n = (calls.random.choice([32, 33, 64, 70, 1]) for _ in range(3))
        batch = calls.random.choice([(), (1, 1), (2, 3), (2,), (1, 2)])
        right = calls.random.choice([batch, (), tuple(1 for _ in batch)])
        flags = [calls.rarely(0.2), calls.rarely(0.2)]
        first = (*batch, *((k, m) if flags[0] else (m, k)))
        inner = k + 1 if calls.rarely(0.05) else k
        second = (*right, *((n, inner) if flags[1] else (inner, n)))
        dtype = calls.dtype()
        arguments = [calls.tensor(first, dtype)]
        arguments.append(calls.tensor(second, "" if calls.rarely(0.3) else dtype))
        if name == "linear" and calls.rarely(0.7):
            bias = calls.random.choice([(1, n), (n,), (m, n), (1, 1, 1, n), (n + 1,)])
            arguments.append(f"bias={calls.tensor(bias, dtype)}")
        for flag, word in zip(flags, ("transpose_a", "transpose_b"), strict=True):
            arguments += [f"{word}=True"] if flag else []
        if calls.rarely(0.15):
            arguments.append(f"activation='{calls.pick(['relu', 'gelu', 'silu', 'wave'])}'")
        return call(name, *arguments, *calls.tail(dtype=True))

    return draw


def _reshape(calls: Calls) -> str:
    shape = calls.shape()
    size = 1
    for extent in shape:
        size *= extent
    target = calls.random.choice(
        [
            *([size], [1, size], [-1], [1, 1, *shape], [*shape, 1], [-1, shape[-1]]),
            *([size // 2, 2], [3, -1], [1, -1, shape[-1]], [*reversed(shape)]),
        ]
    )
    name = calls.pick(["reshape", "reshape", "view", "experimental.view"])
    return call(
        name,
        calls.tensor(shape, anywhere=True),
        spell(target),
        *(calls.tail() if name == "reshape" else ()),
    )


def _permute(calls: Calls) -> str:
    shape = calls.shape()
    order = [*range(len(shape))]
    calls.random.shuffle(order)
    if calls.rarely(0.08):
        order = order[1:] or [1]
    return call("permute", calls.tensor(shape, anywhere=True), spell(order), *calls.tail())


def _transpose(calls: Calls) -> str:
    shape = calls.shape()
    rank = len(shape)
    return call(
        "transpose",
        calls.tensor(shape, anywhere=True),
        calls.dim(rank),
        calls.dim(rank),
        *calls.tail(),
    )


def _concat(calls: Calls) -> str:
    shape, dtype = calls.shape(), calls.dtype()
    place = calls.random.randrange(len(shape))
    layout = calls.pick(["ttnn.TILE_LAYOUT", "ttnn.TILE_LAYOUT", "ttnn.ROW_MAJOR_LAYOUT"])
    parts: list[str] = []
    for _ in range(calls.random.choice([1, 2, 2, 3])):
        extents = [*shape]
        extents[place] = calls.random.choice([1, 5, 32, shape[place]])
        if calls.rarely(0.04):
            extents[place - 1] += 1
        same = "" if calls.rarely(0.06) else layout
        parts.append(calls.tensor(tuple(extents), dtype, same))
    dim = calls.dim(len(shape)) if calls.rarely() else place
    return call("concat", f"[{', '.join(parts)}]", f"dim={dim}", *calls.tail())


def _stack(calls: Calls) -> str:
    shape, dtype = calls.shape(), calls.dtype()
    parts = [calls.tensor(shape, dtype) for _ in range(calls.random.choice([1, 2, 3]))]
    return call("stack", f"[{', '.join(parts)}]", f"dim={calls.dim(len(shape) + 1)}")


def _slice(calls: Calls) -> str:
    shape = calls.shape()
    starts = [calls.random.choice([0, 0, extent // 2, 1 if extent > 1 else 0]) for extent in shape]
    ends = [
        calls.random.choice([extent, extent, -1, start + 1])
        for extent, start in zip(shape, starts, strict=True)
    ]
    steps = [calls.random.choice([1, 1, 1, 2]) for _ in shape]
    given = [spell(starts), spell(ends)]
    if calls.rarely(0.5):
        given.append(spell(steps))
    if calls.rarely(0.05):
        given[1] = spell([extent + 5 for extent in shape])
    return call("slice", calls.tensor(shape, anywhere=True), *given, *calls.tail())


def _index(calls: Calls) -> str:
    shape = calls.shape()
    parts: list[str] = []
    for extent in shape:
        parts.append(
            calls.pick([":", ":", f"{extent // 2}:", f":{max(extent // 2, 1)}", "0", "-1", "::2"])
        )
    return f"{calls.tensor(shape)}[{', '.join(parts[: calls.random.randrange(1, len(parts) + 1)])}]"


def _pad(calls: Calls) -> str:
    shape = calls.shape()
    count = len(shape) - 1 if calls.rarely(0.05) else len(shape)
    front = calls.rarely(0.3)
    amounts = [
        (calls.random.choice([0, 0, 1]) if front else 0, calls.random.choice([0, 0, 3, 32]))
        for _ in range(count)
    ]
    value = calls.pick(["0.0", "value=1.5", "2", ""])
    return call(
        "pad", calls.tensor(shape), str(amounts), *([value] if value else []), *calls.tail()
    )


def _repeat(calls: Calls) -> str:
    shape = calls.shape()
    counts = [calls.random.choice([1, 1, 2, 3]) for _ in shape]
    if calls.rarely(0.1):
        counts = [2, *counts]
    if calls.rarely(0.05):
        counts = counts[1:]
    return call("repeat", calls.tensor(shape, anywhere=True), spell(counts), *calls.tail())


def _interleave(calls: Calls) -> str:
    shape = calls.shape()
    count = calls.pick(["1", "2", "3"])
    return call(
        "repeat_interleave",
        calls.tensor(shape, anywhere=True),
        count,
        calls.dim(len(shape)),
        *calls.tail(),
    )


def _expand(calls: Calls) -> str:
    shape = calls.shape()
    wide = [calls.random.choice([2, 3, 64]) if extent == 1 else extent for extent in shape]
    target = calls.random.choice([wide, [2, *wide], [-1] * len(shape), [*wide[:-1], wide[-1] + 1]])
    name = calls.pick(["expand", "expand", "experimental.broadcast_to"])
    return call(name, calls.tensor(shape, anywhere=True), spell(target), *calls.tail())


def _with_dim(name: str, *values: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape = calls.shape()
        given = [calls.pick([*values])] if values else []
        return call(name, calls.tensor(shape), *given, calls.dim(len(shape)), *calls.tail())

    return draw


def _parts(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape = calls.shape()
        count = calls.pick(["1", "2", "3", "32"])
        if name == "split" and calls.rarely(0.3):
            count = spell([1, shape[-1] - 1])
        return call(name, calls.tensor(shape), count, calls.dim(len(shape)))

    return draw


def _softmax(calls: Calls) -> str:
    shape = calls.shape()
    given = [calls.pick(["dim=-1", "dim=-1", f"dim={calls.dim(len(shape))}", ""])]
    stable = calls.pick(["", "", "numeric_stable=True", "numeric_stable=False"])
    return call("softmax", calls.tensor(shape), *filter(None, [*given, stable]), *calls.tail())


def _norm(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape, dtype = calls.shape(), calls.pick(DTYPES)
        arguments = [calls.tensor(shape, dtype)]
        width = shape[-1]
        weights = [
            (width,),
            (1, width),
            (1, 1, 1, width),
            (1, 1, width // 32 or 1, 32),
            (width + 1,),
        ]
        for word in ("weight", "bias"):
            if calls.rarely(0.5):
                arguments.append(f"{word}={calls.tensor(calls.random.choice(weights), dtype)}")
        if calls.rarely(0.2):
            arguments.append(f"residual_input_tensor={calls.tensor(shape, dtype)}")
        if calls.rarely(0.4):
            arguments.append("epsilon=1e-5")
        return call(name, *arguments, *calls.tail())

    return draw


def _embedding(calls: Calls) -> str:
    rows, width = calls.random.choice([10, 64]), calls.random.choice([32, 64, 40])
    indices = calls.indices(calls.random.choice([(1, 5), (2, 32), (7,), (1, 1, 2, 32), (2, 3, 4)]))
    table = calls.tensor(
        (rows, width),
        calls.pick(["ttnn.bfloat16", "ttnn.bfloat16", "ttnn.float32", "ttnn.bfloat8_b"]),
        calls.pick(["ttnn.ROW_MAJOR_LAYOUT", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"]),
    )
    layout = calls.pick(["", "layout=ttnn.TILE_LAYOUT", "layout=ttnn.ROW_MAJOR_LAYOUT"])
    return call("embedding", indices, table, *filter(None, [layout]), *calls.tail(dtype=True))


def _pool(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        n, h, w, c = (
            1,
            calls.random.choice([8, 9, 16]),
            calls.random.choice([8, 12]),
            calls.random.choice([16, 32, 40]),
        )
        rows = n * h * w + (1 if calls.rarely(0.05) else 0)
        dtype = calls.pick(
            ["ttnn.bfloat16", "ttnn.bfloat16", "ttnn.bfloat16", "ttnn.float32", "ttnn.bfloat8_b"]
        )
        x = calls.tensor(
            (1, 1, rows, c), dtype, calls.pick(["ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"])
        )
        kernel = calls.random.choice([[2, 2], [3, 3], [3, 2]])
        stride = calls.random.choice([[1, 1], [2, 2]])
        padding = calls.random.choice([[0, 0], [1, 1], [1, 0], [2, 2]])
        given = [f"batch_size={n}, input_h={h}, input_w={w}, channels={c}"]
        given.append(f"kernel_size={kernel}, stride={stride}, padding={padding}")
        if name == "max_pool2d":
            given.append("dilation=[1, 1]")
        if calls.rarely(0.3):
            given.append("ceil_mode=True")
        return call(name, x, *given, *calls.tail())

    return draw


def _ordering(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape = calls.random.choice(
            [(32, 64), (1, 1, 32, 64), (2, 33, 70), (1, 2, 33, 128), (1, 1, 64, 8192 // 64)]
        )
        x = calls.tensor(shape, calls.pick(["ttnn.bfloat16"] * 3 + ["ttnn.uint16", "ttnn.float32"]))
        if name == "topk":
            return call(
                name,
                x,
                calls.pick(["32", "64", "5", "1"]),
                *filter(
                    None, [calls.pick(["", "dim=-1", "dim=0"]), calls.pick(["", "largest=False"])]
                ),
            )
        return call(
            name,
            x,
            *filter(
                None,
                [calls.pick(["", "dim=-1", "dim=0", "dim=1"]), calls.pick(["", "descending=True"])],
            ),
        )

    return draw


def _gather(calls: Calls) -> str:
    shape = calls.random.choice([(32, 64), (1, 1, 32, 64), (2, 33, 70)])
    smaller = tuple(
        max(extent // 2, 1) if place == len(shape) - 1 else extent
        for place, extent in enumerate(shape)
    )
    dtype = calls.pick(["ttnn.uint32", "ttnn.uint16", "ttnn.int32"])
    index = f"tensor({spell(smaller)}, {dtype})"
    return call(
        "gather", calls.tensor(shape), calls.pick(["-1", "dim=-1", "dim=0"]), f"index={index}"
    )


def _scatter(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape = calls.random.choice([(32, 64), (2, 3, 32, 64), (5, 7)])
        layout = calls.pick(["ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"])
        dtype = calls.dtype()
        x = f"tensor({spell(shape)}, {dtype}, {layout})"
        kind = calls.pick(["ttnn.uint32", "ttnn.int32", "ttnn.uint16"])
        index = f"tensor({spell(shape)}, {kind}, {layout})"
        return call(
            name,
            x,
            calls.pick(["-1", "0", "1"]),
            index,
            f"tensor({spell(shape)}, {dtype}, {layout})",
        )

    return draw


_ANYWHERE = ("to_layout", "to_dtype", "to_device", "from_device")


def _move(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        x = calls.tensor(calls.shape(), anywhere=name in _ANYWHERE)
        match name:
            case "to_layout":
                extra = [calls.pick(["ttnn.TILE_LAYOUT", "ttnn.ROW_MAJOR_LAYOUT"])]
                extra += [f"dtype={calls.dtype()}"] if calls.rarely(0.2) else []
            case "typecast":
                extra = [calls.dtype()]
            case "to_memory_config":
                extra = [calls.pick(MEMORIES)]
                extra += [f"dtype={calls.dtype()}"] if calls.rarely(0.2) else []
            case "to_dtype":
                extra = [calls.dtype()]
            case "to_device":
                extra = [
                    "device",
                    *([f"memory_config={calls.pick(MEMORIES)}"] if calls.rarely(0.4) else []),
                ]
            case "clone":
                extra = calls.tail(dtype=True)
            case _:
                extra = []
        return call(name, x, *extra)

    return draw


def _like(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        given = [calls.number()] if name == "full_like" else []
        if calls.rarely(0.3):
            given.append(f"dtype={calls.dtype()}")
        if calls.rarely(0.3):
            given.append(f"layout={calls.pick(['ttnn.TILE_LAYOUT', 'ttnn.ROW_MAJOR_LAYOUT'])}")
        if calls.rarely(0.2):
            given.append("device=device")
        return call(name, calls.tensor(calls.shape()), *given, *calls.tail())

    return draw


def _create(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        given = [spell(calls.shape())]
        given += [calls.number()] if name == "full" else []
        if calls.rarely(0.6):
            given.append(f"dtype={calls.dtype()}")
        if calls.rarely(0.6):
            given.append(f"layout={calls.pick(['ttnn.TILE_LAYOUT', 'ttnn.ROW_MAJOR_LAYOUT'])}")
        if calls.rarely(0.7):
            given.append("device=device")
            given += calls.tail()
        return call(name, *given)

    return draw


def _cumulative(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape = calls.shape()
        given = [f"dim={calls.dim(len(shape))}"]
        given += [f"dtype={calls.dtype()}"] if calls.rarely(0.3) else []
        return call(name, calls.tensor(shape), *given, *calls.tail())

    return draw


def _heads(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        b, s, h, d = (
            calls.random.choice([1, 2]),
            calls.random.choice([32, 64, 40]),
            calls.random.choice([2, 4]),
            calls.random.choice([32, 64]),
        )
        dtype = calls.pick(DTYPES)
        if name == "transformer.concatenate_heads" or name == "experimental.nlp_concat_heads":
            return call(name, calls.tensor((b, h, s, d), dtype), *calls.tail())
        if name == "experimental.nlp_create_qkv_heads":
            return call(
                name,
                calls.tensor((b, 1, s, 3 * h * d), dtype),
                f"num_heads={h}",
                calls.pick([f"num_kv_heads={h}", "transpose_k_heads=False"]),
            )
        if name == "transformer.split_query_key_value_and_split_heads":
            return call(
                name,
                calls.tensor((b, s, 3 * h * d), dtype),
                f"num_heads={h}",
                calls.pick(["transpose_key=True", "transpose_key=False"]),
            )
        q, k = (b, h, s, d), (b, calls.random.choice([h, 1]), s, d)
        mask = [f"attn_mask={calls.tensor((b, 1, s, s), dtype)}"] if calls.rarely(0.4) else []
        causal = [f"is_causal={not mask or calls.rarely(0.1)}"]
        return call(
            name,
            calls.tensor(q, dtype),
            calls.tensor(k, dtype),
            calls.tensor(k, dtype),
            *mask,
            *causal,
        )

    return draw


def _group(calls: Calls) -> str:
    c = calls.random.choice([64, 128, 40])
    x = calls.tensor(
        (1, 1, calls.random.choice([64, 100]), c),
        "ttnn.bfloat16",
        calls.pick(["ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"]),
    )
    return call("group_norm", x, f"num_groups={calls.pick(['2', '4', '3'])}", "epsilon=1e-5")


def _batch_norm(calls: Calls) -> str:
    c = calls.random.choice([3, 32])
    dtype = calls.pick(["ttnn.bfloat16", "ttnn.float32", "ttnn.bfloat8_b"])
    given = [calls.tensor((2, c, 9, 32), dtype)]
    side = lambda: calls.tensor((1, c, 1, 1) if not calls.rarely(0.1) else (c,), dtype)  # noqa: E731
    if calls.rarely(0.8):
        given += [f"running_mean={side()}", f"running_var={side()}"]
    if calls.rarely(0.3):
        given.append("training=True")
    if calls.rarely(0.5):
        given += [f"weight={side()}", f"bias={side()}"]
    return call("batch_norm", *given, *calls.tail())


def _upsample(calls: Calls) -> str:
    x = calls.tensor(
        (1, 8, 8, calls.random.choice([32, 64, 40])),
        "ttnn.bfloat16",
        calls.pick(["ttnn.ROW_MAJOR_LAYOUT", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"]),
    )
    return call(
        "upsample",
        x,
        calls.pick(["2", "[2, 3]", "(1, 2)", "1.5"]),
        *filter(None, [calls.pick(["", "", "mode='nearest'", "mode='bilinear'", "mode='cubic'"])]),
    )


def _loss(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        shape, dtype = calls.shape(), calls.pick(DTYPES)
        kind = calls.pick(["NONE", "SUM", "MEAN"])
        return call(
            name,
            calls.tensor(shape, dtype),
            calls.tensor(calls.other(shape), dtype),
            *([f"reduction=ttnn.LossReductionMode.{kind}"] if calls.rarely(0.7) else []),
        )

    return draw


def _quantize(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        dtype = (
            calls.dtype()
            if calls.rarely(0.3)
            else ("ttnn.float32" if name == "quantize" else "ttnn.int32")
        )
        given = ["0.1", "3"] * (2 if name == "requantize" else 1)
        return call(name, calls.tensor(calls.shape(), dtype), *given)

    return draw


FAMILIES: dict[str, Draw] = {
    **{name: (lambda calls, name=name: calls.unary(name)) for name in UNARY},
    **{name: (lambda calls, name=name: calls.binary(name)) for name in (*BINARY, *IN_PLACE)},
    **{name: (lambda calls, name=name: calls.reduction(name)) for name in REDUCTIONS},
    "heaviside": _parameter("heaviside", "0.5", "1", "tensor([32, 32])"),
    "leaky_relu": _parameter("leaky_relu", "0.1", "negative_slope=0.2", "1", ""),
    "relu_max": _parameter("relu_max", "6.0", "3", "upper_limit=1.5"),
    "relu_min": _parameter("relu_min", "6.0", "lower_limit=1.5"),
    "polygamma": _parameter("polygamma", "1", "2", "k=3", "0.5"),
    "rpow": _parameter("rpow", "2.0", "3", "exponent=2"),
    "fill": _parameter("fill", "2.0", "3", "fill_value=1"),
    "threshold": _parameter("threshold", "0.5, 2.0", "1, 2", "0.5"),
    "rdiv": _parameter("rdiv", "2.0", "3", "2.0, rounding_mode='floor'", "2.0, rounding_mode='x'"),
    "elu": _parameter("elu", "", "alpha=0.5", "2.0"),
    "celu": _parameter("celu", "", "alpha=0.5", "2.0"),
    "selu": _parameter("selu", "", "scale=1.0, alpha=1.5", "2.0"),
    "hardtanh": _parameter("hardtanh", "", "min_val=-2.0, max_val=3.0", "-1.0, 1.0"),
    "softplus": _parameter("softplus", "", "beta=2.0", "beta=1.5, threshold=10.0"),
    "hardshrink": _parameter("hardshrink", "", "lambd=0.3"),
    "softshrink": _parameter("softshrink", "", "lambd=0.3"),
    "logit": _parameter("logit", "", "eps=0.1", "0.1"),
    "round (decimals)": _parameter("round", "decimals=2", "decimals=-1", "2"),
    "tril": _parameter("tril", "", "diagonal=1", "-2"),
    "triu": _parameter("triu", "", "diagonal=1", "-2"),
    "clamp": _parameter("clamp", "-1.0, 1.0", "min=0.0", "max=2.0", "", "min=1, max=3"),
    "clip": _parameter("clip", "-1.0, 1.0", "min=0.0", "max=2", ""),
    **{name: _with_dim(name) for name in ("glu", "reglu", "geglu", "swiglu")},
    "prelu": _parameter("prelu", "0.25", "[0.1, 0.2]", "tensor([1, 1, 1, 1])"),
    "pow (number)": _parameter("pow", "2", "0.5", "3", "-1", "-2.5"),
    "polyval": _parameter("polyval", "[1.0, 2.0]", "coeffs=[1.0]", "[]"),
    **{name: _ternary(name) for name in ("where", "addcmul", "addcdiv", "lerp", "mac")},
    **{name: _matmul(name) for name in ("matmul", "linear")},
    "reshape": _reshape,
    "permute": _permute,
    "transpose": _transpose,
    "concat": _concat,
    "stack": _stack,
    "slice": _slice,
    "getitem": _index,
    "pad": _pad,
    "repeat": _repeat,
    "repeat_interleave": _interleave,
    "expand": _expand,
    "squeeze": _with_dim("squeeze"),
    "unsqueeze": _with_dim("unsqueeze"),
    "unsqueeze_to_4D": _parameter("unsqueeze_to_4D", ""),
    "roll": _with_dim("roll", "1", "-2", "5"),
    "narrow": lambda calls: call(
        "narrow",
        calls.tensor(calls.shape()),
        "-1",
        calls.pick(["0", "3"]),
        calls.pick(["2", "4", "40"]),
    ),
    "split": _parts("split"),
    "chunk": _parts("chunk"),
    "softmax": _softmax,
    **{name: _norm(name) for name in ("layer_norm", "rms_norm")},
    "group_norm": _group,
    "batch_norm": _batch_norm,
    "embedding": _embedding,
    **{name: _pool(name) for name in ("max_pool2d", "avg_pool2d")},
    "global_avg_pool2d": lambda calls: call(
        "global_avg_pool2d", calls.tensor((1, 8, 8, 32), calls.pick(FLOATS)), *calls.tail()
    ),
    **{name: _ordering(name) for name in ("topk", "sort")},
    "gather": _gather,
    **{name: _scatter(name) for name in ("scatter", "scatter_add")},
    **{name: _move(name) for name in ("to_layout", "typecast", "to_memory_config", "to_dtype")},
    **{name: _move(name) for name in ("to_device", "from_device", "clone", "move", "tilize")},
    **{name: _move(name) for name in ("untilize", "tilize_with_zero_padding", "reallocate")},
    **{name: _like(name) for name in ("zeros_like", "ones_like", "full_like", "empty_like")},
    **{name: _create(name) for name in ("zeros", "ones", "full", "empty", "rand")},
    **{name: _cumulative(name) for name in ("cumsum", "cumprod")},
    **{
        name: _heads(name)
        for name in (
            "transformer.concatenate_heads",
            "experimental.nlp_concat_heads",
            "experimental.nlp_create_qkv_heads",
            "transformer.split_query_key_value_and_split_heads",
            "transformer.scaled_dot_product_attention",
        )
    },
    "upsample": _upsample,
    **{name: _loss(name) for name in ("l1_loss", "mse_loss")},
    **{name: _quantize(name) for name in ("quantize", "dequantize", "requantize")},
    "bitcast": lambda calls: call("bitcast", calls.tensor(calls.shape()), calls.dtype()),
    "plus_one": _parameter("plus_one", "", "skip_negative_entries=True"),
    "fill_implicit_tile_padding": _parameter("fill_implicit_tile_padding", "0.0", "1"),
}
"""How calls of an operation are drawn, by its name."""


def draw_calls(
    families: dict[str, Draw], count: int, seed: int = 0
) -> Iterator[tuple[str, list[str]]]:
    """About `count` calls as sections: the name of an operation, and its lines."""
    # Operations with more arguments, and so more ways to be wrong, get more calls.
    weights = {name: 1 if name in UNARY or name in IN_PLACE else 2 for name in families}
    unit = count / sum(weights.values())
    for name, draw in families.items():
        calls = Calls(seed * 1_000_003 + sum(map(ord, name)))
        lines = dict.fromkeys(draw(calls) for _ in range(max(1, round(weights[name] * unit))))
        yield name, [*lines]


def print_calls(families: dict[str, Draw], description: str | None) -> None:
    """Print a transcript without answers, for the arguments of the command."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name, lines in draw_calls(families, options.calls, options.seed):
        print(f"# {name}")
        for line in lines:
            print(f">>> {line}")
        print()


if __name__ == "__main__":
    print_calls(FAMILIES, __doc__)
