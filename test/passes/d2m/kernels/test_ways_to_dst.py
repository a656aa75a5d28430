"""Unpackers are set anew between circular buffers whose tiles go to DST in different ways."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ttmlir

_X = np.ones((40, 133), np.float32)
_COPIES = {"copy_tile", "unary_bcast", "transpose_wh_tile"}
_SETS_A = {
    "compute_kernel_hw_startup": 0,
    "reconfig_data_format_srca": 0,
    "unary_bcast_init": 0,
    "reconfig_data_format": 0,
}
_READS_A = {"copy_tile": 0, "transpose_wh_tile": 0, "reduce_tile": 0, "matmul_block": 1}


@pytest.mark.parametrize("element", ["float32", "bfloat16"])
def test_no_tile_is_unpacked_the_other_way(element: str) -> None:
    """What is copied with all bits and what a reduction reads have one format, and two ways."""

    def program(x):
        x = x - x.max(-1, keepdims=True)
        return x / (x * x).sum(-1, keepdims=True)

    text = ttmlir.compile(program, _X.astype(element), target="kernels").text("ttmetal")
    seen = 0
    for body in re.findall(r"func\.func private @compute\d+\(.*?\n  }\n", text, re.DOTALL):
        formats = dict(
            re.findall(r"(%arg\d+): !ttkernel\.cb<\w+, \d+, memref<.*?(f32|bf16)>>", body)
        )
        calls = re.findall(r'"ttkernel\.(\w+)"\(([^)]*)\)', body)
        readers: dict[str, set[str]] = {}
        for name, operands in calls:
            for number, operand in enumerate(operands.split(", ")):
                if operand in formats and (name in _COPIES or _READS_A.get(name) == number):
                    readers.setdefault(operand, set()).add(name)
        both = {name for name, users in readers.items() if users - _COPIES}
        current = ""
        for name, operands in calls:
            places = operands.split(", ")
            if name in _SETS_A:
                current = places[_SETS_A[name]]
            elif name in _READS_A:
                read = places[_READS_A[name]]
                assert formats[current] == formats[read], name
                if formats[read] == "f32":
                    assert (current in both) == (read in both), name
                    seen += 1
    assert seen or element == "bfloat16"
