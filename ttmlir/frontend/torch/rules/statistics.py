"""ATen operations on sorted numbers, on running values, and on distances of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ttmlir.arrays.array import Array
from ttmlir.composites import arithmetic, statistics
from ttmlir.composites.bits import next_after
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule, composite


def _multiply_running(call: TorchCall) -> Result:
    x = call.argument("self", call.element)
    return call.results(statistics.multiply_running(x, call["dim"]))


def _running_extreme(*, largest: bool) -> TorchRule:
    return composite(partial(statistics.find_running_extreme, largest=largest))


def _order_statistic(function: Callable[[Array, int], tuple[Array, Array]]) -> TorchRule:
    """A value along a dimension and its place; without one, the value of all elements."""

    def rule(call: TorchCall) -> Result:
        x = call.argument("self")
        if "dim" not in call.arguments:
            return call.results(function(x.reshape((math.prod(x.shape),)), 0)[0])
        return call.results(
            function(x if x.rank else x.reshape((1,)), call["dim"] % max(x.rank, 1))
        )

    return rule


def _kthvalue(call: TorchCall) -> Result:
    return _order_statistic(lambda x, dim: statistics.find_in_order(x, call["k"] - 1, dim))(call)


def _bucketize(call: TorchCall) -> Result:
    return _search(call, "boundaries", right=call["right"])


def _searchsorted(call: TorchCall) -> Result:
    return _search(call, "sorted_sequence", right=call["right"] or call["side"] == "right")


def _search(call: TorchCall, name: str, *, right: bool) -> Result:
    boundaries = call.argument(name)
    if call.arguments.get("sorter") is not None:
        boundaries = boundaries.gather(-1, call.argument("sorter"))
    values = call.argument("self", call.common_element("self", name))
    values = values if values.rank else values.reshape((1,))
    return call.results(statistics.search_sorted(boundaries, values, right=right))


def _histogram(call: TorchCall) -> Result:
    x, weights = call.argument("self"), call.argument("weight")
    edges = call.argument("bins")
    if isinstance(edges, int):
        edges = statistics.make_histogram_edges(x, edges, call["range"])
    sums = statistics.add_between_edges(x, edges, weights, density=call["density"])
    return call.results((sums, edges))


# -- distances ---------------------------------------------------------------------------------

_FEW_ROWS = 25
"""torch takes the product of matrices for more rows than these."""


def _distances(call: TorchCall) -> Result:
    a, b, mode = call.argument("x1"), call.argument("x2"), call["compute_mode"]
    is_long = max(a.shape[-2], b.shape[-2]) > _FEW_ROWS
    by_products = mode != 2 and (mode == 1 or is_long)
    order = float(call["p"])
    return call.results(statistics.measure_distances(a, b, order, by_products=by_products))


RULES: dict[str, TorchRule] = {
    "_cdist_backward": composite(
        statistics.differentiate_distances, "grad", "x1", "x2", "p", "cdist"
    ),
    "_cdist_forward": _distances,
    "_pdist_backward": composite(
        statistics.differentiate_own_distances, "grad", "self", "p", "pdist"
    ),
    "_pdist_forward": composite(statistics.measure_own_distances),
    "bucketize": _bucketize,
    "copysign": composite(arithmetic.copysign, cast=True),
    "cummax": _running_extreme(largest=True),
    "cummin": _running_extreme(largest=False),
    "cumprod": _multiply_running,
    "frexp": composite(arithmetic.frexp),
    "gcd": composite(arithmetic.gcd, cast=True),
    "histc": composite(statistics.count_in_equal_parts),
    "histogram": _histogram,
    "kthvalue": _kthvalue,
    "lcm": composite(arithmetic.lcm, cast=True),
    "ldexp": lambda call: call.results(
        arithmetic.ldexp(call.argument("self", call.element), call.argument("other"))
    ),
    "logcumsumexp": composite(statistics.add_exponentials_running),
    "median": _order_statistic(statistics.median),
    "mode": _order_statistic(statistics.mode),
    "nanmedian": _order_statistic(statistics.nanmedian),
    "nextafter": composite(next_after, cast=True),
    "searchsorted": _searchsorted,
    "signbit": composite(arithmetic.signbit),
}
"""Rules by the name of the ATen operation."""
