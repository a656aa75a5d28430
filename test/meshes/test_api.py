"""What is said of programs for several devices: parts, reports, and refusals at their line."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.warm_shell import WarmShell

from test.support.samples.mesh_programs import recorded
from ttmlir.errors import ArgumentTypeError, CompilationError, ExecutionError
from ttmlir.frontend.compiled import CompiledModel, CompiledPrograms
from ttmlir.frontend.dispatch import compile
from ttmlir.frontend.text import import_text
from ttmlir.runtime import golden
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.tensor import Numerics
from ttmlir.runtime.ttrt.reports import golden_lines
from ttmlir.runtime.ttrt.running import RunSettings, golden_problem, run_operations
from ttmlir.tools.ttrt import main as ttrt

ROOT = Path(__file__).parents[2]


def compiled(of: str, name: str) -> CompiledModel:
    """A recorded program."""
    return compile(recorded(of)[name]["text"].tobytes().decode())


def test_parts_of_devices() -> None:
    """Each device has its block of the result, in row-major order of the mesh."""
    model = compiled("jit", "move_x_xy")
    x = np.random.default_rng(2).standard_normal((8, 12), np.float32)
    [parts] = model.run_on_devices(x)
    whole = x * np.float32(2) + np.float32(1)
    for device, part in enumerate(parts):
        row, column = divmod(device, 4)
        np.testing.assert_array_equal(
            part, whole[4 * row : 4 * row + 4, 3 * column : 3 * column + 3]
        )


def test_parts_along_two_axes() -> None:
    """Of a dimension that two axes divide, the first one varies slowest."""
    model = compiled("shard_map", "divided_yx")
    x = np.arange(48, dtype=np.float32).reshape(16, 3)
    [parts] = model.run_on_devices(x)
    for device, part in enumerate(parts):
        row, column = divmod(device, 4)
        first = 2 * (2 * column + row)
        np.testing.assert_array_equal(part, 2 * x[first : first + 2])


def test_a_whole_result_is_on_all_devices() -> None:
    """Each device has a sum over all."""
    [parts] = compiled("shard_map", "psum_of_scalars").run_on_devices(np.ones((4, 12), np.float32))
    assert [float(part) for part in parts] == [48.0] * 8


_RUN = """
import sys
import model, numpy as np, ttnn
mesh = ttnn.open_mesh_device(ttnn.MeshShape(*model.MESH_SHAPE))
with np.load(sys.argv[1]) as file:
    given = [ttnn.Tensor(file[name], ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT) for name in file]
np.save(sys.argv[2], model.to_array(model.as_list(model.forward(*given, mesh))[0]))
ttnn.close_mesh_device(mesh)
"""


@pytest.mark.parametrize("name", ["psum_y_2x4", "ppermute"])
def test_scripts(name: str, tmp_path: Path, shell: WarmShell) -> None:
    """Scripts open a mesh of the same shape, divide arguments and exchange by calls of ttnn."""
    name = next(each for each in recorded("shard_map") if each.startswith(name))
    program = recorded("shard_map")[name]
    script = compiled("shard_map", name).save(tmp_path / "model.py")
    assert "MESH_SHAPE = (2, 4)" in script.read_text() or "MESH_SHAPE = (1, " in script.read_text()
    (tmp_path / "run.py").write_text(_RUN)
    arguments = {key: each for key, each in program.items() if key.startswith("argument")}
    np.savez(tmp_path / "given.npz", **arguments)
    done = shell.run("python -m ttmlir run.py given.npz found.npy", tmp_path, os.environ, 600)
    assert done.returncode == 0, done.stdout
    np.testing.assert_allclose(
        np.load(tmp_path / "found.npy"), program["result0"], rtol=1e-2, atol=1e-2
    )


def test_files_say_their_mesh(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`ttrt run` says on how many chips a program ran, estimates how many there are."""
    model = compiled("shard_map", "psum_y_2x4")
    path = model.save(tmp_path / "sum.ttnn")
    assert ttrt(["run", str(path)]) == 0
    captured = capfd.readouterr()
    assert "program 0 'main': pass on 8 chips (2x4)," in captured.out + captured.err
    assert model.estimate().mesh == (2, 4)


