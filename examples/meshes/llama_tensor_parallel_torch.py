"""A block of a Llama model in torch, whose weights are divided over the devices of a mesh.

    python examples/meshes/llama_tensor_parallel_torch.py --mesh 2x4

Rows of the mesh share a batch, columns the heads and the hidden features, by the plan that
`parallelize_module` of torch takes.
"""

from __future__ import annotations

import torch
from mesh_report import parse_mesh, report
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

import ttmlir

BATCH, TOKENS, WIDTH, HIDDEN, HEADS = 4, 24, 128, 352, 8
PLAN = {
    **dict.fromkeys(("query", "key", "value", "gate", "up"), ColwiseParallel()),
    **dict.fromkeys(("out", "down"), RowwiseParallel()),
}


class Block(nn.Module):
    """Attention, then a gated product (SwiGLU)."""

    def __init__(self):
        """Seven products, and two norms before the two parts."""
        super().__init__()
        for name in ("query", "key", "value", "out"):
            setattr(self, name, nn.Linear(WIDTH, WIDTH, bias=False))
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
        self.before, self.between = (nn.Parameter(torch.randn(WIDTH)) for _ in range(2))

    def norm(self, x, scale):
        """Rows of mean square 1, scaled."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * scale

    def forward(self, x):
        """A device has some heads, of whatever number there are."""
        y = self.norm(x, self.before)
        q, k, v = (
            product(y).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
            for product in (self.query, self.key, self.value)
        )
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.norm(x, self.between)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class OnMesh(nn.Module):
    """The block, of an input whose batch is divided over the rows of a mesh."""

    def __init__(self, block):
        """Keep it."""
        super().__init__()
        self.block = block

    def forward(self, x):
        """Each device computes with its part."""
        return DTensor.from_local(self.block(x.to_local()), x.device_mesh, x.placements)


def main():
    """Compile, run, and compare with the block on one device."""
    mesh_shape = parse_mesh(__doc__)
    torch.manual_seed(0)
    block, x = Block(), torch.randn(BATCH, TOKENS, WIDTH)
    with torch.no_grad():
        expected = block(x)
    with ttmlir.virtual_devices(mesh_shape[0] * mesh_shape[1]):
        mesh = init_device_mesh("cpu", mesh_shape, mesh_dim_names=("batch", "model"))
        parallelize_module(block, mesh["model"], PLAN)
        compiled = ttmlir.compile(
            OnMesh(block), distribute_tensor(x, mesh, [Shard(0), Replicate()])
        )
    result = compiled(x)
    sums = compiled.text("ttir").count('"ttir.all_reduce"')
    print(f"{mesh_shape[0] * mesh_shape[1]} devices, {sums} sums over the columns of the mesh")
    report(compiled, result.detach(), expected)


if __name__ == "__main__":
    main()
