"""Operations that make one number of many along dimensions, or go along one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.optable.reduction import reduced_shape
from ttmlir.runtime.tensor import Array
from ttmlir.sim.machine.card_steps import REDUCTION_STEPS
from ttmlir.ttnn.operations.elementwise.semantics import Reference, reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_flag,
    common_device,
    is_integer,
    is_strict,
    require_floats,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice

_SIGNATURE = (
    "input_tensor, dim=None, keepdim=False, *, memory_config=None, compute_kernel_config, "
    "scalar=1.0, correction=True, sub_core_grids"
)

Dimensions = tuple[int, ...] | None


@dataclass(frozen=True)
class Reduction:
    """A reduction: `reference(np, array, keep_dim=..., dim_arg=...)`, as a row's."""

    name: str
    reference: Reference
    corrects: bool = False
    """True where the meaning takes `correction`."""
    is_average: bool = False
    """True where the result for no numbers is NaN."""
    refuses_integers: bool = False
    makes_tiles: bool = True
    """True where the result is in tiles; else that of rows of floating point is in rows."""
    needs_numbers: bool = False
    """True where there is no result for no numbers."""

    def run(self, values: dict[str, Any]) -> Tensor:
        """Reduce along one dimension, several, or all."""
        tensor = require_tensor(values["input_tensor"], "input_tensor")
        device = common_device(tensor)
        if self.refuses_integers:
            require_floats(tensor)
        dims = as_dimensions(values["dim"])
        # The row's rule says which dimensions there are.
        keep_dim = as_flag(values["keepdim"], "keepdim")
        shape = reduced_shape(tensor.shape, keep_dim=keep_dim, dim_arg=dims)
        if self.needs_numbers:
            _require_numbers(self.name, tensor, shape)
        more = {"correction": values["correction"]} if self.corrects else {}
        array = tensor.array
        with np.errstate(all="ignore"):
            if self.is_average and not array.size:
                # NumPy would warn that there is nothing to take the average of.
                result = np.full(shape, np.nan)
            else:
                on_card = self._reduce_on_card(tensor, dims, values["scalar"], device)
                if on_card is None:
                    result = self.reference(np, array, keep_dim=keep_dim, dim_arg=dims, **more)
                else:
                    result = on_card.reshape(shape)
            if values["scalar"] != 1.0:
                result = _scale(result, values["scalar"], tensor.dtype)
        is_total = dims is None and self.name == "sum"
        in_tiles = self.makes_tiles or is_total or not tensor.dtype.facts.is_float
        return store(
            np.asarray(result),
            (tensor,),
            device=device,
            layout=Layout.TILE if in_tiles else None,
            memory_config=values["memory_config"],
        )

    def _reduce_on_card(
        self, tensor: Tensor, dims: Dimensions, scalar: Any, device: MeshDevice
    ) -> Array | None:
        """The bits of a card's sums, averages and largest numbers, where they are known."""
        if self.name not in ("sum", "mean", "max", "prod") or dims is None or scalar != 1.0:
            return None
        if (
            REDUCTION_STEPS * tensor.array.size > device.card_steps
            or not tensor.dtype.facts.is_float
        ):
            return None
        if self.name == "prod":
            from ttmlir.sim.machine.card_products import multiply_along

            storage = tensor.dtype.facts.storage
            dim = dims[0] % max(1, len(tensor.shape))
            found = multiply_along(tensor.array, dim, storage, device.arch())
            return found if len(dims) == 1 else None
        if self.name == "max" and not tensor.dtype.facts.is_block:
            return None
        from ttmlir.sim.machine.card_products import reduce_tensor

        storage = tensor.dtype.facts.storage
        return reduce_tensor(self.name, tensor.array, dims, storage, device.arch())


def _scale(result: Array, scalar: Any, dtype: DataType) -> Array:
    """The product with a number; ValueError for an integer that the data type does not have."""
    try:
        return result * scalar
    except OverflowError as error:
        raise ArgumentError(f"scalar={scalar} is no number of {dtype}") from error


def as_dimensions(dim: Any) -> Dimensions:
    """The dimensions that an argument names: None for all, a number, or several."""
    if dim is None:
        return None
    return (int(dim),) if is_integer(dim) else tuple(int(each) for each in dim)


