"""Programs of meshes as kernels of each chip, and what chips send over the fabric between them."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import ttmlir
from test.support.samples.mesh_programs import arrays, recorded
from ttmlir.compiler import parse
from ttmlir.errors import CompilationError, InputError
from ttmlir.frontend.compiled import public_function
from ttmlir.frontend.dispatch import compile
from ttmlir.frontend.mesh_kernels import MeshKernels
from ttmlir.frontend.mesh_steps import Segment, cut_into_steps
from ttmlir.runtime import mesh_kernels, read_binary
from ttmlir.runtime.errors import BinaryError, ExecutionError
from ttmlir.runtime.fabric_exchange import ExchangeRun, Move, exchange
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.runtime.tensor import Numerics
from ttmlir.runtime.ttrt.reports import section_text
from ttmlir.runtime.ttrt.running import Golden, RunSettings, golden_problem, run_kernels
from ttmlir.schema import load_schema
from ttmlir.schema.versions import load
from ttmlir.sim.options import SimOptions
from ttmlir.tools.ttrt import main as ttrt

LAYERS = """\
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%x: tensor<5x40xf32>,
                %w: tensor<40x66xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %v: tensor<66x34xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<5x34xf32>, tensor<5x66xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<5x40xf32>, tensor<40x66xf32>) -> tensor<5x66xf32>
  %1 = stablehlo.tanh %0 : tensor<5x66xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<5x66xf32>, tensor<66x34xf32>) -> tensor<5x34xf32>
  return %2, %1 : tensor<5x34xf32>, tensor<5x66xf32>
}
"""


def compiled(text: str, board: str | None = None) -> MeshKernels:
    """The model of a text for several devices."""
    model = compile(text, target="kernels", board=board)
    assert isinstance(model, MeshKernels)
    return model


def test_layers_of_two_devices(tmp_path: Path) -> None:
    """Each chip multiplies with its part of the weights; the links carry what is added."""
    model = compiled(LAYERS)
    assert model.board == "n300"
    assert "2 devices of n300, 2 programs of kernels, 1 exchange" in repr(model)
    rng = np.random.default_rng(3)
    x, w, v = (rng.standard_normal(each, np.float32) for each in ((5, 40), (40, 66), (66, 34)))
    profile = model.profile(x, w, v)
    hidden = np.tanh(x.astype(np.float64) @ w)
    for found, expected in zip(profile.output, (hidden @ v, hidden), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    # Both send the 5x34 numbers that they have, in one page of 64 bytes' multiples.
    assert profile.link_bytes == {(0, 1): 704, (1, 0): 704}
    assert [each.name for each in profile.steps] == ["1 program", "ttir.all_gather", "1 program"]
    assert [each.where for each in profile.steps] == ["", "<text>:9", ""]
    assert profile.cycles == sum(max(each.cycles) for each in profile.steps)
    assert all(0 < cycles <= profile.cycles for cycles in profile.cycles_of_chips)
    assert "main on n300, 2 chips: " in str(profile)
    assert " 704 bytes, " in str(profile)
    profile.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (tmp_path / "trace.json").unlink()
    spans = [each for each in events if each["ph"] == "X"]
    assert [(each["pid"], each["name"]) for each in spans] == [
        *((0, "1 program"), (1, "1 program")),
        *((0, "ttir.all_gather"), (1, "ttir.all_gather")),
        *((0, "1 program"), (1, "1 program")),
    ]
    assert [each["args"]["cycles"] for each in spans[::2]] == [
        step.cycles[0] for step in profile.steps
    ]
    assert max(each["ts"] + each["dur"] for each in spans) * 1e3 == pytest.approx(
        profile.nanoseconds
    )
    counts = [(each["pid"], each["name"]) for each in events if each["ph"] == "C"]
    assert counts == [(0, "bytes to chip 1")] * 2 + [(1, "bytes to chip 0")] * 2
    report = ttmlir.report(model, x, w, v)
    assert report.title == f"main on n300: {profile.cycles:,} cycles"
    assert report.sections[0].text == str(profile)
    _, parts = model.run_on_devices(x, w, v)
    np.testing.assert_array_equal(np.concatenate(parts, 1), profile.output[1])
    assert model.text("ttir").count("ttir.all_reduce") == 1
    assert model.text("ttmetal").count('"ttmetal.enqueue_program"') == 2
    path = model.save(tmp_path / "model.ttm")
    loaded = ttmlir.load(path)
    for found, expected in zip(loaded(x, w, v), profile.output, strict=True):
        np.testing.assert_array_equal(found, expected)
    sources = section_text(str(path), path.read_bytes(), "cpp")
    assert re.findall(r"^(?:program|function)\[.*", sources, re.MULTILINE) == [
        *("program[0]: main", "function[0]: main", "function[1]: main")
    ]
    assert sources.count("void kernel_main()") + sources.count("void MAIN") > 2
    assert "1 ttir.all_gather, 1 launch of" in section_text(str(path), path.read_bytes(), "summary")
    with pytest.raises(InputError, match="kernels for several devices, which are not pickled"):
        pickle.dumps(model)
    for refused in (model.estimate, model.summary):
        with pytest.raises(InputError, match=r"is kernels, which have no .*: profile"):
            refused()
    with pytest.raises(InputError, match="'n150' does not have; boards with as many are n300"):
        compiled(LAYERS, board="n150")


def test_devices_are_a_rectangle_of_chips() -> None:
    """Six in a row are two rows of a t3000; three are in no rectangle of four chips."""
    six = LAYERS.replace('"y"=2', '"y"=6')
    model = compiled(six)
    assert model.board == "t3000"
    rng = np.random.default_rng(5)
    x, w, v = (rng.standard_normal(each, np.float32) for each in ((5, 40), (40, 66), (66, 34)))
    hidden = np.tanh(x.astype(np.float64) @ w)
    for found, expected in zip(model(x, w, v), (hidden @ v, hidden), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    three = LAYERS.replace('"y"=2', '"y"=3')
    assert compiled(three).board == "t3000"
    with pytest.raises(InputError, match="3 devices, which are no rectangle of chips of 'p150x4'"):
        compiled(three, board="p150x4")
    with pytest.raises(CompilationError, match="22 devices; no board has a rectangle of as many"):
        compiled(LAYERS.replace('"y"=2', '"y"=22'))


NAMES = ["ppermute_none", "all_to_all", "psum_scatter", "fori_with_sum", "cond_of_each_device"]
"""The programs that are run; each is the first one whose name begins so."""


@pytest.mark.parametrize("name", NAMES)
def test_programs_of_eight_devices(name: str) -> None:
    """What JAX computes on eight devices."""
    name = next(each for each in sorted(recorded("shard_map")) if each.startswith(name))
    program = recorded("shard_map")[name]
    model = compiled(program["text"].tobytes().decode())
    assert model.board == "t3000"
    made: Any = model(*arrays(program, "argument"))
    results: list[Any] = [*made] if isinstance(made, tuple | list) else [made]
    for result, expected in zip(results, arrays(program, "result"), strict=True):
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("board", "mesh"), [("n300", (1, 2)), ("p150x4", (2, 2))])
def test_pieces_of_several_pages(board: str, mesh: tuple[int, int]) -> None:
    """Each device gets the pieces that are for it, and nothing in other slots."""
    count, rng = mesh[0] * mesh[1], np.random.default_rng(1)
    pieces = [[rng.bytes(9001) for _ in range(2)] for _ in range(count)]
    moves = [Move(here, n % 2, (here + n) % count, n) for here in range(count) for n in range(2)]
    run = exchange(pieces, moves, board=board, mesh=mesh, timed=True)
    for device, slots in enumerate(run.slots):
        before = (device - 1) % count
        assert slots == {0: pieces[device][0], 1: pieces[before][1]}
    # Three pages of a piece go one hop; to the diagonal neighbour they go two.
    hops = {2: 2, 4: 6}[count]
    assert sum(run.links.values()) == 3 * 4096 * hops
    assert all(report.cycles > 0 for report in run.reports)


def test_long_chains_of_constants() -> None:
    """What follows from constants alone is in the program that uses it, however much that is."""
    count = 2000
    lines = [
        f'%{n + 1} = "ttir.tanh"(%{n}) : (tensor<3x5xf32>) -> tensor<3x5xf32>' for n in range(count)
    ]
    text = "\n".join(lines)
    module = parse(f"""\
