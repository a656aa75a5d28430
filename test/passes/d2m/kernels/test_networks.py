"""Which network the kernels of a program of `ttir-to-ttmetal-pipeline` move data over."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ttmlir

SUM = """
func.func @sum(%x: tensor<{shape}xbf16>, %y: tensor<{shape}xbf16>) -> tensor<{shape}xbf16> {{
  %0 = stablehlo.add %x, %y : tensor<{shape}xbf16>
  return %0 : tensor<{shape}xbf16>
}}
"""
PRODUCT = """
func.func @product(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
      : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
"""
DRAM = "default-input-memspace=dram default-output-memspace=dram"
LOWER, UPPER = "0x0, 4x8", "4x0, 4x8"


def networks(text: str, options: str) -> set[tuple[str, str, str]]:
    """Kernel, cores and network of what moves data in a program."""
    module = ttmlir.compile(text, target="kernels", options=options).text("ttmetal")
    config = r"#ttmetal\.noc_config<@(reader|writer)\d+, #ttmetal\.core_range<([^>]+)>.*?, (noc.)>"
    return set(re.findall(config, module))


def test_half_of_the_cores_read_on_the_other_network() -> None:
    """Of programs that know pages of DRAM only: links are narrower than DRAM."""
    assert networks(SUM.format(shape="512x512"), DRAM) == {
        ("reader", LOWER, "noc0"),
        ("writer", LOWER, "noc1"),
        ("reader", UPPER, "noc1"),
        ("writer", UPPER, "noc0"),
    }


@pytest.mark.parametrize(
    ("text", "options", "cores"),
    [
        (SUM.format(shape="512x512"), "", "0x0, 8x8"),
        (PRODUCT, DRAM, "0x0, 8x8"),
        (SUM.format(shape="32x64"), DRAM, "0x0, 1x2"),
    ],
    ids=["shards in L1", "multicast", "one row"],
)
def test_other_programs_read_on_one_network(text: str, options: str, cores: str) -> None:
    """Kernels that say where cores are on a network, and rows of cores, are not divided."""
    assert networks(text, options) == {("reader", cores, "noc0"), ("writer", cores, "noc1")}


def test_sums_on_both_networks() -> None:
    """The sanitizer sees no race, and NumPy the same numbers."""
    x, y = np.random.default_rng(2).standard_normal((2, 96, 416)).astype(np.float32)
    text = SUM.format(shape="96x416").replace("bf16", "f32")
    model = ttmlir.compile(text, target="kernels", options=DRAM)
    np.testing.assert_allclose(model(x, y), x + y, rtol=1e-6)
