"""Scripts that `ttmlir-translate --mlir-to-python` writes run on ttnn, and give right numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir import ttnn
from ttmlir.compiler import lower
from ttmlir.mlir.reporting import OpError
from ttmlir.passes.emitpy.convert_ttnn_to_emitpy import convert_to_functions
from ttmlir.target.python import emitter

UTILS = Path(emitter.__file__).with_name("script_functions.py")
MODULE = """module { func.func @main(
      %a: tensor<33x70xf32>, %b: tensor<70x5xf32>, %c: tensor<1x5xf32>
      {ttcore.argument_type = #ttcore.argument_type<constant>}) -> tensor<33x5xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<33x70xf32>, tensor<70x5xf32>) -> tensor<33x5xf32>
  %1 = "ttir.neg"(%c) : (tensor<1x5xf32>) -> tensor<1x5xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<33x5xf32>, tensor<1x5xf32>) -> tensor<33x5xf32>
  %3 = "ttir.softmax"(%2) <{dimension = 1 : si32}> : (tensor<33x5xf32>) -> tensor<33x5xf32>
  return %3 : tensor<33x5xf32> } }"""


def test_script_computes_what_the_module_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """On ttnn of NumPy, twice: what follows from constants is still there the second time."""
    utils: dict[str, Any] = {}
    monkeypatch.setitem(sys.modules, "ttnn", ttnn)
    exec(compile(UTILS.read_text(encoding="utf-8"), "utils.py", "exec"), utils)
    monkeypatch.setitem(sys.modules, "utils", Namespace(utils))
    script: dict[str, Any] = {}
    # Constants lie on the host.
    text = emitter.emit_python(lower(MODULE, "ttir-to-emitpy-pipeline"))
    exec(compile(text, "model.py", "exec"), script)
    # The script's device is this one, whose results are rounded once.
    ttnn.close_device(ttnn.open_device(device_id=0))
    ttnn.open_device(device_id=0, card_bits=False)
    device = utils["DeviceGetter"].get_device((1, 1))
    generator = np.random.default_rng(0)
    shapes = ((33, 70), (70, 5), (1, 5))
    a, b, c = (generator.normal(size=shape).astype(np.float32) for shape in shapes)
    exponents = np.exp(a @ b - c)
    expected = exponents / exponents.sum(1, keepdims=True)
    for _ in range(2):
        inputs = [
            ttnn.Tensor(
                each.flatten().tolist(),
                list(each.shape),
                ttnn.float32,
                ttnn.ROW_MAJOR_LAYOUT,
                where,
            )
            for each, where in ((a, device), (b, device), (c, None))
        ]
        result = ttnn.from_device(script["_main"](inputs)[0]).to(ttnn.ROW_MAJOR_LAYOUT)
        np.testing.assert_allclose(np.array(result.to_list()), expected, atol=1e-5)
    assert len(script["_CONST_EVAL_CACHE"]) == 1
    utils["DeviceGetter"].close()


class Namespace:
    """A module of these names."""

    def __init__(self, names: dict[str, Any]) -> None:
        """Take the names."""
        self.__dict__.update(names)


@pytest.mark.parametrize("body", ["{ return }", ""])
def test_names_are_no_code(body: str) -> None:
    """Names of functions come from files, and a script is run."""
    visibility = "" if body else "private "
    text = f'func.func {visibility}@"f(): pass\\0Aimport os\\0Adef g"() {body}'
    module = lower(text, "")
    with pytest.raises(OpError, match="is no name in Python; rename it"):
        emitter.emit_python(module)


def test_functions_take_one_chip() -> None:
    """Those of scripts of models, which are given a device."""
    text = """
        #dram = #ttnn.buffer_type<dram>
        #layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
            memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
        func.func @main() -> tensor<32x32xbf16, #layout> {
          %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>,
              mesh_shape = #ttnn<mesh_shape 1xMESH>}> : () -> !ttnn.device
          %1 = "ttnn.ones"(%0) <{shape = #ttnn.shape<32x32>}>
              : (!ttnn.device) -> tensor<32x32xbf16, #layout>
          return %1 : tensor<32x32xbf16, #layout>
        }
    """
    for columns in "12":
        described = convert_to_functions(lower(text.replace("MESH", columns), ""))
        assert [*described.values()] == ["[32, 32] bfloat16 TILE DRAM"]