module attributes {{ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>}} {{
  func.func @main(%y: tensor<3x5xf32>) -> tensor<3x5xf32> {{
    %0 = "ttir.ones"() <{{shape = array<i32: 3, 5>}}> : () -> tensor<3x5xf32>
    {text}
    %r = "ttir.add"(%y, %{count}) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    return %r : tensor<3x5xf32>
  }}
}}
""")
    [segment] = cut_into_steps(module, public_function(module)).steps
    assert isinstance(segment, Segment)
    names = [op.name for op in public_function(segment.module).body.block.ops]
    assert names == ["ttir.ones", *["ttir.tanh"] * count, "ttir.add", "func.return"]


LOOP = """\
func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>]
      out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"x", "y"} (%b: tensor<4x4xf32>) {
    %n = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<70> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %c = %b) : tensor<i32>, tensor<4x4xf32> cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = "stablehlo.collective_permute"(%c) <{
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
          : (tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<4x4xf32>
    }
    sdy.return %r#1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def test_loops_whose_trips_are_counted() -> None:
    """Seventy swaps leave the halves where they were, seventy-one do not."""
    mesh = 'sdy.mesh @mesh = <["x"=1, "y"=2]>\n'
    array = np.arange(32, dtype=np.float32).reshape(8, 4)
    np.testing.assert_array_equal(compiled(mesh + LOOP)(array), array)
    swapped = compiled(mesh + LOOP.replace("dense<70>", "dense<71>"))(array)
    np.testing.assert_array_equal(swapped, np.roll(array, 4, 0))


UNTIL = """\
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%a: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %end: tensor<f32>) -> (tensor<6x5xf32>, tensor<i32>) {
  %0:2 = sdy.manual_computation(%a, %end) in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, []>]
      out_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, []>] manual_axes={"x", "y"}
      (%b: tensor<3x5xf32>, %e: tensor<f32>) {
    %n = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %r:2 = stablehlo.while(%i = %n, %c = %b) : tensor<i32>, tensor<3x5xf32> cond {
      %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1]
          : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
      SUM
      %1 = stablehlo.compare LT, %t, %e : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.add %c, %c : tensor<3x5xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<3x5xf32>
    }
    sdy.return %r#1, %r#0 : tensor<3x5xf32>, tensor<i32>
  } : (tensor<6x5xf32>, tensor<f32>) -> (tensor<6x5xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<6x5xf32>, tensor<i32>
}
"""
ALL_SUM = """
      %t = "stablehlo.all_reduce"(%s) <{
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %z = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %z : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
"""


def test_loops_that_data_end(tmp_path: Path) -> None:
    """A tensor is doubled until the sum of all its parts is large enough; also from its file."""
    model = compiled(UNTIL.replace("SUM", ALL_SUM))
    array = np.arange(30, dtype=np.float32).reshape(6, 5)
    for end in (100, 435, 436, 3000):
        expected, count = array, 0
        while expected.sum() < end:
            expected, count = expected * 2, count + 1
        found, trips = model(array, np.float32(end))
        np.testing.assert_array_equal(found, expected)
        assert trips == count
    loaded = ttmlir.load(model.save(tmp_path / "until.ttm"))
    assert loaded(array, np.float32(3000))[1] == 3


def test_boards_that_are_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ttrt check` does not say to compile for one chip what is for two."""
    monkeypatch.chdir(tmp_path)
    path = str(compiled(UNTIL.replace("SUM", ALL_SUM)).save("until.ttm"))
    assert ttrt(["check", path, "--board", "n300"]) == 0
    for options in ([], ["--board", "p150"]):
        assert ttrt(["check", path, *options]) == 1
        assert (
            "it has 1 chip, and the program is for 2: name a board with as many by --board, of "
            "n300, " in capsys.readouterr().err
        )


def test_a_loop_that_does_not_end_on_all_devices() -> None:
    """The sums of the parts differ: the second device is done first."""
    own = UNTIL.replace("SUM", "%t = stablehlo.add %s, %zero : tensor<f32>")
    array = np.arange(30, dtype=np.float32).reshape(6, 5)
    message = r"the loop at <text>:10 ends on device 1, while device 0 goes on; loops of several"
    with pytest.raises(ExecutionError, match=message):
        compiled(own)(array, np.float32(200))


BRANCHES = """\
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%a: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %k: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
    -> tensor<6x5xf32> {
  %0 = sdy.manual_computation(%a, %k) in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, [{"y"}]>]
      out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"x", "y"}
      (%b: tensor<3x5xf32>, %l: tensor<1xi32>) {
    %e = stablehlo.reshape %l : (tensor<1xi32>) -> tensor<i32>
    %r = "stablehlo.case"(%e) ({
      %c0 = "stablehlo.collective_permute"(%b) <{
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
          : (tensor<3x5xf32>) -> tensor<3x5xf32>
      MORE
      stablehlo.return %c17 : tensor<3x5xf32>
    }, {
      %t = stablehlo.tanh %b : tensor<3x5xf32>
      stablehlo.return %t : tensor<3x5xf32>
    }) : (tensor<i32>) -> tensor<3x5xf32>
    sdy.return %r : tensor<3x5xf32>
  } : (tensor<6x5xf32>, tensor<2xi32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
""".replace(
    "MORE", "\n".join(f"%c{n + 1} = stablehlo.add %c{n}, %b : tensor<3x5xf32>" for n in range(17))
)
"""Branches that are too long for both to be computed."""


@cache
def branches() -> MeshKernels:
    """A program of two chips with an exchange in a branch."""
    model = compiled(BRANCHES)
    assert model.text("ttir").count("ttir.case") == 1
    return model


def test_branches_in_which_devices_exchange() -> None:
    """All devices go one way, the last one for other numbers; else an error says where."""
    model = branches()
    array = np.arange(30, dtype=np.float32).reshape(6, 5)
    for way, expected in (
        (0, np.roll(array, 3, 0) + 17 * array),
        (1, np.tanh(array)),
        (-1, np.tanh(array)),
        (7, np.tanh(array)),
    ):
        found = model(array, np.full(2, way, np.int32))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    message = (
        r"the branch at <text>:9 takes way 1 on device 0, while device 1 takes way 0; branches"
    )
    with pytest.raises(ExecutionError, match=message):
        model(array, np.array([3, 0], np.int32))


def test_branches_of_a_chip() -> None:
    """The functions of a branch without exchanges go along into each chip's program.

    Kernels have no branches of the host, which is said at the branch.
    """
    begin, end = BRANCHES.index('"stablehlo.collective'), BRANCHES.index("%c1 =")
    text = f"{BRANCHES[:begin]}stablehlo.negate %b : tensor<3x5xf32>\n      {BRANCHES[end:]}"
    message = r"<text>:9:10: error: failed to legalize operation 'ttir.case': kernels have no"
    with pytest.raises(CompilationError, match=message):
        compiled(text)
    moved = re.compile(r'ttir\.collective_permute"\((%\w+)\) <\{.*?\}>')
    module = parse(moved.sub(r'ttir.neg"(\1)', branches().text("ttir")))
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    main = next(op for op in functions if op.sym_name.data == "main")
    [segment] = [each for each in cut_into_steps(module, main).steps if isinstance(each, Segment)]
    names = {op.sym_name.data for op in segment.module.ops if isinstance(op, FuncOp)}
    assert names == {op.sym_name.data for op in functions}
    assert len(names) == 3


# --- Files that others wrote ----------------------------------------------------------------------

Tree = dict[str, Any]


@cache
def file_of_a_loop() -> bytes:
    """A program of two chips with an exchange in a loop."""
    return compiled(UNTIL.replace("SUM", ALL_SUM)).to_bytes()


def steps(root: Tree, kind: str, plan: int = 0) -> list[Tree]:
    """The steps of a kind of a plan of the file."""
    found = root["programs"][0]["mesh"]["plans"][plan]["steps"]
    return [each["type"] for each in found if each["type_type"] == kind]


def exchanged(root: Tree) -> Tree:
    """The exchange of the condition."""
    return steps(root, "MeshExchange", 1)[0]


def loop(root: Tree) -> Tree:
    """The loop."""
    return steps(root, "MeshLoop")[0]


def mesh(root: Tree) -> Tree:
    """What the program is for."""
    return root["programs"][0]["mesh"]


DAMAGES: list[tuple[Callable[[Tree], Any], str]] = [
    (lambda root: mesh(root).update(rows=0), "is for a mesh of 0x2 devices"),
    (lambda root: mesh(root).update(columns=1 << 31), "is for a mesh of 1x2147483648 devices"),
    (lambda root: mesh(root).update(board="../n300"), "1x2 chips of board '../n300'; boards"),
    (lambda root: mesh(root).update(rows=7), "7x2 chips of board 'n300'; boards with as many"),
    (lambda root: mesh(root).update(plans=[]), "has no steps"),
    (lambda root: mesh(root)["plans"][0].update(outputs=[77, 0]), "gives value 77, which no"),
    (lambda root: mesh(root)["plans"][0].update(inputs=[0]), "before it is there"),
    (lambda root: mesh(root)["plans"][0].update(outputs=[0]), "its steps have 2 and 1"),
    (lambda root: mesh(root)["plans"][0]["steps"][0].update(type=None, type_type="NONE"),
     "has no contents in step 0"),
    (lambda root: loop(root).update(body=0), "behind it, and there are 3"),
    (lambda root: loop(root).update(condition=9), "behind it, and there are 3"),
    (lambda root: loop(root).update(results=[90]), "whose parts take and give different"),
    (lambda root: exchanged(root).update(slots=0), "has an exchange without slots"),
    (lambda root: exchanged(root).update(moves=[0, 0, 1]), "or of no whole moves, in step"),
    (lambda root: exchanged(root).update(moves=[0, 0, 2, 0]), "moves what is not there"),
    (lambda root: exchanged(root).update(moves=[0, 5, 1, 0]), "moves what is not there"),
    (lambda root: exchanged(root).update(moves=[0, 0, 1, 0] * 2), "several pieces to one slot"),
    (lambda root: exchanged(root).update(concat=9), "divides a tensor as it cannot be"),
    (lambda root: exchanged(root).update(slots=1 << 31), "devices exchange .* bytes at once"),
    (lambda root: steps(root, "MeshDivision")[0].update(extents=[1, 3]),
     r"over a mesh of \[1, 3\] in step"),
    (lambda root: steps(root, "MeshDivision")[0].update(dims=[-1, 9]), "as it cannot be"),
    (lambda root: steps(root, "MeshCompute", 1)[0].update(function=9), "there are 3"),
    (lambda root: steps(root, "MeshCompute", 1)[0].update(inputs=[]), "it has 1 and 1"),
    (lambda root: steps(root, "MeshConstant")[0].update(of_devices=[0]), "no tensor for each"),
    (lambda root: steps(root, "MeshConstant")[0]["tensors"][0].update(data=[1]), "1 bytes"),
    (lambda root: root["functions"][0].update(mesh=mesh(root)), "programs alone are"),
    (lambda root: root["functions"].reverse(), "is given a tensor of shape|it has"),
]  # fmt: skip


BRANCH_DAMAGES: list[tuple[Callable[[Tree], Any], str]] = [
    (lambda branch: branch.update(branches=[]), "whose parts take and give different values"),
    (lambda branch: branch.update(branches=[0]), "a branch in step .* behind it, and there are 3"),
    (lambda branch: branch.update(results=[90, 91]), "whose parts take and give different values"),
    (lambda branch: branch.update(index=99), "uses value 99 in step"),
    (lambda branch: branch.update(index=0), r"shape \[6, 5\] of float32 chooses a branch; one"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BRANCH_DAMAGES)
def test_damaged_branches(change: Callable[[Tree], Any], message: str) -> None:
    """As of other steps."""
    root = load(branches().to_bytes(), "x.ttm").root.as_dict()
    change(steps(root, "MeshBranch")[0])
    binary = read_binary(load_schema("TTMetal/binary.fbs").pack(root), "x.ttm")
    assert isinstance(binary, MetalBinary)
    arrays = [np.zeros((6, 5), np.float32), np.zeros(2, np.int32)]
    with pytest.raises(BinaryError, match=message):
        execute(binary.metal_programs[0], arrays, SimOptions(numerics="exact", timed=False))


@pytest.mark.parametrize("chosen", [np.float32("nan"), np.float32(1), np.zeros(2, np.int32)])
def test_what_chooses_no_branch(chosen: Any) -> None:
    """One integer does; what files name may be anything."""
    way = mesh_kernels.Plan((1,), (1,), ())
    branch = mesh_kernels.Branch("", 0, (1,), (2,), (way, way))
    plan = mesh_kernels.MeshPlan(1, 2, "n300", mesh_kernels.Plan((0, 1), (2,), (branch,)))
    with pytest.raises(BinaryError, match="chooses a branch; one integer does"):
        mesh_kernels.run_plan(
            plan, [np.asarray(chosen), np.ones(3)], SimOptions(), where="x", run_program=refuse
        )


def refuse(*_: Any) -> Any:
    """No program is there to run."""
    raise AssertionError("nothing runs")


@pytest.mark.parametrize(("change", "message"), DAMAGES)
def test_damaged_files(change: Callable[[Tree], Any], message: str) -> None:
    """Each ends in one error that says what is wrong."""
    root = load(file_of_a_loop(), "x.ttm").root.as_dict()
    change(root)
    with pytest.raises(BinaryError, match=message):
        run(load_schema("TTMetal/binary.fbs").pack(root))


def golden_of(data: bytes, given: list[np.ndarray[Any, Any]]) -> Golden:
    """What a golden run of a file finds."""
    binary = read_binary(data, "x.ttm")
    assert isinstance(binary, MetalBinary)
    settings = RunSettings(numerics=Numerics.EXACT, golden=True, keep_golden=True)
    ran = run_kernels(binary.metal_programs[0], given, settings, SimOptions(timed=False))
    assert ran.golden is not None
    return ran.golden


def test_golden_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs and exchanges are compared on each device, also in loops; what is off is found."""
    given = [np.arange(30, dtype=np.float32).reshape(6, 5), np.array(436, np.float32)]
    results = golden_of(file_of_a_loop(), given).results
    assert all(each.passed and each.device in (0, 1) for each in results)
    assert [each.operation.index for each in results] == [*range(len(results))]
    # The condition is asked twice.
    sums: list[Any] = [each.golden for each in results if each.name == "ttir.all_gather"]
    assert [np.sort(each.ravel()).tolist() for each in sums] == [[105, 330], [210, 660]]

    def negate(*args: Any, **kwargs: Any) -> ExchangeRun:
        run = exchange(*args, **kwargs)
        slots = [
            {slot: (-np.frombuffer(data, np.float32)).tobytes() for slot, data in own.items()}
            for own in run.slots
        ]
        return replace(run, slots=slots)

    monkeypatch.setattr(mesh_kernels, "exchange", negate)
    wrong = golden_of(file_of_a_loop(), [given[0], np.array(-1e6, np.float32)])
    failure = wrong.find_failure([], confirmed=False)
    assert failure is not None
    assert failure.name == "ttir.all_gather"
    assert "operation 1 (ttir.all_gather) at loc(" in golden_problem(failure)


def test_golden_runs_name_the_device() -> None:
    """A kernel that computes square roots instead of hyperbolic tangents is the first one off."""
    data = compiled(LAYERS).to_bytes()
    rng = np.random.default_rng(3)
    given = [rng.random(each, np.float32) - 0.2 for each in ((5, 40), (40, 66), (66, 34))]
    assert golden_of(data, given).find_failure([], confirmed=False) is None
    wrong = golden_of(data.replace(b"tanh_tile", b"sqrt_tile"), given)
    failure = wrong.find_failure([], confirmed=False)
    assert failure is not None
    assert "tanh" in failure.name
    assert failure.device in (0, 1)


def run(data: bytes) -> None:
    """Run a file of that program on zeros."""
    binary = read_binary(data, "x.ttm")
    assert isinstance(binary, MetalBinary)
    arrays = [np.zeros((6, 5), np.float32), np.zeros((), np.float32)]
    execute(binary.metal_programs[0], arrays, SimOptions(numerics="exact", timed=False))
