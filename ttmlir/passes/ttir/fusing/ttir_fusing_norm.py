"""Rules of `ttir-fusing` for norms: division by the root of the mean square, and a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.fusing.ttir_fusing_reduction import reduced_dims
from ttmlir.passes.ttir.value_rewriting import (
    either_way,
    made_by,
    mnemonic_of,
    number_known,
    repeated_row,
    under,
    under_float_cast,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _rms_norm(op: Operation, rewriter: GreedyRewriter) -> bool:
    """x * rsqrt(mean(x * x) + epsilon) * weight along the last dimension; without weight, too."""
    value = under_float_cast(op.results[0])
    product = made_by(value, "multiply")
    if product is None or (op.name == "ttir.typecast" and not value.has_one_use()):
        return False
    shape = value_shape(value)
    found = next(_weighted(product, shape), None)
    if found is None:
        return False
    normalized, weight = found
    source, epsilon = normalized
    # A norm takes and gives the same numbers; between, they may have been wider.
    for given in (source, under_float_cast(source)):
        is_alike = element_type(given) == element_type(op.results[0])
        if is_alike and value_shape(given) == shape:
            build = rewriter.builder(op)
            new = build.create_grouped(
                "rms_norm",
                (given, weight, None),
                (op.results[0].type,),
                normalized_shape=shape[-1:],
                epsilon=epsilon,
            )
            rewriter.replace(op, *new)
            return True
    return False


def _weighted(
    product: Operation, shape: Sequence[int]
) -> Iterator[tuple[tuple[SSAValue, float], SSAValue | None]]:
    """What is divided by its root mean square, with epsilon, and the weight."""
    for value, other in either_way(product):
        weight = repeated_row(other, shape)
        normalized = None if weight is None else _normalized(value)
        if normalized is not None:
            yield normalized, weight
    for source, factor in either_way(product):
        inner = made_by(factor, "multiply")
        for root, other in () if inner is None else either_way(inner):
            weight, epsilon = repeated_row(other, shape), _epsilon_of(root, source)
            if weight is not None and epsilon is not None:
                yield (source, epsilon), weight
    normalized = _normalized(product.results[0])
    users = [use.operation for use in product.results[0].uses]
    if normalized is not None and all(mnemonic_of(each) != "multiply" for each in users):
        yield normalized, None


def _normalized(value: SSAValue) -> tuple[SSAValue, float] | None:
    """What is divided by the root of its mean square, and what is added to it."""
    product = made_by(under_float_cast(value), "multiply")
    for source, root in () if product is None else either_way(product):
        epsilon = _epsilon_of(root, source)
        if epsilon is not None:
            return source, epsilon
    return None


def _epsilon_of(root: SSAValue, source: SSAValue) -> float | None:
    """What is added to the mean square of a tensor before the inverse root of that is taken."""
    inverse = made_by(under_float_cast(under(root, "broadcast")), "rsqrt")
    total = None if inverse is None else made_by(inverse.operands[0], "add")
    return _mean_square_of(total, source)


def _mean_square_of(total: Operation | None, source: SSAValue) -> float | None:
    """What is added to the mean square of a tensor along its last dimension."""
    for value, added in () if total is None else either_way(total):
        mean = made_by(value, "mean")
        squared = None if mean is None else _squared(mean.operands[0])
        if mean is None or squared is None:
            continue
        if under(squared, "typecast") is not under(source, "typecast"):
            continue
        shape = value_shape(source)
        # A number for each row stands beside it: others go with the columns.
        is_of_rows = value_shape(mean.results[0]) == (*shape[:-1], 1)
        if is_of_rows and reduced_dims(mean) == (len(shape) - 1,):
            return number_known(added)
    return None


def _squared(value: SSAValue) -> SSAValue | None:
    """What is multiplied with itself."""
    op = made_by(value, "multiply", "pow")
    if op is None:
        return None
    base, other = op.operands
    if op.name == "ttir.pow":
        return base if number_known(other) == 2 else None
    return base if base is other else None


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.multiply": (_rms_norm,),
    "ttir.typecast": (_rms_norm,),
}
"""Rules by the name of the operation."""
