"""Random calls of ttnn's gradients, its operations for training, and those of single models.

    python test/ttnn/random_training_calls.py --calls 3000 > CALLS

As `random_calls.py`, which has the other operations.
"""

from __future__ import annotations

from collections.abc import Callable

from random_calls import DTYPES, FLOATS, MEMORIES, Calls, Draw, call, print_calls, spell

ROWS, TILES = "ttnn.ROW_MAJOR_LAYOUT", "ttnn.TILE_LAYOUT"


def _memory(calls: Calls) -> list[str]:
    return [f"memory_config={calls.pick(MEMORIES)}"] if calls.rarely(0.2) else []


def _layout(calls: Calls) -> str:
    return ROWS if calls.rarely(0.1) else TILES


def _given(*texts: str) -> list[str]:
    return [text for text in texts if text]


# --- Gradients ------------------------------------------------------------------------------------

OF_ONE = """abs acos acosh asin asinh assign atan atanh ceil celu clamp clip cos cosh
deg2rad digamma div_no_nan elu erf erfc erfinv exp exp2 expm1 fill fill_zero floor frac
gelu hardshrink hardsigmoid hardswish hardtanh i0 leaky_relu lgamma log log10 log1p log2
log_sigmoid logit logiteps multigammaln neg polygamma pow rad2deg rdiv reciprocal relu
relu6 round rpow rsqrt selu sigmoid sign silu sin sinh softplus softshrink softsign sqrt
square tan tanh tanhshrink threshold trunc""".split()
OF_TWO = """add addalpha atan2 bias_gelu div fmod hypot ldexp logaddexp logaddexp2 max min mul
remainder rsub squared_difference sub subalpha xlogy""".split()
OF_THREE = ["addcdiv", "addcmul", "lerp", "where"]
WITH_NUMBERS = ["add", "sub", "mul", "div", "fmod", "remainder", "bias_gelu", "lerp"]

ENDS: dict[str, list[str]] = {
    **{name: ["", "", "alpha=0.5"] for name in ("celu", "elu")},
    **{name: ["-1.0, 1.0", "min=0.5", "max=2.0", ""] for name in ("clamp", "clip")},
    **{name: ["0.5", "2.0", "3"] for name in ("div_no_nan", "rpow")},
    **{name: ["", "lambd=0.3"] for name in ("hardshrink", "softshrink")},
    **{name: ["", "", "variant=ttnn.GeluVariant.Tanh"] for name in ("bias_gelu", "gelu")},
    "hardtanh": ["", "min=-0.5", "max=2.0"],
    "leaky_relu": ["", "negative_slope=0.1"],
    "logiteps": ["", "eps=0.1"],
    "polygamma": ["1", "2", "3", "11"],
    "pow": ["2.0", "0.0", "0.5", "-1.0"],
    "rdiv": ["2.0", "2.0, rounding_mode='floor'", "2.0, rounding_mode='up'"],
    "softplus": ["", "beta=2.0", "threshold=3.0"],
    "threshold": ["0.5, 2.0", "0.5"],
    **{name: ["", "0.5", "alpha=2.0"] for name in ("addalpha", "subalpha")},
    **{name: ["0.5", "2.0", ""] for name in ("addcdiv", "addcmul")},
    "div": ["", "", "rounding_mode='trunc'", "rounding_mode='up'"],
}
"""What stands behind the operands."""


def _gradient(name: str) -> Draw:
    count = 2 + (name in OF_TWO) + 2 * (name in OF_THREE)

    def draw(calls: Calls) -> str:
        shape, dtype, layout = calls.shape(), calls.dtype(), _layout(calls)
        given = [
            calls.tensor(calls.other(shape), calls.pick(FLOATS), layout)
            if calls.rarely(0.05)
            else calls.tensor(shape, dtype, layout)
            for _ in range(count)
        ]
        if name in WITH_NUMBERS and calls.rarely(0.3):
            given[-1] = calls.number()
        end = calls.pick(ENDS.get(name, [""]))
        return call(f"{name}_bw", *given, *_given(end), *_memory(calls))

    return draw


