"""Which data types and layouts ttnn's operations take, as the library answers.

Source: what ttnn 0.81.1 answered on an n150 to calls with each data type in each layout, of which
test/ttnn/Inputs/random_calls.txt.xz has a sample. A device that is opened with `strict=False` takes
more: whatever has a meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ttmlir.errors import ArgumentError
from ttmlir.ttnn.types.enums import DataType, Layout

if TYPE_CHECKING:
    from ttmlir.ttnn.tensor.tensor import Tensor

_ROWS = """
gez gtz lez ltz neg signbit clamp clip: floats int32
eqz logical_not nez square fill: floats int32 uint32 uint16
lgamma multigammaln: bfloat16 float32
bitwise_not: int32 uint32
polyval: floats int32 uint32 uint16
tril triu: floats int32 uint32

eq ne lt le gt ge: all; floats mix
add sub subtract rsub squared_difference: floats int32 uint32 uint16; floats mix
logical_and logical_or logical_xor: floats int32 uint32 uint16; floats mix
mul multiply: floats int32 uint32 uint16; numbers mix
div divide floor_div: floats int32 uint32; numbers mix; signed
ldexp logaddexp logaddexp2 xlogy bias_gelu: floats; one type
atan2 hypot: floats; one type; tensors
maximum minimum remainder: floats int32 uint32; one type
fmod: floats int32; one type
nextafter: bfloat16 float32; one type; tensors
outer: bfloat16 float32 bfloat8_b int32 uint32; one type; tensors
xielu: floats
clamped_silu_glu: floats int32 uint32 uint16
softcap situ_glu: bfloat16 bfloat8_b
snake_beta: bfloat16 float32; tiles; one type; tensors; each
logical_not_: floats int32 uint32 uint16

experimental.fast_reduce_nc experimental.fast_reduce_nc_split: bfloat16 float32 bfloat8_b; tiles
experimental.hc_sum_reduce experimental.repeat_and_interleave_eltwise_mul: bfloat16 bfloat8_b; tiles
experimental.dropout ema moe: bfloat16; tiles
bernoulli: bfloat16 float32; tiles
normalize_hw normalize_global var_hw std_hw: bfloat16 float32 bfloat8_b
experimental.minimal_matmul experimental.minimal_matmul_split: bfloat16 float32 bfloat8_b; tiles
experimental.attn_matmul experimental.group_attn_matmul: bfloat16 bfloat8_b; tiles
experimental.attn_matmul_from_cache: bfloat16 bfloat8_b; tiles
experimental.fft experimental.ifft experimental.complex_mul: bfloat16 float32; rows
experimental.nlp_create_qkv_heads_falcon7b experimental.nlp_create_qkv_heads_vit: floats; tiles
experimental.nlp_create_qkv_heads_segformer experimental.nlp_concat_heads_boltz: floats; tiles
experimental.nlp_create_qkv_heads_boltz experimental.nlp_create_q_heads_split: floats; tiles
experimental.nlp_kv_cache_load_slice: floats; tiles
experimental.rotary_embedding_hf: all; tiles
experimental.intimg: bfloat16 float32; tiles
tosa_gather: floats int32 uint32 uint16
experimental.conv3d: bfloat16 float32; rows
experimental.topk_large_indices: bfloat16; rows
transformer.flash_mla_prefill: bfloat16 bfloat8_b bfloat4_b; tiles
transformer.joint_scaled_dot_product_attention: bfloat16 bfloat8_b; tiles
gcd lcm: int32; one type; tensors
bitwise_and bitwise_or bitwise_xor bitwise_left_shift: int32 uint32 uint16; one type
bitwise_right_shift logical_left_shift: int32 uint32 uint16; one type
logical_right_shift: int32 uint32; one type
div_no_nan: floats int32 uint32 uint16; numbers mix; signed
pow: floats int32 uint32 uint16; one type
isclose: floats int32; numbers mix; tensors

addcmul: bfloat16 float32 bfloat8_b int32 uint32; one type; together in tiles; tensors
addcdiv: floats; together in tiles; tensors
lerp: floats int32 uint16 uint8; together in tiles; an end
mac: floats int32 uint32 uint16; numbers mix
where experimental.where: all; together in tiles

softmax rms_norm: bfloat16 float32 bfloat8_b; tiles
layer_norm mean: bfloat16 float32 bfloat8_b
std var prod: bfloat16 float32 bfloat8_b
sum max min: bfloat16 float32 bfloat8_b int32 uint32
cumsum cumprod: all; tiles
topk: bfloat16 float32 bfloat8_b; tiles
sort: bfloat16 float32 uint16
batch_norm: bfloat16 float32; tiles; each
pad: bfloat16 float32 bfloat8_b int32 uint32 uint16
tilize: all; rows
tilize_with_zero_padding: all
untilize: bfloat16 float32 bfloat8_b int32 uint32 uint16 uint8; tiles
l1_loss mse_loss: floats int32 uint32 uint16
experimental.broadcast_to: all; tiles; on a device
view permute transpose slice repeat repeat_interleave expand chunk move: all; on a device
fill_implicit_tile_padding: floats int32 uint32 uint16; tiles; on a device
roll: bfloat16 float32 int32 uint32 uint16; on a device
quantize: floats
dequantize requantize: int32 uint8
plus_one: int32 uint32; rows
max_pool2d avg_pool2d: bfloat16 bfloat8_b bfloat4_b int32 uint32

