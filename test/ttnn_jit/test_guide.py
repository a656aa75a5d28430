"""Every statement of the guide of ttnn.jit, in its order."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.warm_shell import WarmShell

from ttmlir import ttnn, ttnn_jit
from ttmlir.errors import Error
from ttmlir.runtime import load_binary

GUIDE_IR = """\
module {
  func.func @cosh(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %2 = "ttnn.neg"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %3 = "ttnn.exp"(%2) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %4 = "ttnn.add"(%1, %3) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %5 = "ttnn.full"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #ttnn_layout>
    %6 = "ttnn.multiply"(%4, %5) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %6 : tensor<32x32xbf16, #ttnn_layout>
  }
}
"""  # noqa: E501
"""The module that the guide prints, as it prints it."""


def cosh(input_tensor: Any) -> Any:
    """The guide's function."""
    e_pos_x = ttnn.exp(input_tensor)
    e_neg_x = ttnn.exp(ttnn.neg(input_tensor))
    nr_term = ttnn.add(e_pos_x, e_neg_x)
    return ttnn.multiply(nr_term, 0.5)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, tools on the path, and an environment that is as before afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("TTRT_LOGGER_LEVEL", "TTMLIR_RUNTIME_LOGGER_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    before = dict(os.environ)
    yield tmp_path
    os.environ.clear()
    os.environ.update(before)


def tensor(device: Any, *shape: int) -> Any:
    """Numbers between -1 and 1."""
    array = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return ttnn.Tensor(array, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)


def numbers(tensor: Any) -> np.ndarray:
    """The numbers of a tensor."""
    return ttnn.to_numpy(tensor.cpu()).astype(np.float32)


def test_subgraph_becomes_one_fused_kernel(device: Any) -> None:
    """Plain, cosh runs five operations; decorated, one kernel, freely mixed with plain calls."""
    fused = ttnn_jit.jit()(cosh)
    x = tensor(device, 64, 96)
    squared = ttnn.square(x)
    reports = device.command_queue().reports
    before = len(reports)
    result = ttnn.log(fused(squared))
    assert len(reports) == before + 1
    wanted = np.log(np.cosh(numbers(squared)))
    np.testing.assert_allclose(numbers(result), wanted, rtol=0.02, atol=0.01)


def test_flags_and_their_defaults() -> None:
    """The table of flags; those that came later are as the later table has them."""
    found = {
        name: each.default for name, each in inspect.signature(ttnn_jit.jit).parameters.items()
    }
    assert found == {
        "max_grid": (7, 7),
        "debug": False,
        "compile_only": False,
        "enable_cache": True,
        "math_fidelity": "HiFi4",
        "memory_config": None,
        "fallback": False,
        "extra_pipeline_options": "",
        "graph_capture": True,
        "frontend": "tracing",
        "backend": "ttnn",
    }


def test_decorator_wraps_the_function() -> None:
    """A JitFunction with the function's name."""
    wrapped = ttnn_jit.jit()(cosh)
    assert isinstance(wrapped, ttnn_jit.JitFunction)
    assert wrapped.__name__ == "cosh"


def test_printed_ir_is_the_guides(device: Any, environment: Path) -> None:
    """What the function is parsed into: names, attributes and order."""
    text = str(ttnn_jit.jit(compile_only=True)(cosh)(tensor(device, 32, 32)))
    aliases, _, module = text.partition("module {")
    assert f"module {{{module}" == GUIDE_IR
    assert aliases.splitlines()[1].startswith("#ttnn_layout = #ttnn.ttnn_layout<")


def test_debug_prints_every_step(
    device: Any, environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The IR of the three steps, and the variables of the runtime's logs."""
    ttnn_jit.jit(debug=True)(cosh)(tensor(device, 32, 32))
    shown = capsys.readouterr().out
    places = [shown.index(word) for word in ("ttnn.hoist", '"ttir.exp"', '"ttnn.generic"')]
    assert places == sorted(places)
    assert os.environ["TTRT_LOGGER_LEVEL"] == "DEBUG"
    assert os.environ["TTMLIR_RUNTIME_LOGGER_LEVEL"] == "TRACE"


def test_the_environment_names_the_system(
    device: Any, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instead of the device's board, as the guide exports it; a board's name does as well."""
    monkeypatch.setenv("SYSTEM_DESC_PATH", "p150")
    ttnn_jit.jit(compile_only=True)(cosh)(tensor(device, 32, 32))
    system = load_binary(environment / "generated" / "jit" / "cosh" / "cosh.ttnn").system_desc
    assert system is not None
    assert system["chip_descs"][0]["arch"] == "Blackhole"
    monkeypatch.setenv("SYSTEM_DESC_PATH", "nowhere.ttsys")
    with pytest.raises(Error, match=r"nowhere\.ttsys: No such file"):
        ttnn_jit.jit(compile_only=True)(cosh)(tensor(device, 32, 32))


def test_compile_only_dumps_the_flatbuffer(device: Any, environment: Path) -> None:
    """Nothing runs; file, kernels and IR are in generated/jit, and ttrt runs the file."""
    ttnn_jit.jit(compile_only=True)(cosh)(tensor(device, 40, 70))
    assert not device.command_queue().reports
    folder = environment / "generated" / "jit" / "cosh"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("compute0.cpp", "cosh.mlir", "cosh.ttnn", "reader0.cpp", "writer0.cpp"),
    ]
    x = np.linspace(-2, 2, 2800, dtype=np.float32).reshape(40, 70)
    np.save("x.npy", x)
    command = ["ttrt", "run", str(folder / "cosh.ttnn"), "--inputs", "x.npy"]
    subprocess.run([*command, "--save-outputs", "y.npy"], check=True, capture_output=True)
    y = np.load("y.npy").astype(np.float32)
    np.testing.assert_allclose(y, np.cosh(x), rtol=0.02)


def test_program_descriptor_has_everything(device: Any) -> None:
    """Circular buffers, kernel sources and their arguments, addresses among them as tensors."""
    compiled = ttnn_jit.jit()(cosh).compile(tensor(device, 64, 96))
    (program,) = compiled.descriptions.values()
    assert len(program.circular_buffers) >= 2
    assert [kernel.name for kernel in program.kernels] == ["reader0", "writer0", "compute0"]
    assert all("void kernel_main" in k.source or "MAIN" in k.source for k in program.kernels)
    assert all(kernel.common_runtime_args for kernel in program.kernels[:2])


def test_first_call_compiles_and_caches(device: Any) -> None:
    """The key is the tensors' metadata; each function has a cache of its own."""
    first, second = ttnn_jit.jit()(cosh), ttnn_jit.jit()(cosh)
    first(tensor(device, 32, 32))
    assert (first.num_entries, second.num_entries) == (1, 0)
    first(tensor(device, 32, 32))
    assert first.num_entries == 1
    first(tensor(device, 64, 32))
    assert first.num_entries == 2


def test_program_cache_is_used(device: Any) -> None:
    """A second call adds no program to the device's cache."""
    fused = ttnn_jit.jit()(cosh)
    fused(tensor(device, 32, 32))
    entries = device.num_program_cache_entries()
    fused(tensor(device, 32, 32))
    assert device.num_program_cache_entries() == entries


@pytest.mark.parametrize(
    ("name", "advice"), [("mul", "use ttnn.multiply"), ("no_such_function", "call it outside")]
)
def test_unsupported_function(device: Any, name: str, advice: str) -> None:
    """`ttnn.mul` is not supported but `ttnn.multiply` is; nor are names that ttnn lacks."""

    @ttnn_jit.jit()
    def function(x):
        return getattr(ttnn, name)(x, x)

    with pytest.raises(AssertionError, match=f"Function {name} not supported; .*") as caught:
        function(tensor(device, 32, 32))
    place, _, source = str(caught.value).partition("\n")
    assert __file__.rpartition("/")[2] in place
    assert "getattr(ttnn, name)(x, x)" in source


def test_failed_pass_manager(device: Any) -> None:
    """A stage of the pipeline that fails says so, with the user's line."""

    @ttnn_jit.jit()
    def function(x):
        return ttnn.lgamma(x)

    with pytest.raises(RuntimeError, match="Failed to run pass manager") as caught:
        function(tensor(device, 32, 32))
    _, message, *_, source, caret = str(caught.value).splitlines()
    assert f"{Path(__file__).name}:" in message
    assert "error: failed to legalize operation 'ttir.lgamma': kernels do not compute" in message
    assert source.strip() == "return ttnn.lgamma(x)"
    assert caret.index("^") == source.index("ttnn")


def test_wrong_options_of_the_pipeline(device: Any) -> None:
    """They fail in the same way, with the options that there are."""
    function = ttnn_jit.jit(extra_pipeline_options="no-such-option=1")(cosh)
    with pytest.raises(RuntimeError, match="Failed to run pass manager") as caught:
        function(tensor(device, 32, 32))
    assert "no such option no-such-option; supported: mesh-shape" in str(caught.value)


def test_command_lines_of_the_guide(device: Any, environment: Path, shell: WarmShell) -> None:
    """The three command lines run on the IR, copied from what was printed."""
    text = str(ttnn_jit.jit(compile_only=True)(cosh)(tensor(device, 32, 32)))
    Path("cosh.mlir").write_text(text)
    for command in (
        "ttrt query --save-artifacts",
        "export SYSTEM_DESC_PATH=`pwd`/ttrt-artifacts/system_desc.ttsys; "
        "ttmlir-opt --convert-ttnn-to-ttir *.mlir -o ttir.out && "
        "ttmlir-opt --mlir-print-ir-after-all "
        '--ttir-to-ttmetal-pipeline="system-desc-path=${SYSTEM_DESC_PATH} ttnn-mode=true" '
        "ttir.out -o ttnn.out && "
        "ttmlir-translate --ttnn-to-flatbuffer ttnn.out -o cosh.ttnn",
        "ttrt run cosh.ttnn",
    ):
        done = shell.run(command, environment, os.environ, 120)
        assert done.returncode == 0, done.stdout