# --- Four dimensions ------------------------------------------------------------------------------

FOURS = [(2, 3, 33, 70), (1, 2, 64, 32), (1, 1, 5, 7)]


class Four:
    """A tensor of four dimensions, mostly in tiles of bfloat16, one of its dimensions, and more."""

    def __init__(self, calls: Calls, *dtypes: str) -> None:
        """Draw all."""
        self.calls = calls
        self.shape = calls.random.choice(FOURS)
        self.dtype = calls.dtype() if calls.rarely(0.2) else calls.pick([*(dtypes or DTYPES[:1])])
        self.layout = _layout(calls)
        self.dim = 4 if calls.rarely(0.1) else calls.random.randrange(4)
        self.x = self.tensor(*self.shape)

    def tensor(self, *shape: int) -> str:
        """A tensor of the same data type and layout."""
        return self.calls.tensor(shape, self.dtype, self.layout)

    @property
    def less(self) -> str:
        """What a reduction along the dimension gives."""
        pairs = list(enumerate(self.shape))
        if self.dim < 2:
            return self.tensor(*(extent for axis, extent in pairs if axis != self.dim))
        return self.tensor(*(1 if axis == self.dim else extent for axis, extent in pairs))

    def pick(self, *texts: str) -> str:
        """One of some texts."""
        return self.calls.pick([*texts])


Arguments = Callable[[Four], list[str]]


def _along(four: Four) -> list[str]:
    dims = four.pick(f"dim={four.dim}", f"dim={four.dim}", "dim=[0, 3]", "dim=None")
    return _given(four.x, dims, four.pick("", "keepdim=True"))


def _softmax(four: Four) -> list[str]:
    return [four.x, "-1" if four.calls.rarely(0.05) else str(four.dim)]


def _from_softmax(four: Four) -> list[str]:
    return [four.x, four.x, str(four.dim)]


def _adam(four: Four) -> list[str]:
    return _given(four.x, four.x, four.x, four.x, "step=2", four.pick("", "amsgrad=True"))


def _group(four: Four) -> list[str]:
    outputs = four.pick("", "", "are_required_outputs=[True, True, True]")
    return _given(four.tensor(2, 8, 33, 70), four.pick("1", "2", "4", "3"), outputs)


TRAINING: dict[str, Arguments] = {
    "moreh_abs_pow": lambda four: [four.x, four.pick("2.0", "0.5", "3")],
    "moreh_adam": _adam,
    "moreh_adamw": _adam,
    "moreh_cumsum": lambda four: [four.x, str(four.dim)],
    "moreh_cumsum_backward": lambda four: [four.x, str(four.dim)],
    "moreh_full_like": lambda four: [four.x, four.pick("2", "1.5")],
    "moreh_group_norm": _group,
    "moreh_layer_norm": lambda four: [four.x, four.pick("1", "2", "1", "0", "5")],
    "moreh_logsoftmax": _softmax,
    "moreh_logsoftmax_backward": _from_softmax,
    "moreh_mean": _along,
    "moreh_mean_backward": lambda four: [
        *(four.less, f"dim={four.dim}", f"input_grad_shape=ttnn.Shape({spell(four.shape)})")
    ],
    "moreh_norm": lambda four: [
        *(four.x, four.pick("2.0", "3", "0.0", "float('inf')"), f"dim={four.dim}")
    ],
    "moreh_norm_backward": lambda four: [four.x, four.less, four.less, "2.0", f"dim={four.dim}"],
    "moreh_softmax": _softmax,
    "moreh_softmax_backward": _from_softmax,
    "moreh_softmin": _softmax,
    "moreh_softmin_backward": _from_softmax,
    "moreh_sum": _along,
    "moreh_sum_backward": lambda four: [four.less, f"input={four.x}", f"dim={four.dim}"],
}

PLACED = "compute_with_storage_grid_size=ttnn.CoreCoord(8, 8)"
PLAN = "ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8), q_chunk_size=32, "
JOINT = ["joint_strategy='rear'", f"program_config={PLAN}k_chunk_size=32)"]

