"""Helpers of scripts that ttmlir writes; this file stands beside them. It needs ttnn and NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import ttnn


class DeviceGetter:
    """The device that a script runs on, which is opened when it is first asked for."""

    l1_small_size: ClassVar[int] = 1 << 15
    _devices: ClassVar[dict[tuple[int, ...], Any]] = {}

    @classmethod
    def get_device(cls, mesh_shape: tuple[int, ...]) -> Any:
        """The device with this shape."""
        if mesh_shape not in cls._devices:
            cls._devices[mesh_shape] = ttnn.open_mesh_device(
                mesh_shape=ttnn.MeshShape(*mesh_shape), l1_small_size=cls.l1_small_size
            )
        return cls._devices[mesh_shape]

    @classmethod
    def use(cls, device: Any) -> None:
        """Take a device that somebody else has opened, and closes."""
        cls._devices = {tuple(device.shape): device, (1, 1): device}

    @classmethod
    def close(cls) -> None:
        """Close what was opened."""
        while cls._devices:
            ttnn.close_mesh_device(cls._devices.popitem()[1])


def compute_once(cache: dict[Any, Any], function: Callable[..., Any], *inputs: Any) -> Any:
    """What a function of constants gives: it is called the first time only."""
    if function not in cache:
        cache[function] = function(*inputs)
    return cache[function]


def _as_list(results: Any) -> list[Any]:
    if isinstance(results, (list, tuple)):
        return [*cast("Sequence[Any]", results)]
    return [results]


def _as_results(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _own(results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """Results of which none is an input: those end before results do."""
    known = {*map(id, inputs)}
    found: list[Any] = []
    for result in results:
        if id(result) in known and ttnn.is_tensor_storage_on_device(result):
            found.append(ttnn.clone(result))
        else:
            found.append(result)
        known.add(id(result))
    return found


def batch_norm_training(
    tensor: Any, *, running_mean: Any = None, running_var: Any = None, **others: Any
) -> tuple[Any, Any, Any]:
    """A normalized batch, and the mean and the variance, which the library keeps in its inputs."""
    shape = (1, tensor.shape[1], 1, 1)
    kept = [
        ttnn.zeros(shape, tensor.dtype, ttnn.TILE_LAYOUT, device=tensor.device())
        if each is None
        else each
        for each in (running_mean, running_var)
    ]
    result = ttnn.batch_norm(tensor, running_mean=kept[0], running_var=kept[1], **others)
    return result, *kept


def item(tensor: Any) -> int | float:
    """The one number of a tensor, wherever that lies."""
    return ttnn.from_device(tensor).to(ttnn.ROW_MAJOR_LAYOUT).item()


def while_loop(
    end: int | Callable[..., Any],
    body: Callable[..., Any],
    state_count: int,
    outputs: Sequence[int],
    *values: Any,
) -> Any:
    """What a loop carries at its end; `end` is a number of iterations, or asks to go on.

    The first values are carried; `outputs` numbers the results.
    """
    state, others = list(values[:state_count]), values[state_count:]
    iteration = 0
    while iteration < end if isinstance(end, int) else item(end(*state, *others)):
        state = _as_list(body(*state, *others))
        iteration += 1
    return _as_results(_own([state[index] for index in outputs], values))


def case(functions: Sequence[Callable[..., Any]], index: Any, *inputs: Any) -> Any:
    """What the function with this number gives; of numbers beyond, the last one."""
    number = int(item(index))
    results = functions[number if 0 <= number < len(functions) else -1](*inputs)
    return _as_results(_own(_as_list(results), inputs))


def _numbers(array: Any) -> Any:
    """A tensor of an array, on the host."""
    kinds = {"f": ttnn.float32, "i": ttnn.int32, "b": ttnn.int32, "u": ttnn.uint32}
    flat = array.flatten().tolist()
    return ttnn.Tensor(flat, list(array.shape), kinds[array.dtype.kind], ttnn.ROW_MAJOR_LAYOUT)


def load_tensor(
    path: str, layout: Any, dtype: Any = None, device: Any = None, memory_config: Any = None
) -> Any:
    """A tensor of a file, as a program takes it.

    The file is one of `ttnn.dump_tensor`, or the numbers as NumPy writes them, under the same name
    but for `.npy` at its end. Its directory is that of this file, or the one that the script runs
    in.
    """
    beside = Path(__file__).parent / path
    numbers = beside.with_suffix(".npy")
    tensor = (
        _numbers(np.load(numbers))
        if numbers.exists()
        else ttnn.load_tensor(str(beside if beside.exists() else path))
    )
    if dtype is not None and tensor.dtype != dtype:
        tensor = ttnn.to_dtype(tensor, dtype)
    if tensor.layout != layout:
        tensor = ttnn.to_layout(tensor, layout)
    return tensor if device is None else ttnn.to_device(tensor, device, memory_config)
