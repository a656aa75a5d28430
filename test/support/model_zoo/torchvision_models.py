"""Every family of torchvision, by the smallest of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from model_zoo.entry import Entry, Sample


def import_torchvision() -> Any:
    """`torchvision.models`, also where its extension is for another torch.

    Its operators on boxes are declared then, so that it can be imported; no model here calls them.
    """
    import torch

    try:
        return import_module("torchvision.models")
    except RuntimeError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
        return import_module("torchvision.models")


def _classifier(name: str, size: int = 64, **more: Any) -> Entry:
    def make() -> Sample:
        import torch

        model = getattr(import_torchvision(), name)(weights=None, num_classes=10, **more)
        return Sample(model, (torch.randn(2, 3, size, size),))

    return Entry("torchvision", "image", name, make)


def _segmenter(name: str) -> Entry:
    def make() -> Sample:
        import torch

        model = getattr(import_torchvision().segmentation, name)(
            weights=None, weights_backbone=None, num_classes=5
        )
        return Sample(model, (torch.randn(2, 3, 64, 64),))

    return Entry("torchvision", "segmentation", name, make)


def _video(name: str, frames: int = 8, size: int = 32, **more: Any) -> Entry:
    def make() -> Sample:
        import torch

        model = getattr(import_torchvision().video, name)(weights=None, num_classes=10, **more)
        return Sample(model, (torch.randn(2, 3, frames, size, size),))

    return Entry("torchvision", "video", name, make)


def _raft() -> Sample:
    import torch

    model = import_torchvision().optical_flow.raft_small(weights=None)
    first, second = torch.rand(2, 1, 3, 128, 128) * 2 - 1
    return Sample(model, (first, second), {"num_flow_updates": 2})


def entries() -> Iterator[Entry]:
    """All families but those of quantized numbers, which are the same networks."""
    yield _classifier("alexnet")
    yield _classifier("vgg11_bn", 32)
    yield _classifier("resnet18")
    yield _classifier("resnext50_32x4d")
    yield _classifier("wide_resnet50_2")
    yield _classifier("squeezenet1_1")
    yield _classifier("densenet121")
    yield _classifier("inception_v3", 75, init_weights=False)
    yield _classifier("googlenet", init_weights=False)
    yield _classifier("shufflenet_v2_x0_5")
    yield _classifier("mobilenet_v2")
    yield _classifier("mobilenet_v3_small")
    yield _classifier("mnasnet0_5")
    yield _classifier("efficientnet_b0")
    yield _classifier("efficientnet_v2_s")
    yield _classifier("regnet_x_400mf")
    yield _classifier("regnet_y_400mf")
    yield _classifier("convnext_tiny")
    yield _classifier("vit_b_32", image_size=64)
    yield _classifier("swin_t")
    yield _classifier("swin_v2_t")
    yield _classifier("maxvit_t", input_size=(224, 224), size=224)
    yield _segmenter("fcn_resnet50")
    yield _segmenter("deeplabv3_mobilenet_v3_large")
    yield _segmenter("lraspp_mobilenet_v3_large")
    yield _video("r3d_18")
    yield _video("mc3_18")
    yield _video("r2plus1d_18")
    yield _video("mvit_v2_s", 16, 224)
    yield _video("swin3d_t", 4, 32)
    yield Entry("torchvision", "optical flow", "raft_small", _raft)