MODELS: dict[str, Arguments] = {
    "bernoulli": lambda four: [four.x, four.pick("3", "0")],
    "ema": lambda four: [four.tensor(1, *four.shape[1:]), "0.5"],
    "experimental.attn_matmul": lambda four: [
        *(four.tensor(1, 4, 32, 64), four.tensor(32, 1, 64, 96), PLACED)
    ],
    "experimental.dropout": lambda four: [four.x, "0.25, 1.25, 3"],
    "experimental.fast_reduce_nc": lambda four: [
        four.tensor(*four.calls.random.choice([(2, 3, 32, 64), (1, 2, 64, 96), (4, 1, 32, 32)])),
        four.pick("dims=[0]", "dims=[1]", "dims=[0, 1]", "dims=[3]"),
    ],
    "experimental.minimal_matmul": lambda four: [four.tensor(64, 96), four.tensor(96, 64)],
    "experimental.nlp_concat_heads_boltz": lambda four: [four.tensor(4, 64, 64, 32)],
    "experimental.nlp_create_qkv_heads_segformer": lambda four: [four.tensor(1, 1, 64, 64)],
    "experimental.nlp_create_qkv_heads_vit": lambda four: [four.tensor(1, 1, 224, 2304)],
    "experimental.rotary_embedding_hf": lambda four: [
        four.tensor(1, 4, 32, 64),
        *[four.tensor(1, 1, 64, 64)] * 2,
    ],
    "indexed_fill": lambda four: [
        f"tensor([2], ttnn.uint32, {ROWS})",
        four.tensor(4, 1, 33, 70),
        four.tensor(2, 1, 33, 70),
    ],
    "normalize_hw": lambda four: [four.x],
    "std_hw": lambda four: [four.x],
    "tosa_gather": lambda four: [
        four.tensor(2, 5, 33),
        f"tensor([2, 4], ttnn.uint32, {four.layout})",
    ],
    "transformer.flash_mla_prefill": lambda four: [
        *(four.tensor(1, 4, 64, 96), four.tensor(1, 1, 64, 96), "64")
    ],
    "var_hw": lambda four: [four.x],
}

WITHOUT_MEMORY: dict[str, Arguments] = {
    "experimental.hc_sum_reduce": lambda four: [
        four.tensor(1, 1, 32, four.calls.random.choice([1024, 2048, 96]))
    ],
    "experimental.intimg": lambda four: [four.tensor(1, 32, 64, 32)],
    "experimental.typecast": lambda four: [four.x, four.calls.dtype()],
    "fold": lambda four: [
        four.calls.tensor((2, 8, 6, 32), four.dtype, ROWS),
        four.pick("2, 3", "2, 2", "4, 6", "3, 2"),
    ],
    "moreh_sgd": lambda four: [
        *(four.x, four.x, "momentum_initialized=False"),
        four.pick("lr=0.1", "momentum=0.9", "weight_decay=0.1"),
    ],
    "transformer.joint_scaled_dot_product_attention": lambda four: [
        *[four.tensor(1, 4, 64, 64)] * 6,
        *JOINT,
    ],
}
"""Operations that take no memory configuration."""


def _four(name: str, arguments: Arguments, *, takes_memory: bool = True) -> Draw:
    def draw(calls: Calls) -> str:
        return call(name, *arguments(Four(calls)), *(_memory(calls) if takes_memory else ()))

    return draw


# --- Others ---------------------------------------------------------------------------------------