def _variance(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: Dimensions, correction: bool
) -> Array:
    """The mean square distance from the mean; divided by one less with `correction`."""
    mean = xp.mean(input, axis=dim_arg, keepdims=True, dtype=np.float64)
    total = xp.sum(xp.square(input - mean), axis=dim_arg, keepdims=keep_dim)
    # Without dimensions each number is alone; NumPy's own function would warn of 0 / 0.
    return total / (input.size // total.size - bool(correction))


def _deviation(xp: Any, input: Array, **arguments: Any) -> Array:
    return xp.sqrt(_variance(xp, input, **arguments))


def _prod(values: dict[str, Any]) -> Tensor:
    given = values["dim"]
    dims = values["dims"] if given is None else given
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    if not (dims is None or is_integer(dims)) and is_strict(tensor):
        raise ArgumentTypeError("dim is an integer; use ttnn.prod once for each dimension")
    return _PROD.run({**values, "dim": dims, "scalar": 1.0})


def _require_numbers(name: str, tensor: Tensor, shape: Sequence[int]) -> None:
    """ValueError where a number of the result, which has this shape, would be of none."""
    if 0 in tensor.shape and 0 not in shape:
        raise ArgumentError(f"{name} of no numbers: the tensor has {tensor.shape}")


_PROD = Reduction("prod", reference_of("prod"), refuses_integers=True)


def _argmax(values: dict[str, Any]) -> Tensor:
    """Positions of the largest numbers, in rows."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    dims = as_dimensions(values["dim"])
    if is_strict(tensor) and tensor.layout is Layout.TILE:
        _check_argmax(tensor, dims)
    keep_dim = as_flag(values["keepdim"], "keepdim")
    shape = reduced_shape(tensor.shape, keep_dim=keep_dim, dim_arg=dims)
    _require_numbers("argmax", tensor, shape)
    found = reference_of("argmax")(np, tensor.array, keep_dim=keep_dim, dim_arg=dims)
    return store(
        np.asarray(found),
        (tensor,),
        device=device,
        dtype=DataType.UINT32,
        layout=Layout.ROW_MAJOR,
        memory_config=values["memory_config"],
        output_tensor=values["output_tensor"],
    )


def _check_argmax(tensor: Tensor, dims: Dimensions) -> None:
    """ArgumentError for what a card does not look for in tiles."""
    if dims is None:
        raise ArgumentError("dim must be given for a tensor in tiles")
    if tensor.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise ArgumentError(
            f"in tiles it takes bfloat16 or float32, not {tensor.dtype}; use ttnn.to_layout("
            "tensor, ttnn.ROW_MAJOR_LAYOUT) or ttnn.typecast(tensor, ttnn.bfloat16)"
        )


def _cumulate(name: str) -> Iterator[Operation]:
    """The sum or the product of all numbers up to each."""
    function = np.cumsum if name == "cumsum" else np.cumprod

    def run(values: dict[str, Any]) -> Tensor:
        tensor = require_tensor(values["input_tensor"], "input_tensor")
        device = common_device(tensor)
        dim, array = values["dim"], tensor.array
        dim = as_dimension(dim, array.ndim)
        wide = np.float64 if array.dtype.kind == "f" else array.dtype
        if values["reverse_order"]:
            array = np.flip(array, dim)
        result = None
        has_bits = name == "cumsum" and REDUCTION_STEPS * array.size <= device.card_steps
        if has_bits and values["dtype"] in (None, tensor.dtype):
            from ttmlir.sim.machine.card_products import accumulate

            result = accumulate(array, dim, tensor.dtype.facts.storage, device.arch())
        if result is None:
            result = function(array, axis=dim, dtype=wide)
        if values["reverse_order"]:
            result = np.flip(result, dim)
        return store(
            result,
            (tensor,),
            device=device,
            dtype=values["dtype"],
            memory_config=values["memory_config"],
            output_tensor=values["out"],
        )

    yield Operation(
        name,
        run,
        "input_tensor, dim, *, dtype=None, reverse_order=False, out=None, memory_config=None",
    )


def _declare(name: str, reference: Reference, **facts: bool) -> Operation:
    entry = Reduction(name, reference, **facts)
    return Operation(name, entry.run, _SIGNATURE, entry)


OPERATIONS: dict[str, Operation] = table_of(
    _declare("sum", reference_of("sum"), makes_tiles=False),
    _declare(
        "mean", reference_of("mean"), is_average=True, refuses_integers=True, makes_tiles=False
    ),
    _declare("max", reference_of("max"), needs_numbers=True),
    _declare("min", reference_of("min"), needs_numbers=True),
    _declare("var", _variance, corrects=True, is_average=True, refuses_integers=True),
    _declare("std", _deviation, corrects=True, is_average=True, refuses_integers=True),
    Operation(
        "prod",
        _prod,
        "input_tensor, dim=None, keepdim=False, *, dims=None, memory_config=None",
        _PROD,
    ),
    Operation(
        "argmax",
        _argmax,
        "input_tensor, dim=None, keepdim=False, *, sub_core_grids, use_multicore, "
        "memory_config=None, output_tensor=None",
    ),
    _cumulate("cumsum"),
    _cumulate("cumprod"),
)