SHARDED = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x12xf32> {
  %0 = stablehlo.negate %a : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (SHARDED, {"spelling": "2024"}, "<text>:4:8: error: the program is for several devices; "
         "spelling='2024' has programs of one"),
        (
            SHARDED.replace("sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>",
                            'mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"'),
            {},
            "the sharding {devices=[2,1,4]<=[8] last_tile_dim_replicate} is over several devices, "
            "and nothing says what each computes",
        ),
        (SHARDED.replace('"x"=2', '"x"=0'), {}, "axis size must be at least 1, got: 0"),
        (SHARDED.replace('"x"=2', f'"x"={"9" * 5000}'), {}, "at most 19 digits, got 5000"),
        (SHARDED.replace('{"x"}', f'{{"x":(1){"2" * 5000}}}'), {}, "at most 19 digits, got 5000"),
        (SHARDED.replace('"y"=4', '"y"=4611686018427387904'), {}, "a mesh has 1 to 1024 chips"),
        (SHARDED.replace('"x"=2', '"x"=2.5'), {}, "<text>:1:18: error: expected text such as <["),
        (SHARDED.replace('"y"', '"x"'), {}, 'duplicate axis name: "x"'),
        (
            SHARDED.replace("{}]", "{}, {}]"),
            {},
            "<text>:2:1: error: 'func.func' op arg 0 - sharding doesn't match tensor rank: 3 != 2",
        ),
        (SHARDED.replace('{"x"}', '{"z"}'), {}, 'unknown axis name: "z"'),
        (SHARDED.replace('{"x"}', '{"x", "x"}'), {}, 'duplicate axis ref: "x"'),
        (SHARDED.replace('{"x"}', '{"y":(0)0}'), {}, "sub-axis pre-size must be at least 1"),
        (
            SHARDED.replace("8x12", "7x12"),
            {},
            "<text>:2:1: error: Could not compute local sharded shape for argument 0: tensor "
            "sharding is incompatible with tensor shape. Dimension 0 of 7 is divided by 2 "
            '("x"); pad it to a multiple, or divide another one.',
        ),
        (
            SHARDED.replace("stablehlo.negate", "sdy.sharding_constraint")
            .replace("%a :", '%a <@mesh, [{}, {"y"}]> :')
            .replace("-> tensor<8x12xf32>",
                     "-> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})")
            .replace("8x12", "8x13"),
            {},
            "<text>:4:8: error: 'sdy.all_slice' op Could not apply propagated tensor shardings to "
            "tensor dimensions. Dimension 1 of 13 is divided by 4; pad it to a multiple, or divide",
        ),
        (
            SHARDED.replace("negate %a :", "custom_call @ragged(%a) : (tensor<8x12xf32>) ->")
            .replace("f32", "i32"),
            {},
            "<text>:4:8: error: failed to legalize operation 'stablehlo.custom_call': the code of "
            "'ragged' is not part of the program; supported are",
        ),
    ],
)  # fmt: skip
def test_refused_programs(text: str, options: dict[str, str], message: str) -> None:
    """Nothing that is said of several devices is dropped."""
    with pytest.raises(CompilationError, match=re.escape(message)):
        compile(text, **options)  # pyright: ignore


def test_place_of_uneven_results() -> None:
    """It is that of the operation that makes them, though the program is wrapped."""
    text = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<7x12xf32>) -> tensor<7x12xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<7x12xf32> loc("model.py":3:9)
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<7x12xf32> loc("model.py":4:12)
  return %1 : tensor<7x12xf32>
} loc(unknown)"""
    with pytest.raises(CompilationError, match=r"^model\.py:3:9: error: Could"):
        compile(text)


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_numbers_of_8_bits(element: str) -> None:
    """Parts are rounded to the format after each step, and move between devices as they are."""
    text = f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<6x20x{element}>
    {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}})
    -> (tensor<6x20x{element}> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}}) {{
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<6x20x{element}>
  %1 = stablehlo.add %0, %arg0 : tensor<6x20x{element}>
  return %1 : tensor<6x20x{element}>
}}"""
    dtype = np.dtype(getattr(ml_dtypes, {"f8E4M3FN": "float8_e4m3fn"}.get(element, "float8_e5m2")))
    x = np.random.default_rng(0).uniform(-3, 3, (6, 20)).astype(dtype)
    wide = x.astype(np.float32)
    expected = (wide * wide).astype(dtype).astype(np.float32) + wide
    with pytest.warns(UserWarning, match=f"tensors of {element} are kept as bf16"):
        model = compile(text)
    np.testing.assert_array_equal(np.asarray(model(x)), expected.astype(dtype))
    assert "f32" not in "".join(re.findall(r"ttir\.mesh_shard.*|ttir\.all_.*", model.text("ttir")))