def _product(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        four = Four(calls)
        m, k, n = (calls.random.choice([32, 33, 64, 70]) for _ in range(3))
        batch = calls.random.choice([(), (2,), (2, 3)])
        inner = k + 1 if calls.rarely(0.1) else k
        right = {
            "moreh_linear": (n, inner),
            "moreh_bmm": (*batch, inner, n),
            "moreh_matmul": (*calls.random.choice([batch, ()]), inner, n),
        }[name]
        bias = f"bias={four.tensor(1, n)}" if calls.rarely(0.3) and name != "moreh_bmm" else ""
        given = _given(four.tensor(*batch, m, k), four.tensor(*right), bias)
        return call(name, *given, *_memory(calls))

    return draw


def _full(calls: Calls) -> str:
    layout = calls.pick(["", f"layout={ROWS}"])
    given = [spell(calls.shape()), calls.pick(["3", "1.5"]), "device", f"dtype={calls.dtype()}"]
    return call("moreh_full", *given, *_given(layout))


def _arange(calls: Calls) -> str:
    steps = calls.pick(["0, 10, 1", "1, 70, 3", "70, 1, -3"])
    given = [steps, "device", f"dtype={calls.dtype()}"]
    return call("moreh_arange", *given, *_given(calls.pick(["", "untilize_out=True"])))


def _complex(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        part = Four(calls, "ttnn.bfloat16", "ttnn.float32").x
        pair = f"ttnn.complex_tensor({part}, {part})"
        if name.endswith("_bw"):
            grad = part if name in ("angle_bw", "imag_bw", "real_bw") else pair
            memory = f"memory_config={MEMORIES[0]}"
            return f"{call(name, grad, pair, memory)}[0].real"
        found = call(name, pair, *_memory(calls))
        return f"{found}.real" if name in ("conj", "polar") else found

    return draw


def _parts(name: str) -> Draw:
    def draw(calls: Calls) -> str:
        layout = TILES if calls.rarely(0.1) else ROWS
        dtype = calls.pick(["ttnn.float32", "ttnn.bfloat16"])
        shape = calls.random.choice([(3, 64), (2, 64), (4, 60)])
        count = 4 if name.endswith("mul") else 2
        return call(name, *[calls.tensor(shape, dtype, layout)] * count)

    return draw


def _elementwise(name: str, *ends: str, count: int = 1, memory: bool = True) -> Draw:
    def draw(calls: Calls) -> str:
        shape, dtype = calls.shape(), calls.dtype()
        given = [calls.tensor(shape, dtype) for _ in range(count)]
        end = calls.pick([*(ends or ("",))])
        return call(name, *given, *_given(end), *(_memory(calls) if memory else ()))

    return draw


def _snake(calls: Calls) -> str:
    shape, dtype = calls.shape(), calls.dtype()
    row = (*(1 for _ in shape[:-1]), shape[-1])
    given = [calls.tensor(each, dtype) for each in (shape, row, row)]
    return call("snake_beta", *given, *_memory(calls))


FAMILIES: dict[str, Draw] = {
    **{f"{name}_bw": _gradient(name) for name in (*OF_ONE, *OF_TWO, *OF_THREE)},
    **{name: _four(name, arguments) for name, arguments in {**TRAINING, **MODELS}.items()},
    **{
        name: _four(name, arguments, takes_memory=False)
        for name, arguments in WITHOUT_MEMORY.items()
    },
    **{name: _product(name) for name in ("moreh_matmul", "moreh_bmm", "moreh_linear")},
    "moreh_arange": _arange,
    "moreh_full": _full,
    **{
        name: _complex(name)
        for name in (
            *("angle", "conj", "imag", "is_imag", "is_real", "polar", "real"),
            *("angle_bw", "conj_bw", "imag_bw", "polar_bw", "real_bw"),
        )
    },
    **{
        f"experimental.{name}": _parts(f"experimental.{name}")
        for name in ("complex_mul", "fft", "ifft")
    },
    "softcap": _elementwise("softcap", "5.0", "30"),
    "xielu": _elementwise("xielu", "", "alpha_p=1.0", "alpha_n=0.5"),
    "logical_not_": _elementwise("logical_not_", memory=False),
    "clamped_silu_glu": _elementwise("clamped_silu_glu", "7.0", count=2),
    "situ_glu": _elementwise("situ_glu", "1.0, 2.0", count=2),
    "snake_beta": _snake,
}
"""How calls of an operation are drawn, by its name."""


if __name__ == "__main__":
    print_calls(FAMILIES, __doc__)
