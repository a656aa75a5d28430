"""Kernels on sharded tensors: run by the simulator, compiled into files, described by hand."""

from __future__ import annotations

import json
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from samples.framework_functions import build_exp

import ttmlir
from ttmlir.bridge import JAXKernel, NumPyKernel, Shards, TensorArgument, TorchKernel
from ttmlir.program import (
    CoreRange,
    DescriptionError,
    KernelDescription,
    KernelTensor,
    ProgramDescription,
    WriterConfig,
)

HEIGHT = Shards("height_sharded", (3, 1))
WIDTH = Shards("width_sharded", (1, 3))
BLOCK = Shards("block_sharded", (2, 2))
MANY = Shards("height_sharded", (11, 1))
"""More cores than a column of the chip has."""

X = np.random.default_rng(0).uniform(-1, 1, (70, 90)).astype(np.float32)


@pytest.mark.parametrize("source", ["dram", HEIGHT, WIDTH, BLOCK, MANY], ids=str)
@pytest.mark.parametrize("target", ["l1", HEIGHT, BLOCK, MANY], ids=str)
def test_kernels_find_their_tensors(source: Any, target: Any) -> None:
    """By tensor accessors, wherever the tiles lie."""
    kernel = NumPyKernel("exp", build_exp, grid=(3,), memory={"x": source, "y": target})
    np.testing.assert_allclose(kernel(X, out_shape=X), np.exp(X), rtol=2**-8)


MEMORIES: list[dict[str, Any]] = [
    {"x": HEIGHT, "y": BLOCK},
    {"x": WIDTH},
    {"y": HEIGHT},
    {"x": MANY, "y": "l1"},
]


@pytest.mark.parametrize("options", ["", "sharding-pass-enabled=true", "enable-grid-set=false"])
@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_operands_are_moved_to_their_cores(memory: dict[str, Any], options: str) -> None:
    """The file says on which cores, whatever the pipeline does with tensors around the kernel."""
    kernel = JAXKernel("exp", build_exp, grid=(3,), memory=memory)
    compiled = ttmlir.compile(lambda x: jnp.cos(kernel(x + 1, out_shape=x)), X, options=options)
    np.testing.assert_allclose(compiled(X), np.cos(np.exp(X + 1)), atol=1e-5)
    (operation,) = (
        each for each in compiled.binary.programs[0].operations if each.table == "GenericOp"
    )
    for tensor, name in zip(operation.tensors("io_tensors"), ("x", "y"), strict=True):
        shards = memory.get(name)
        if isinstance(shards, Shards):
            assert tensor.desc.memory_layout.keyword == shards.layout
            assert tensor.desc.core_ranges == ((0, 0, *shards.grid),)
        else:
            assert not tensor.desc.memory_layout.is_sharded


def test_shards_are_kept_by_torch() -> None:
    """In an exported program, too."""
    kernel = TorchKernel("exp", build_exp, memory=BLOCK)

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cos(kernel(x, out_shape=x))

    x = torch.from_numpy(X)
    compiled = ttmlir.compile(torch.export.export(Model(), (x,)))
    torch.testing.assert_close(compiled(x), torch.cos(torch.exp(x)))


