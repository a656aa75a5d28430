"""Small models of plain torch, each with the layers that its family is known for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Model = tuple[nn.Module, tuple[Tensor, ...]]


def norm_conv(inputs: int, outputs: int, kernel: int = 3, **options: Any) -> nn.Sequential:
    """A convolution without bias, batch normalization, and relu."""
    conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False, **options)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU())


class Residual(nn.Module):
    """What a layer computes, added to its input."""

    def __init__(self, *layers: nn.Module) -> None:
        """Make the layers."""
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Add."""
        return x + self.layers(x)


def residual_network() -> Model:
    """A residual network of four stages."""
    layers: list[nn.Module] = [norm_conv(3, 32, 7, stride=2), nn.MaxPool2d(3, 2, 1)]
    width = 32
    for stage in range(4):
        if stage:
            layers.append(norm_conv(width, 2 * width, stride=2))
            width *= 2
        layers += [Residual(norm_conv(width, width), norm_conv(width, width)) for _ in range(2)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 100)]
    return nn.Sequential(*layers), (torch.randn(1, 3, 128, 128),)


def inverted_bottlenecks() -> Model:
    """Depthwise convolutions between products, with squeeze and excitation's hard sigmoids."""
    layers: list[nn.Module] = [norm_conv(3, 16, stride=2)]
    for width in (16, 24, 40):
        wide = width * 4
        block = [
            norm_conv(width, wide, 1),
            norm_conv(wide, wide, 5, groups=wide),
            nn.Hardswish(),
            nn.Conv2d(wide, width, 1),
        ]
        layers += [Residual(*block), norm_conv(width, {16: 24, 24: 40, 40: 80}[width], stride=2)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(80, 100)]
    return nn.Sequential(*layers), (torch.randn(1, 3, 128, 128),)


def grouped_network() -> Model:
    """Grouped convolutions, as of aggregated residual transformations."""
    block = [norm_conv(64, 128, 1), norm_conv(128, 128, groups=32), norm_conv(128, 64, 1)]
    layers = [norm_conv(3, 64, stride=2), *(Residual(*block) for _ in range(3))]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 100)]
    return nn.Sequential(*layers), (torch.randn(1, 3, 96, 96),)


class UNet(nn.Module):
    """Down by pooling, up by nearest pixels, with what was there on the way down."""

    def __init__(self, width: int = 16) -> None:
        """Make the layers."""
        super().__init__()
        self.first = norm_conv(3, width)
        self.down = norm_conv(width, 2 * width)
        self.deep = norm_conv(2 * width, 2 * width)
        self.up = norm_conv(4 * width, width)
        self.last = nn.Conv2d(2 * width, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Segment."""
        first = self.first(x)
        down = self.down(functional.max_pool2d(first, 2))
        deep = self.deep(functional.max_pool2d(down, 2))
        up = functional.interpolate(deep, scale_factor=2, mode="nearest")
        up = self.up(torch.cat([up, down], 1))
        up = functional.interpolate(up, scale_factor=2, mode="nearest")
        return self.last(torch.cat([up, first], 1))


def segmentation() -> Model:
    """A U-Net."""
    return UNet(), (torch.randn(1, 3, 128, 128),)


def generator() -> Model:
    """Transposed convolutions, one of them grouped, from noise to an image."""
    layers: list[nn.Module] = [nn.ConvTranspose2d(64, 128, 4), nn.BatchNorm2d(128), nn.ReLU()]
    for width in (128, 64, 32):
        groups = 8 if width == 64 else 1
        layers += [
            nn.ConvTranspose2d(width, width // 2, 4, stride=2, padding=1, groups=groups),
            nn.BatchNorm2d(width // 2),
            nn.LeakyReLU(0.2),
        ]
    layers += [nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1), nn.Tanh()]
    return nn.Sequential(*layers), (torch.randn(4, 64, 1, 1),)


class SuperResolution(nn.Module):
    """Bicubic enlargement plus details, from reflected borders and shuffled pixels."""

    def __init__(self, width: int = 32) -> None:
        """Make the layers."""
        super().__init__()
        layers: list[nn.Module] = []
        for inputs in (3, width, width):
            layers += [nn.ReflectionPad2d(1), nn.Conv2d(inputs, width, 3), nn.GELU()]
        self.details = nn.Sequential(*layers, nn.Conv2d(width, 12, 1), nn.PixelShuffle(2))

    def forward(self, x: Tensor) -> Tensor:
        """Double both extents."""
        wide = functional.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return wide + self.details(x)


def super_resolution() -> Model:
    """Sharpened images of twice the size."""
    return SuperResolution(), (torch.randn(1, 3, 96, 96),)


class Decoder(nn.Module):
    """Masked attention over tokens, before gelu in its exact form."""

    def __init__(self, width: int = 256, layers: int = 4, words: int = 1000) -> None:
        """Make the layers."""
        super().__init__()
        self.words = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(
            width, 8, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Numbers for the next word."""
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.layers(self.words(tokens), mask, is_causal=True))


