"""Parameters of torch's modules: their forms, their places, and what modules were called with."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ttmlir import ttnn
from ttmlir.ttnn.model_preprocessing import (
    fold_batch_norm2d_into_conv2d,
    infer_ttnn_module_args,
    preprocess_linear_bias,
    preprocess_linear_weight,
    preprocess_model,
    preprocess_model_parameters,
)


class Block(torch.nn.Module):
    """Modules of each kind."""

    def __init__(self) -> None:
        """Random parameters."""
        super().__init__()
        self.table = torch.nn.Embedding(11, 40)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(40, 24), torch.nn.Linear(24, 8, False)])
        self.norm = torch.nn.LayerNorm(8)
        self.shift = torch.nn.Parameter(torch.rand(8))

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        """Rows of the table through both layers."""
        x = self.layers[1](torch.relu(self.layers[0](self.table(indices))))
        return self.norm(x) + self.shift


def test_parameters_of_a_model(device: Any) -> None:
    """A model computes in ttnn with its parameters as it does in torch."""
    torch.default_generator.manual_seed(0)
    model = Block().bfloat16().float()
    parameters = preprocess_model_parameters(initialize_model=lambda: model, device=device)
    assert list(parameters) == ["table", "layers", "norm", "shift"]
    first, second = parameters.layers
    assert (first.weight.shape, first.bias.shape) == ([40, 24], [1, 24])
    assert "bias" not in second
    assert parameters.table.weight.layout == ttnn.ROW_MAJOR_LAYOUT
    assert (first.weight.layout, first.weight.dtype) == (ttnn.TILE_LAYOUT, ttnn.bfloat16)
    assert first.weight.device() is device
    with pytest.raises(AttributeError) as error:
        _ = parameters.layer
    assert str(error.value) == "no parameter 'layer'; there are table, layers, norm, shift"
    indices = torch.tensor([[1, 10, 3], [4, 4, 0]])
    x = ttnn.embedding(
        ttnn.from_torch(indices, ttnn.uint32, device=device), parameters.table.weight
    )
    x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
    x = ttnn.linear(x, first.weight, bias=first.bias, activation="relu")
    x = ttnn.linear(x, second.weight)
    x = ttnn.layer_norm(x, epsilon=1e-5, weight=parameters.norm.weight, bias=parameters.norm.bias)
    x = ttnn.add(x, ttnn.to_layout(parameters.shift, ttnn.TILE_LAYOUT))
    expected = model(indices).detach()
    assert torch.allclose(ttnn.to_torch(x).float(), expected, atol=0.05)


def test_choices() -> None:
    """Modules may stay torch's, or have parameters of their own."""

    def choose(module: Any, name: str) -> dict[str, Any]:
        return {"both": [1, {"x": 2}]} if name == "norm" else {}

    model = Block()
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model,
        convert_to_ttnn=lambda module, name: name != "layers.1",
        custom_preprocessor=choose,
    )
    assert parameters.layers[1].weight is model.layers[1].weight
    assert isinstance(parameters.layers[0].weight, ttnn.Tensor)
    assert parameters.norm.both[1].x == 2


def test_weights_and_biases() -> None:
    """Weights are turned; data types are those that are asked for."""
    weight, bias = torch.rand(8, 40), torch.rand(8)
    made = preprocess_linear_weight(weight, dtype=ttnn.float32)
    assert torch.equal(ttnn.to_torch(made), weight.T)
    made = preprocess_linear_bias(bias, dtype=ttnn.bfloat8_b)
    assert (made.shape, made.dtype) == ([1, 8], ttnn.bfloat8_b)
    with pytest.raises(RuntimeError, match="Layout must be Layout::TILE for bfloat8_b"):
        preprocess_linear_weight(weight, dtype=ttnn.bfloat8_b, layout=ttnn.ROW_MAJOR_LAYOUT)


@pytest.mark.parametrize("has_bias", [True, False])
def test_folded_convolutions(has_bias: bool, device: Any) -> None:
    """A convolution with folded parameters is the convolution and the normalisation behind it."""
    torch.default_generator.manual_seed(0)
    conv = torch.nn.Conv2d(3, 5, 3, padding=1, bias=has_bias)
    norm = torch.nn.BatchNorm2d(5)
    norm(conv(torch.rand(4, 3, 6, 7) * 3))
    norm.eval()
    weight, bias = fold_batch_norm2d_into_conv2d(conv, norm)
    image = torch.rand(2, 3, 6, 7)
    result = ttnn.conv2d(
        input_tensor=ttnn.from_torch(image.permute(0, 2, 3, 1), device=device),
        weight_tensor=ttnn.from_torch(weight.detach()),
        bias_tensor=ttnn.from_torch(bias.detach()),
        device=device,
        in_channels=3,
        out_channels=5,
        batch_size=2,
        input_height=6,
        input_width=7,
        kernel_size=(3, 3),
        padding=(1, 1),
    )
    expected = norm(conv(image)).permute(0, 2, 3, 1).reshape(1, 1, -1, 5)
    assert torch.allclose(ttnn.to_torch(result), expected.detach(), atol=1e-4)
    with pytest.raises(RuntimeError, match=r"a model is a torch\.nn\.Module, not 3"):
        preprocess_model_parameters(initialize_model=lambda: 3)
    with pytest.raises(RuntimeError, match="must have track_running_stats=True to be folded"):
        fold_batch_norm2d_into_conv2d(conv, torch.nn.BatchNorm2d(5, track_running_stats=False))


def test_arguments_of_modules() -> None:
    """Convolutions and poolings are found with the images that they meet."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, (3, 1), stride=2), torch.nn.MaxPool2d(2), torch.nn.ReLU()
    )
    args = infer_ttnn_module_args(
        model=model, run_model=lambda each: each(torch.rand(2, 3, 17, 12)), device=None
    )
    conv, pool = args["0"], args["1"]
    assert (conv.in_channels, conv.kernel_size, conv.stride) == (3, (3, 1), (2, 2))
    assert (conv.batch_size, conv.input_height, conv.input_width) == (2, 17, 12)
    assert (pool.channels, pool.input_height, pool.input_width, pool.kernel_size) == (4, 8, 6, 2)
    seen: list[tuple[str, Any]] = []

    def collect(module: Any, name: str, given: Any) -> dict[str, Any]:
        seen.append((name, given))
        return {}

    preprocess_model_parameters(
        initialize_model=lambda: model,
        run_model=lambda each: each(torch.rand(2, 3, 17, 12)),
        custom_preprocessor=collect,
    )
    assert seen[1] == ("0", conv)
    found = preprocess_model(
        initialize_model=lambda: model,
        run_model=lambda each: each(torch.rand(2, 3, 17, 12)),
        reader_patterns_cache={},
    )
    assert found[0].ttnn_module_args == conv
    assert found[0].weight.shape == [4, 3, 3, 1]
    assert found[1].ttnn_module_args == pool
    assert "ttnn_module_args" not in preprocess_model(initialize_model=lambda: model)[0]