_FACTORS = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<2x12x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [SPEC]>})
    -> tensor<2x12x12xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) {
      mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"},
      operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
      result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>],
      sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i])
        {i=2, j=12, k=12, l=12, m=12}, custom>}
    : (tensor<2x12x12xf32>) -> (tensor<2x12x12xf32>, tensor<2xi32>)
  return %0#0 : tensor<2x12x12xf32>
}"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ('{"x"}, {}, {}', (1, 12, 12)),
        ('{}, {"x"}, {"y"}', (2, 12, 12)),
        ('{"x"}, {"y"}, {}', (1, 12, 12)),
    ],
)
def test_decompositions_of_divided_matrices(spec: str, part: tuple[int, ...]) -> None:
    """What the rule of a call has on one side alone, as JAX's have rows, is whole on a device."""
    model = compile(_FACTORS.replace("SPEC", spec))
    x = np.random.default_rng(3).standard_normal((2, 12, 15), np.float32)
    matrices = x @ x.transpose(0, 2, 1) + np.eye(12, dtype=np.float32)
    expected = np.linalg.cholesky(matrices.astype(np.float64))
    np.testing.assert_allclose(np.tril(model(matrices)), expected, rtol=1e-4, atol=1e-4)
    [parts] = model.run_on_devices(matrices)
    assert {each.shape for each in parts} == {part}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("([i, j, k])", "([i, j, k], [i])", "number of operands and mappings must match: 1 != 2"),
        ("([i, l, m], ", "([i, l], ", "result 0 - mapping rank must match: 2 != 3"),
        ("l=12", "l=6", "does not fit tensors of [2, 12, 12]"),
    ],
)
def test_rules_that_do_not_fit(old: str, new: str, message: str) -> None:
    """They are told at the call."""
    text = _FACTORS.replace("SPEC", '{"x"}, {}, {}').replace(old, new)
    with pytest.raises(CompilationError, match=f"<text>:4:10: error: .*{re.escape(message)}"):
        compile(text)


def test_refused_meshes() -> None:
    """A mesh is one of JAX."""
    with pytest.raises(ArgumentTypeError, match="mesh is a tuple; give a mesh of JAX, such as"):
        compile(SHARDED, mesh=(2, 4))


def test_arguments_without_a_sharding() -> None:
    """JAX puts them on an empty mesh beside the mesh of the others: all devices have them."""
    beside = "sdy.mesh @empty_mesh = <[]>\n" + SHARDED.replace(
        "{}]>})",
        "{}]>},\n    %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>})",
    ).replace(
        "stablehlo.negate %a",
        "stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<12xf32>) -> tensor<8x12xf32>\n"
        "  %1 = stablehlo.add %a, %0",
    ).replace("return %0", "return %1")
    a, b = np.ones((8, 12), np.float32), np.arange(12, dtype=np.float32)
    model = compile(beside)
    np.testing.assert_array_equal(model(a, b), a + b)
    assert [part.shape for part in model.run_on_devices(a, b)[0]] == [(4, 12)] * 8


def test_axes_of_one_device() -> None:
    """They do not count among the axes that a mesh has."""
    model = compile(SHARDED.replace('"x"=2, "y"=4', '"one"=1, "x"=2, "single"=1, "y"=4'))
    x = np.arange(96, dtype=np.float32).reshape(8, 12)
    np.testing.assert_array_equal(model(x), -x)
    assert model.run_on_devices(x)[0][0].shape == (4, 12)


def test_large_unsigned_constants() -> None:
    """Files have the number of a constant as a signed one."""
    text = (
        SHARDED.replace("xf32", "xui32")
        .replace("stablehlo.negate %a", "stablehlo.constant dense<4294967290>")
        .replace("return %0", "%1 = stablehlo.add %a, %0 : tensor<8x12xui32>\n  return %1")
    )
    x = np.arange(96, dtype=np.uint32).reshape(8, 12)
    np.testing.assert_array_equal(compile(text)(x), x + np.uint32(2**32 - 6))


