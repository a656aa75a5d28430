"""Programs of meshes as kernels of each chip, and what chips send over the fabric between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttmlir
from test.support.samples.mesh_programs import arrays, recorded
from ttmlir.bridge.fabric_exchange import Move, exchange
from ttmlir.compiler import parse
from ttmlir.errors import CompilationError, InputError
from ttmlir.frontend.compiled import public_function
from ttmlir.frontend.dispatch import compile
from ttmlir.frontend.mesh_kernels import MeshKernels
from ttmlir.frontend.mesh_steps import Segment, cut_into_steps

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
    with pytest.raises(InputError, match=r"there is no file: \.ttm files have no exchanges"):
        model.save(tmp_path / "model.ttm")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="kernels for 2 devices, of which there is no file"):
        _ = model.binary
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
    assert all(cycles > 0 for cycles in run.cycles)


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


def test_exchanges_within_loops_are_refused() -> None:
    """Kernels exchange between programs."""
    mesh = 'sdy.mesh @mesh = <["x"=1, "y"=2]>\n'
    with pytest.raises(CompilationError) as found:
        compiled(mesh + LOOP)
    assert str(found.value).splitlines()[0] == (
        "<text>:13:12: error: devices exchange something within a loop or branch; kernels of "
        "several devices exchange between programs: unroll the loop, or compile with target='ttnn'"
    )
