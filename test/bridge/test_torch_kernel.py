"""Kernels as operations of torch, against torch's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from samples.framework_functions import build_add, build_exp

import ttmlir
from ttmlir.bridge import TorchKernel
from ttmlir.program import read_custom_kernel
from ttmlir.runtime import Tensor, open_device, read_binary, submit

EXP = TorchKernel("exp", build_exp, grid=(3,))
ADD = TorchKernel("add", build_add, grid=(2, 2))


def numbers(*shape: int, dtype: Any = torch.float32) -> torch.Tensor:
    """The same numbers each time, from -1 to 1."""
    generator = torch.Generator().manual_seed(0)
    return (2 * torch.rand(shape, generator=generator) - 1).to(dtype)


class Model(torch.nn.Module):
    """Kernels between ordinary operations: two of one function and one of another."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Two exponentials and a sum."""
        first = EXP(torch.sin(x), out_shape=x)
        second = EXP(first * 0.5, out_shape=x)
        return ADD(first, second + y, out_shape=x).sum(dim=1)


def expected(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The model in torch's operations."""
    first = torch.exp(torch.sin(x))
    return (first + torch.exp(first * 0.5) + y).sum(dim=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(7,), (3, 40), (2, 33, 65)])
def test_eager(dtype: Any, shape: tuple[int, ...]) -> None:
    """The simulator computes it."""
    x = numbers(*shape, dtype=dtype)
    result = EXP(x, out_shape=x)
    assert (result.shape, result.dtype) == (x.shape, dtype)
    torch.testing.assert_close(result.double(), x.double().exp(), rtol=2**-7, atol=0)
    assert EXP.last_run is not None
    assert EXP.last_run.cycles > 0


def test_outputs_may_be_given_by_reference() -> None:
    """The last argument is a result, and is not changed."""
    x, out = numbers(3, 5), torch.full((3, 5), 7.0)
    torch.testing.assert_close(ADD(x, x, out), 2 * x, rtol=2**-8, atol=2**-9)
    assert torch.all(out == 7)


def test_torch_checks_the_operator() -> None:
    """Its schema, its fake implementation and its meaning under export."""
    x = numbers(5, 70)
    config = EXP.dump_config(x, x).backend_config
    torch.library.opcheck(torch.ops.ttmlir.kernel.default, ([x], config))


def test_an_exported_program_keeps_its_kernels(tmp_path: Path) -> None:
    """Into the file, which runs without anything else."""
    x, y = numbers(5, 70), 2 * numbers(5, 70)
    exported = torch.export.export(Model(), (x, y))
    calls = [node for node in exported.graph.nodes if "ttmlir.kernel" in str(node.target)]
    assert [read_custom_kernel(node.args[1]).name for node in calls] == ["exp", "exp", "add"]
    for model in (exported, Model()):
        arguments = () if model is exported else (x, y)
        compiled = ttmlir.compile(model, *arguments)
        assert compiled.text("ttir").count("ttir.custom_kernel") == 3
        torch.testing.assert_close(compiled(x, y), expected(x, y), rtol=1e-5, atol=1e-5)
    compiled.save(str(tmp_path / "model.ttnn"))
    binary = read_binary((tmp_path / "model.ttnn").read_bytes(), "model.ttnn")
    tensors = [Tensor.from_numpy(each.numpy()) for each in (x, y)]
    (result,) = submit(open_device(), binary, 0, tensors)
    torch.testing.assert_close(
        torch.from_numpy(result.to_numpy()), expected(x, y), rtol=1e-5, atol=1e-5
    )


def test_wrong_shapes_are_refused_at_the_users_line() -> None:
    """A text for other tensors than those of the call."""
    config = EXP.dump_config(numbers(5, 70), numbers(5, 70)).backend_config

    class Wrong(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.ttmlir.kernel([x], config)[0]

    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(Wrong(), numbers(70, 5))
    message = str(caught.value)
    assert "test_torch_kernel.py:" in message.splitlines()[0]
    assert (
        "operand #0 is tensor<70x5xf32>, but 'x' of the kernel 'exp' is tensor<5x70xf32>" in message
    )
    assert "torch.ops.ttmlir.kernel([x], config)[0]" in message


def test_texts_that_are_no_kernels_are_refused() -> None:
    """Before anything runs."""
    with pytest.raises(ValueError, match="the text is no JSON"):
        torch.ops.ttmlir.kernel([numbers(3, 5)], "exp")


def test_gradients_come_from_functions() -> None:
    """The forward pass is the kernel's, the backward pass the user's."""

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
            y = EXP(x, out_shape=x)
            context.save_for_backward(y)
            return y

        @staticmethod
        def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * context.saved_tensors[0]

    x = numbers(5, 70).requires_grad_()
    (Exp.apply(x) ** 2).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, 2 * torch.exp(2 * x.detach()), rtol=2**-6, atol=0)


def test_dtypes_without_a_place_in_memory_are_refused() -> None:
    """With those that have one."""
    x = numbers(3, 5, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"kernels take no tensors of torch\.float64; supported"):
        EXP(x, out_shape=x)
