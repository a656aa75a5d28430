"""At least one model of nearly every family of timm."""

from __future__ import annotations

from collections.abc import Iterator

from model_zoo.entry import Entry, Sample
from model_zoo.torchvision_models import import_torchvision

_NETWORKS = {
    "resnet10t": 64,
    "resnetv2_50": 32,
    "resnest14d": 64,
    "res2net50_14w_8s": 64,
    "skresnet18": 64,
    "seresnet50": 32,
    "legacy_seresnet18": 64,
    "densenet121": 32,
    "dpn48b": 64,
    "dla34": 64,
    "vgg11": 32,
    "vovnet39a": 64,
    "ese_vovnet19b_slim_dw": 64,
    "xception41": 64,
    "legacy_xception": 96,
    "inception_v4": 96,
    "inception_next_atto": 64,
    "selecsls42": 64,
    "cspresnet50": 64,
    "repvgg_a0": 64,
    "regnetx_002": 64,
    "regnety_002": 64,
    "efficientnet_b0": 64,
    "tf_efficientnetv2_b0": 64,
    "mobilenetv2_050": 64,
    "mobilenetv3_small_050": 64,
    "mobilenetv4_conv_small_050": 64,
    "mixnet_s": 64,
    "fbnetc_100": 64,
    "hardcorenas_a": 64,
    "ghostnet_050": 64,
    "repghostnet_050": 64,
    "lcnet_050": 64,
    "rexnet_100": 64,
    "hgnetv2_b0": 64,
    "hrnet_w18_small": 64,
    "nf_resnet26": 64,
    "dm_nfnet_f0": 32,
    "convmixer_768_32": 64,
    "convnext_atto": 64,
    "convnextv2_atto": 64,
    "edgenext_xx_small": 64,
    "fasternet_t0": 64,
    "starnet_s1": 64,
    "mambaout_femto": 64,
    "repvit_m0_9": 64,
    "rdnet_tiny": 64,
    "tresnet_m": 64,
    "poolformer_s12": 64,
    "caformer_s18": 64,
    "swiftformer_xs": 224,
    "mobilevit_xxs": 64,
    "mobilevitv2_050": 64,
    "efficientvit_b0": 64,
    "efficientvit_m0": 224,
    "efficientformer_l1": 224,
    "efficientformerv2_s0": 224,
    "fastvit_t8": 64,
    "shvit_s1": 224,
    "nextvit_small": 64,
    "botnet26t_256": 256,
    "coatnet_nano_rw_224": 224,
    "visformer_tiny": 224,
    "focalnet_tiny_srf": 64,
    "davit_tiny": 64,
    "pvt_v2_b0": 64,
}
"""Models that take any image, and the width of a small one; else the width that they are for."""
_PATCHES = {
    "vit_tiny_patch16_224": 64,
    "deit_tiny_distilled_patch16_224": 64,
    "deit3_small_patch16_224": 32,
    "beit_base_patch16_224": 32,
    "eva02_tiny_patch14_224": 56,
    "vit_relpos_small_patch16_224": 64,
    "cait_xxs24_224": 64,
    "xcit_nano_12_p16_224": 64,
    "pit_ti_224": 224,
    "levit_128s": 224,
    "convit_tiny": 64,
    "crossvit_tiny_240": 240,
    "coat_lite_tiny": 64,
    "mixer_s32_224": 64,
    "gmlp_s16_224": 64,
    "resmlp_12_224": 64,
    "swin_tiny_patch4_window7_224": 224,
    "swinv2_cr_tiny_ns_224": 224,
    "twins_svt_small": 64,
    "tnt_s_legacy_patch16_224": 64,
    "volo_d1_224": 224,
    "nest_tiny_jx": 224,
    "mvitv2_tiny": 224,
    "hiera_tiny_224": 224,
    "sequencer2d_s": 64,
    "tiny_vit_5m_224": 224,
    "gcvit_xxtiny": 224,
    "vitamin_small_224": 64,
}
"""Models that are made for one width of images, and a small one."""


def _network(name: str, size: int, *, fixed: bool) -> Entry:
    def make() -> Sample:
        import_torchvision()
        import timm
        import torch

        more = {"img_size": size} if fixed and size not in (224, 240) else {}
        model = timm.create_model(name, pretrained=False, num_classes=10, **more)
        return Sample(model, (torch.randn(2, 3, size, size),))

    return Entry("timm", "image", name, make)


def entries() -> Iterator[Entry]:
    """All of them."""
    for name, size in _NETWORKS.items():
        yield _network(name, size, fixed=False)
    for name, size in _PATCHES.items():
        yield _network(name, size, fixed=True)