glu geglu swiglu: floats; last of four
reglu: floats int32 uint32 uint16; last of four
transformer.concatenate_heads: bfloat16 float32 bfloat8_b; tiles
experimental.nlp_concat_heads: bfloat16 float32 bfloat8_b; tiles
experimental.nlp_create_qkv_heads: bfloat16 float32 bfloat8_b; tiles
transformer.split_query_key_value_and_split_heads: bfloat16 float32 bfloat8_b; tiles
transformer.scaled_dot_product_attention: bfloat16 bfloat8_b bfloat4_b; tiles; each
global_avg_pool2d: bfloat16 float32 bfloat8_b int32 uint32

abs_bw asinh_bw atan_bw cos_bw cosh_bw exp2_bw expm1_bw i0_bw lgamma_bw log_sigmoid_bw: floats
multigammaln_bw sin_bw sinh_bw softsign_bw tan_bw tanhshrink_bw gelu_bw sigmoid_bw tanh_bw: floats
bias_gelu_bw mul_bw ldexp_bw erfc_bw: floats; floats mix
atanh_bw digamma_bw hardshrink_bw polygamma_bw rdiv_bw softshrink_bw threshold_bw: floats; one type
atan2_bw hypot_bw xlogy_bw: floats
acos_bw acosh_bw asin_bw log1p_bw logit_bw rsqrt_bw: floats; tiles; one type
elu_bw exp_bw log_bw logiteps_bw selu_bw silu_bw sqrt_bw addcdiv_bw div_bw: floats; tiles
log10_bw log2_bw hardswish_bw: floats int32; tiles; one type
neg_bw pow_bw fmod_bw remainder_bw rsub_bw: floats int32
clamp_bw clip_bw hardtanh_bw relu6_bw relu_bw hardsigmoid_bw rpow_bw: floats int32; one type
max_bw min_bw: floats int32; tiles; one type
sub_bw subalpha_bw leaky_relu_bw: floats int32; tiles
celu_bw softplus_bw erfinv_bw reciprocal_bw: floats int32 uint32; tiles
deg2rad_bw erf_bw rad2deg_bw square_bw lerp_bw: floats int32 uint32 uint16
squared_difference_bw: floats int32 uint32 uint16; floats mix
addcmul_bw: floats int32 uint32 uint16
addalpha_bw: floats int32 uint32 uint16; tiles
div_no_nan_bw: floats int32 uint32; one type
where_bw: floats int32 uint32
logaddexp_bw logaddexp2_bw: bfloat16 float32; floats mix
prod_bw: bfloat16 float32 bfloat8_b; tiles

moreh_sum moreh_norm moreh_abs_pow: bfloat16 int32; tiles
moreh_mean moreh_sum_backward moreh_mean_backward moreh_norm_backward: bfloat16; tiles
moreh_cumsum moreh_cumsum_backward: all; tiles
moreh_matmul moreh_bmm moreh_linear moreh_group_norm: bfloat16; tiles
moreh_matmul_backward moreh_bmm_backward moreh_linear_backward: bfloat16; tiles
moreh_dot moreh_dot_backward moreh_layer_norm_backward: bfloat16 bfloat8_b; tiles
moreh_adam moreh_adamw moreh_sgd moreh_layer_norm moreh_group_norm_backward: bfloat16; tiles
moreh_softmax moreh_softmin moreh_logsoftmax: bfloat16 float32 bfloat8_b; tiles
moreh_softmax_backward moreh_softmin_backward: bfloat16 bfloat8_b; tiles
moreh_logsoftmax_backward: bfloat16 bfloat8_b; tiles
moreh_nll_loss: bfloat16; tiles
moreh_nll_loss_backward moreh_nll_loss_unreduced_backward: int32; tiles
moreh_getitem: bfloat16 int32
"""
"""Operations, the data types of their first operand, and what else holds, if anything:

- `on a device`: the first operand is not on the host.
- `tiles`, `rows`: the only layout of the first operand.
- `together in tiles`: the first is in tiles where all operands are tensors.
- `one type`: operands have the same data type. `floats mix`: or two of floating point.
  `numbers mix`: or one of floating point and one of 32-bit integers, as well; `signed`: two of
  integers are int32.
- `each`: types and layout are those of each operand.
- `tensors`: the other operands are no numbers; `an end`: the second is none.
- `last of four`: four dimensions, of which the last halves into whole tiles.