def language_model() -> Model:
    """A decoder of tokens."""
    return Decoder(), (torch.randint(0, 1000, (1, 128)),)


class Patches(nn.Module):
    """A transformer over patches of an image."""

    def __init__(self, width: int = 192, layers: int = 4) -> None:
        """Make the layers."""
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.positions = nn.Parameter(torch.randn(1, 64, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 3, 4 * width, 0.0, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 100)

    def forward(self, image: Tensor) -> Tensor:
        """Classify."""
        x = self.patches(image).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.layers(x).mean(1))


def vision_transformer() -> Model:
    """A classifier of patches."""
    return Patches(), (torch.randn(1, 3, 128, 128),)


class Recurrent(nn.Module):
    """Two layers of LSTM over a series."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.layers = nn.LSTM(32, 128, 2, batch_first=True)
        self.head = nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Classify by the last state."""
        return self.head(self.layers(x)[0][:, -1])


def recurrent_network() -> Model:
    """A classifier of series."""
    return Recurrent(), (torch.randn(16, 32, 32),)


class GraphNetwork(nn.Module):
    """Messages along edges, added up at their ends."""

    def __init__(self, width: int = 64) -> None:
        """Make the layers."""
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3))

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """New features of the nodes."""
        begin, end = edges
        for layer in self.layers:
            messages = functional.silu(layer(torch.cat([nodes[begin], nodes[end]], 1)))
            nodes = nodes + torch.zeros_like(nodes).index_add(0, end, messages)
        return nodes


def graph_network() -> Model:
    """Features of a graph of 2,000 edges."""
    return GraphNetwork(), (torch.randn(500, 64), torch.randint(0, 500, (2, 2000)))


def dilated_sound() -> Model:
    """Dilated convolutions along time."""
    layers: list[nn.Module] = [nn.Conv1d(1, 64, 1)]
    for level in range(5):
        step = 2**level
        layers.append(Residual(nn.Conv1d(64, 64, 3, padding=step, dilation=step), nn.Tanh()))
    return nn.Sequential(*layers, nn.Conv1d(64, 8, 1)), (torch.randn(1, 1, 4000),)


class ConvNext(nn.Module):
    """Wide depthwise windows, normalization of channels, and gelu."""

    def __init__(self, width: int) -> None:
        """Make the layers."""
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the block finds."""
        inner = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + self.narrow(functional.gelu(self.wide(inner))).permute(0, 3, 1, 2)


def modern_convolutions() -> Model:
    """A convolutional network in the manner of transformers."""
    layers = [nn.Conv2d(3, 48, 4, 4), ConvNext(48), ConvNext(48)]
    layers += [nn.Conv2d(48, 96, 2, 2), ConvNext(96), ConvNext(96)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 100)]
    return nn.Sequential(*layers), (torch.randn(1, 3, 128, 128),)


FAMILIES: dict[str, Callable[[], Model]] = {
    "residual network": residual_network,
    "inverted bottlenecks": inverted_bottlenecks,
    "grouped network": grouped_network,
    "segmentation": segmentation,
    "generator": generator,
    "super resolution": super_resolution,
    "language model": language_model,
    "vision transformer": vision_transformer,
    "recurrent network": recurrent_network,
    "graph network": graph_network,
    "dilated sound": dilated_sound,
    "modern convolutions": modern_convolutions,
}
"""What makes a model and its arguments, by name."""