def test_files_of_several_programs() -> None:
    """All are for one mesh; others are refused at their line, and what to do is said."""
    other = SHARDED.replace("negate", "abs").replace('[{"x"}, {}]', '[{"x"}, {"y"}]')
    texts = {"down": SHARDED, "up": other}
    programs = CompiledPrograms(
        {name: import_text(each) for name, each in texts.items()}, examples={}
    )
    x = np.arange(-48, 48, dtype=np.float32).reshape(8, 12)
    np.testing.assert_array_equal(programs.down(x), -x)
    np.testing.assert_array_equal(programs.up(x), np.abs(x))
    assert [programs[name].run_on_devices(x)[0][0].shape for name in texts] == [(4, 12), (4, 3)]
    alone = re.sub(r" {sdy.*}\)", ")", SHARDED[SHARDED.index("func.func") :])
    turned = SHARDED.replace('"x"=2, "y"=4', '"x"=4, "y"=2')
    for beside, line, why in (
        (alone, 4, "and another program of the file for one: give"),
        (turned, 4, "and others of the file for another mesh: give"),
    ):
        imported = {"down": import_text(SHARDED), "beside": import_text(beside)}
        with pytest.raises(CompilationError, match=f"<text>:{line}:8: error: .*{why}"):
            CompiledPrograms(imported, examples={})


COLLECTIVE = """\
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>]
        out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%p: tensor<4x6xf32>) {
      %1 = "stablehlo.all_reduce"(%p) <{CHANNEL, replica_groups = dense<GROUPS> :
          tensor<2x2xi64>FLAG}> ({
      ^bb0(%b: tensor<f32>, %c: tensor<f32>):
        %2 = stablehlo.add %b, %c : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      sdy.return %1 : tensor<4x6xf32>
    } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}
"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


def make_collective(groups: str, channel: str = CHANNEL, flag: str = "") -> str:
    """A sum over groups of four devices."""
    return (
        COLLECTIVE.replace("GROUPS", groups).replace("CHANNEL, ", f"{channel}, " if channel else "")
    ).replace("FLAG", flag)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("[[0, 1], [2, 2]]", "replica id #2 seen more than once"),
        ("[[0, 1], [2, 4]]", "replica id #3 not seen in replica groups"),
        ("[[0, 1], [2, -1]]", "groups have the same number of devices, not [[0, 1], [2, -1]]"),
    ],
)
def test_refused_groups(groups: str, message: str) -> None:
    """Groups have each device of the mesh once."""
    with pytest.raises(CompilationError, match=f"<text>:6:12: error: .*{re.escape(message)}"):
        compile(make_collective(groups))


def test_a_flag_needs_a_channel() -> None:
    """Numbers of devices are global on a channel only."""
    with pytest.raises(CompilationError, match="use_global_device_ids needs a channel_handle"):
        compile(make_collective("[[0, 1], [2, 3]]", "", ", use_global_device_ids"))


@pytest.mark.parametrize("groups", ["[[0, 3], [1, 2]]", "[[1, 0], [2, 3]]", "[[0, 2], [3, 1]]"])
def test_any_groups(groups: str) -> None:
    """Groups that are no rows of the mesh have their own sums, too."""
    model = compile(make_collective(groups))
    x = np.random.default_rng(5).standard_normal((8, 6), np.float32)
    [parts] = model.run_on_devices(x)
    given = [x[4 * (device // 2) :][:4] for device in range(4)]
    for group in ([int(each) for each in row.split(",")] for row in re.findall(r"\d, \d", groups)):
        for device in group:
            np.testing.assert_allclose(parts[device], given[group[0]] + given[group[1]], rtol=1e-6)


def test_devices_that_would_wait_for_ever() -> None:
    """A branch with an exchange that not all devices take has no end."""
    text = """\
sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>]
      out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"x", "y"} (%p: tensor<1x6xf32>) {
    %1 = stablehlo.partition_id : tensor<ui32>
    %c = stablehlo.constant dense<2> : tensor<ui32>
    %2 = stablehlo.compare LT, %1, %c : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %6 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%6) ({
      stablehlo.return %p : tensor<1x6xf32>
    }, {
      %4 = "stablehlo.all_reduce"(%p) <{channel_handle =
          #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%b: tensor<f32>, %d: tensor<f32>):
        %5 = stablehlo.add %b, %d : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<1x6xf32>) -> tensor<1x6xf32>
      stablehlo.return %4 : tensor<1x6xf32>
    }) : (tensor<i32>) -> tensor<1x6xf32>
    sdy.return %3 : tensor<1x6xf32>
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
"""
    model = compile(text)
    with pytest.raises(ExecutionError, match="devices 0 and 2 of the mesh go different ways"):
        model(np.ones((4, 6), np.float32))


CANCELLING = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x12xf32> {
  %0 = stablehlo.convert %a : (tensor<8x12xf32>) -> tensor<8x12xbf16>
  %1 = stablehlo.convert %b : (tensor<8x12xf32>) -> tensor<8x12xbf16>
  %2 = stablehlo.add %0, %1 : tensor<8x12xbf16>
  %3 = stablehlo.subtract %2, %1 : tensor<8x12xbf16>
  %4 = stablehlo.convert %3 : (tensor<8x12xbf16>) -> tensor<8x12xf32>
  return %4 : tensor<8x12xf32>
}
"""


def test_the_reference_beside_all_devices() -> None:
    """The operation that is off is told with its device: the one whose numbers cancel."""
    program = compile(CANCELLING, spelling="2026").binary.program(0)
    a = np.random.default_rng(4).uniform(0.5, 1, (8, 12)).astype(np.float32)
    b = np.zeros_like(a)
    b[4:, 3:6] = 4096
    settings = RunSettings(numerics=Numerics.DEVICE, golden=True)
    run = run_operations(program, [a, b], settings, lambda: None)
    assert run.golden is not None
    failure = run.golden.find_failure(run.outputs, confirmed=False)
    assert failure is not None
    assert (failure.name, failure.device) == ("ttnn.subtract", 5)
    assert " on device 5 is the first that differs" in golden_problem(failure)
    lines = list(golden_lines(run.golden, ()))
    assert any("ttnn.subtract" in line and " on device 5: pcc" in line for line in lines)


SHARED = """\
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%a: tensor<3x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %b: tensor<5x7xf32>) -> (tensor<3x10xf32>, tensor<5x7xf32>) {
  %0 = stablehlo.tanh %a : tensor<3x10xf32>
  %1 = stablehlo.exponential %b : tensor<5x7xf32>
  %2 = stablehlo.sine %1 : tensor<5x7xf32>
  return %0, %2 : tensor<3x10xf32>, tensor<5x7xf32>
}
"""


def test_the_reference_of_what_devices_share_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That of parts on each device."""
    made, computed = golden.reference_function, list[str]()

    def note(call: OperationCall) -> Any:
        computed.append(call.name)
        return made(call)

    monkeypatch.setattr(golden, "reference_function", note)
    program = compile(SHARED).binary.program(0)
    a, b = np.linspace(-2, 3, 30, dtype=np.float32), np.linspace(-3, 1, 35, dtype=np.float32)
    inputs = [a.reshape(3, 10), b.reshape(5, 7)]
    settings = RunSettings(numerics=Numerics.EXACT, golden=True, keep_golden=True)
    run = run_operations(program, inputs, settings, lambda: None)
    assert sorted(computed) == ["ttnn.exp", "ttnn.sin", "ttnn.tanh", "ttnn.tanh"]
    assert run.golden is not None
    assert run.golden.find_failure(run.outputs, confirmed=False) is None
    # The worst device of each operation is told, with its tensor.
    kept = {each.name: each for each in run.golden.results}
    columns = 5 * (kept["ttnn.tanh"].device or 0)
    wide = [each.astype(np.float64) for each in inputs]
    expected = {
        "ttnn.tanh": np.tanh(wide[0][:, columns : columns + 5]),
        "ttnn.exp": np.exp(wide[1]),
        "ttnn.sin": np.sin(np.exp(wide[1])),
    }
    assert kept.keys() == expected.keys()
    for name, result in expected.items():
        found = kept[name].golden
        assert found is not None
        np.testing.assert_allclose(found, result, rtol=1e-12)