What is not listed takes the first operand as it is, or says itself what it takes.
"""

_FLOATS = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
_WORDS = {
    "floats": _FLOATS,
    "all": tuple(each for each in DataType if each is not DataType.INVALID),
    **{each.name.lower(): (each,) for each in DataType},
}
_LAYOUTS = {"tiles": Layout.TILE, "rows": Layout.ROW_MAJOR}
_LAYOUT_WORDS = {layout: word for word, layout in _LAYOUTS.items()}
_MIXING = (DataType.INT32, DataType.UINT32)
_TILE = 32


@dataclass(frozen=True)
class Accepted:
    """What an operation takes."""

    types: tuple[DataType, ...]
    layout: Layout | None = None
    """The only layout of the first operand."""
    needs_device: bool = False
    """Whether the first operand has to be on a device."""
    concerns_each: bool = False
    """Whether types and layout are those of each operand."""
    is_halved: bool = False
    """Whether there are four dimensions, of which the last halves into whole tiles."""
    needs_tiles_together: bool = False
    """Whether the first is in tiles where all operands are tensors."""
    mixing: str = ""
    """`one type`, `floats mix` or `numbers mix`; nothing where all types go together."""
    refuses_unsigned: bool = False
    """Whether two operands of unsigned integers do not go together."""
    tensors_from: int = 0
    """The first operand, and all behind it, that is no number; 0 where all may be."""
    tensors_until: int = 99

    def check(self, first: Tensor) -> None:
        """ArgumentError for a first operand that the operation does not take."""
        spec = first.spec
        if spec.dtype not in self.types:
            raise ArgumentError(
                f"it takes {_list(self.types)}, not {spec.dtype}; use ttnn.typecast(tensor, "
                f"{_spell(self.types[0])})"
            )
        if self.layout is not None and spec.layout is not self.layout:
            raise ArgumentError(
                f"it takes a tensor in {_LAYOUT_WORDS[self.layout]}; use ttnn.to_layout(tensor, "
                f"ttnn.{self.layout.name}_LAYOUT)"
            )
        if self.is_halved:
            _check_halves(spec.shape)

    def refuses_number(self, place: int) -> bool:
        """Whether an operand, which is not the first, has to be a tensor."""
        return 0 < self.tensors_from <= place < self.tensors_until

    def check_together(self, tensors: Sequence[Tensor]) -> None:
        """ArgumentError for operands whose data types do not go together."""
        first = tensors[0]
        if self.needs_tiles_together and len(tensors) > 2 and first.spec.layout is Layout.ROW_MAJOR:
            raise ArgumentError(
                "it takes three tensors in tiles; use ttnn.to_layout(tensor, ttnn.TILE_LAYOUT)"
            )
        if not self.mixing:
            return
        dtype = first.spec.dtype
        for each in tensors[1:]:
            second = each.spec.dtype
            if dtype is second:
                goes = not self.refuses_unsigned or dtype in (*_FLOATS, DataType.INT32)
            else:
                goes = self._mixes(dtype, second)
            if not goes:
                raise ArgumentError(
                    f"operands of {dtype} and {second} do not go together; use ttnn.typecast"
                )

    def _mixes(self, first: DataType, second: DataType) -> bool:
        if self.mixing == "one type":
            return False
        floats = [each in _FLOATS for each in (first, second)]
        if all(floats):
            return True
        mixes = self.mixing == "numbers mix" and any(floats)
        return mixes and (second if floats[0] else first) in _MIXING


_CONDITIONS: dict[str, dict[str, Any]] = {
    **{word: {"layout": layout} for word, layout in _LAYOUTS.items()},
    **{word: {"mixing": word} for word in ("one type", "floats mix", "numbers mix")},
    "on a device": {"needs_device": True},
    "each": {"concerns_each": True},
    "last of four": {"is_halved": True},
    "together in tiles": {"needs_tiles_together": True},
    "signed": {"refuses_unsigned": True},
    "tensors": {"tensors_from": 1},
    "an end": {"tensors_from": 1, "tensors_until": 2},
}


@cache
def accepted_by(name: str) -> Accepted | None:
    """What an operation takes; None where nothing is said of it."""
    return _parse().get(name)


@cache
def _parse() -> dict[str, Accepted]:
    found: dict[str, Accepted] = {}
    for line in filter(None, _ROWS.splitlines()):
        names, _, rest = line.partition(": ")
        types, *conditions = rest.split("; ")
        listed = tuple(each for word in types.split() for each in _WORDS[word])
        facts = {key: fact for each in conditions for key, fact in _CONDITIONS[each].items()}
        found |= dict.fromkeys(names.split(), Accepted(listed, **facts))
    return found


def _check_halves(shape: Sequence[int]) -> None:
    if len(shape) != 4 or shape[-1] % (2 * _TILE):
        raise ArgumentError(
            f"it takes four dimensions, the last a multiple of {2 * _TILE}, not {shape}; use "
            "ttnn.unsqueeze_to_4D and ttnn.pad"
        )


def _spell(dtype: DataType) -> str:
    return f"ttnn.{dtype.name.lower()}"


def _list(types: Sequence[DataType]) -> str:
    *most, last = [each.name.lower() for each in types]
    return f"{', '.join(most)} or {last}" if most else last