WRITE_SHARD = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto target = TensorAccessor(args, get_common_arg_val<uint32_t>(0), 4096);
    cb_reserve_back(5, 6);
    cb_push_back(5, 6);
    cb_wait_front(5, 6);
    for (uint32_t tile = 0; tile < 6; tile++) {
        const uint32_t row = 2 * get_relative_logical_y() + tile / 3;
        if (row < 3) {
            noc_async_write_tile(3 * row + tile % 3, target, get_read_ptr(5) + 4096 * tile);
        }
    }
    noc_async_write_barrier();
    cb_pop_front(5, 6);
}
"""


def build_copy(x: TensorArgument, y: TensorArgument) -> ProgramDescription:
    """Each core writes the shard that it has."""
    assert x.shard_cores == (CoreRange((0, 0), (0, 1)),)
    assert (x.shard_pages, x.shard_shape, x.num_pages) == (6, (64, 96), 9)
    kernel = KernelDescription(
        name="writer",
        source=WRITE_SHARD,
        config=WriterConfig(),
        core_ranges=x.shard_cores,
        compile_time_args=(y.accessor,),
        common_runtime_args=(y.address,),
    )
    return ProgramDescription(kernels=(kernel,), circular_buffers=(x.shard_buffer(5),))


def test_circular_buffers_are_on_shards() -> None:
    """Two cores have three rows of tiles: of the second one's shard, half is not used."""
    kernel = NumPyKernel("copy", build_copy, memory={"x": Shards("height_sharded", (2, 1))})
    assert np.array_equal(kernel(X, out_shape=X), X)
    content = json.loads(kernel.dump_config(X, X).backend_config)
    assert content["tensors"][0]["shards"] == {"layout": "height_sharded", "grid": [2, 1]}
    assert "shards" not in content["tensors"][1]


def argument(shards: Shards, layout: str = "tile") -> TensorArgument:
    """A tensor of 70x90 numbers."""
    tensor = KernelTensor(
        name="x",
        role="in",
        shape=(70, 90),
        element="f32",
        layout=layout,
        memory="l1",
        shards=shards,
    )
    return TensorArgument(tensor, 0)


def test_cores_of_shards() -> None:
    """By hand: cores beyond a column are counted row by row; cores without a shard have none."""
    many = argument(Shards("height_sharded", (11, 1)), "row_major")
    assert (many.shard_shape, many.num_pages, many.page_size) == ((7, 90), 70, 360)
    # Ten shards of seven rows: eight in the first row of cores, two in the second.
    assert [core for each in many.shard_cores for core in each] == [
        *((x, 0) for x in range(8)),
        *((x, 1) for x in range(2)),
    ]
    parts = argument(Shards("block_sharded", (2, 4)), "row_major")
    assert (parts.shard_shape, parts.num_pages, parts.page_size) == ((35, 23), 280, 92)
    assert parts.shard_cores == (CoreRange((0, 0), (3, 1)),)
    # Three columns of tiles on two cores: the second one has one.
    assert argument(Shards("width_sharded", (1, 2))).shard_pages == 6


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (("interleaved", (1, 1)), {}, "the sharded layout 'interleaved' is not supported; supported"),
    (("block_sharded", (0, 3)), {}, "shards on 0x3 cores; give from 1 to 4096 cores"),
    (("block_sharded", (65, 64)), {}, "shards on 65x64 cores; give from 1 to 4096 cores"),
    (("height_sharded", (2, 2)), {}, "height_sharded tensor is on one column of cores, not on 2x2"),
    (("width_sharded", (2, 2)), {}, "a width_sharded tensor is on one row of cores, not on 2x2"),
    (("block_sharded", (1, 1)), {"memory": "dram"}, "tensor 'x': shards are in the memory l1"),
    (("block_sharded", (1, 1)), {"shape": (9,)}, "a tensor of rank 1 has no shards; give it"),
    (
        ("height_sharded", (2, 1)),
        {"shape": (2, 5, 7)},
        "tensor 'x': matrices of 5 rows one below the other are no whole tiles of 32 rows; merge",
    ),
]


@pytest.mark.parametrize(("shards", "fields", "message"), WRONG, ids=range(len(WRONG)))
def test_shards_that_cannot_be_are_refused(
    shards: Any, fields: dict[str, Any], message: str
) -> None:
    """In words that name the tensor where it is known."""
    form = {"name": "x", "role": "in", "shape": (70, 90), "element": "f32", "memory": "l1"} | fields
    with pytest.raises(DescriptionError, match=message):
        KernelTensor(**form, shards=Shards(*shards))
