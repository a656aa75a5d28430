"""Devices of torch.distributed in one process, for models that are divided over a mesh."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, cast

from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.distributed.placing import alone
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.replacing import attributes_replaced

MOST_DEVICES = 1024


@contextmanager
def virtual_devices(count: int) -> Generator[None]:
    """Let torch.distributed have `count` devices in this process, while the block lasts.

        with ttmlir.virtual_devices(8):
            mesh = init_device_mesh("cpu", (2, 4), mesh_dim_names=("data", "model"))
            model = parallelize_module(model, mesh["model"], plan)
            compiled = ttmlir.compile(model, x)

    What torch computes in the block it computes for each device. ArgumentError if
    torch.distributed has devices already, and for a number of devices below 1 or above 1,024.
    """
    if not isinstance(cast("object", count), int) or not 1 <= count <= MOST_DEVICES:
        raise ArgumentError(
            f"virtual_devices({count!r}): there are from 1 to {MOST_DEVICES} devices"
        )
    torch = torch_package()
    distributed: Any = torch.distributed
    if not distributed.is_available():
        raise ArgumentError("virtual_devices: this build of torch has no torch.distributed")
    if distributed.is_initialized():
        raise ArgumentError(
            f"virtual_devices({count}): torch.distributed has {distributed.get_world_size()} "
            "devices already; leave the other block, or call "
            "torch.distributed.destroy_process_group()"
        )
    store: Any = import_module("torch.testing._internal.distributed.fake_pg").FakeStore()
    local: Any = import_module("torch.distributed._local_tensor")
    # torch writes the rank before what the hook of before prints, and leaves it so.
    hook = sys.excepthook
    distributed.init_process_group("fake", rank=0, world_size=count, store=store)
    try:
        with _exported_alone(), local.LocalTensorMode(count):
            yield
    finally:
        distributed.destroy_process_group()
        sys.excepthook = hook


@contextmanager
def _exported_alone() -> Generator[None]:
    """Let `torch.export.export` trace one device: it cannot trace what all of them compute.

    ArgumentError for what it cannot trace on one device either.
    """
    tracing: Any = import_module("torch.export._trace")
    export = tracing._export

    def export_alone(*args: Any, **kwargs: Any) -> Any:
        try:
            with alone():
                return export(*args, **kwargs)
        except RuntimeError as error:
            # torch has no constant in its graphs that says how a new DTensor is placed.
            if "DTensorSpec" not in str(error):
                raise
            raise ArgumentError(
                "torch.export has no graphs in which tensors become DTensors, as in styles of "
                "parallelize_module and in DTensor.from_local; give the module itself, and the "
                "arguments, to ttmlir.compile in the block of its devices, with mesh=mesh where "
                "none of them is a DTensor"
            ) from error

    with attributes_replaced(tracing, {"_export": export_alone}):
        yield
