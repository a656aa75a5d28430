"""ATen operations that are sums of products of matrices and vectors."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder, Shape, broadcast_shape
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules.normalization import softmax
from ttmlir.ir.tensor_types import element_type, value_shape


def product(build: BodyBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """`torch.matmul`: vectors are rows or columns, leading dimensions are batches."""
    left, right = value_shape(a), value_shape(b)
    if len(left) == 1:
        a = build.reshape(a, (1, *left))
    if len(right) == 1:
        b = build.reshape(b, (*right, 1))
    shape = (*_batches(a, b), *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    if len(value_shape(b)) == 2 and len(value_shape(a)) > 2:
        # One product for the whole batch.
        rows = math.prod(value_shape(a)[:-1])
        a = build.reshape(a, (rows, value_shape(a)[-1]))
    rank = max(len(value_shape(a)), len(value_shape(b)))
    a, b = (build.reshape(x, (1,) * (rank - len(value_shape(x))) + value_shape(x)) for x in (a, b))
    return build.reshape(build.matmul(a, b), shape)


def _batches(a: SSAValue, b: SSAValue) -> Shape:
    return broadcast_shape(value_shape(a)[:-2], value_shape(b)[:-2])


def swap(build: BodyBuilder, x: SSAValue) -> SSAValue:
    """The tensor with its last two dimensions exchanged."""
    rank = len(value_shape(x))
    return build.permute(x, [*range(rank - 2), rank - 1, rank - 2])


def _product(first: str = "self", second: str = "other") -> TorchRule:
    return lambda call: product(call.build, call.tensor(first), call.tensor(second))


def _add(first: str, second: str) -> TorchRule:
    """`beta * self + alpha * (first @ second)`."""

    def rule(call: TorchCall) -> SSAValue:
        build = call.build
        value = _times(
            build, product(build, call.tensor(first), call.tensor(second)), call["alpha"]
        )
        if call["beta"] == 0:
            return value
        return build.compute("add", value, _times(build, call.tensor(), call["beta"]))

    return rule


def _times(build: BodyBuilder, x: SSAValue, factor: float) -> SSAValue:
    return x if factor == 1 else build.compute("multiply", x, build.create_number(factor, x))


def _linear(call: TorchCall) -> SSAValue:
    build = call.build
    value = product(build, call.tensor("input"), swap(build, _matrix(call)))
    value = build.reshape(value, call.shape)
    bias = call.optional("bias")
    return value if bias is None else build.compute("add", value, bias)


def _matrix(call: TorchCall) -> SSAValue:
    weight = call.tensor("weight")
    shape = value_shape(weight)
    return weight if len(shape) == 2 else call.build.reshape(weight, (1, *shape))


def _attention(call: TorchCall) -> SSAValue:
    """softmax(query @ key^T * scale + mask) @ value; rows without any key are 0."""
    build = call.build
    query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
    if call["dropout_p"]:
        call.refuse(
            f"dropout with probability {call['dropout_p']} is random; call eval() on the module, "
            "or pass dropout_p=0.0"
        )
    if call["enable_gqa"]:
        key, value = (_each_head_repeated(build, x, value_shape(query)[-3]) for x in (key, value))
    width = value_shape(query)[-1]
    scale = float(call["scale"]) if call.has("scale") else 1 / math.sqrt(width)
    scores = product(build, query, swap(build, key))
    scores = build.compute("multiply", scores, build.create_number(scale, scores))
    allowed: SSAValue | None = None
    if call["is_causal"]:
        rows, columns = value_shape(scores)[-2:]
        allowed = create_causal_mask(build, rows, columns)
    elif (mask := call.optional("attn_mask")) is not None:
        if element_type(mask) == i1:
            allowed = mask
        else:
            mask = build.cast(mask, element_type(scores))
            scores = build.compute("add", scores, mask)
    if allowed is not None:
        hidden = build.create_number(-math.inf, scores)
        scores = build.compute("where", allowed, scores, hidden)
    weights = softmax(build, scores, -1)
    if allowed is not None and not call["is_causal"]:
        rank = len(value_shape(allowed))
        some = build.reduce("reduce_or", allowed, (rank - 1,))
        weights = build.compute("where", some, weights, build.create_number(0.0, weights))
    return product(build, weights, value)


def create_causal_mask(build: BodyBuilder, rows: int, columns: int) -> SSAValue:
    """True on and below the diagonal: what each row may look at."""
    torch = torch_package()
    return build.create_tensor(torch.ones(rows, columns, dtype=torch.bool).tril())


def _each_head_repeated(build: BodyBuilder, x: SSAValue, heads: int) -> SSAValue:
    """Each head as often as queries share it."""
    *batch, own, length, width = value_shape(x)
    grouped = build.reshape(x, (*batch, own, 1, length, width))
    grouped = build.broadcast(grouped, (*batch, own, heads // own, length, width))
    return build.reshape(grouped, (*batch, heads, length, width))


def _outer(call: TorchCall) -> SSAValue:
    build, a, b = call.build, call.tensor("self"), call.tensor("vec2")
    column = build.reshape(a, (*value_shape(a), 1))
    return build.compute("multiply", column, build.reshape(b, (1, *value_shape(b))))


RULES: dict[str, TorchRule] = {
    "addmm": _add("mat1", "mat2"),
    "addmv": _add("mat", "vec"),
    "baddbmm": _add("batch1", "batch2"),
    "bmm": _product("self", "mat2"),
    "dot": _product("self", "tensor"),
    "linear": _linear,
    "matmul": _product(),
    "mm": _product("self", "mat2"),
    "mv": _product("self", "vec"),
    "outer": _outer,
    "scaled_dot_product_attention": _attention,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
