"""`override-output-layout`: where it puts results, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import CallSiteLoc, UnknownLoc

from ttmlir.mlir.reporting import file_location, fused_location, name_location, override_name
from ttmlir.passes.placement.layout_overrides import LAYOUT_OVERRIDES, LayoutOverride
from ttmlir.tools.ttmlir_opt import main as ttmlir_opt

LAYERS = Path(__file__).parents[2] / "explorer" / "Inputs" / "layers.mlir"


def run(overrides: str, capsys: pytest.CaptureFixture[str], more: str = "") -> tuple[int, str, str]:
    """Status, output and errors of the pipeline with overrides."""
    options = f"override-output-layout={overrides} {more}".strip()
    status = ttmlir_opt([f"--ttir-to-ttnn-backend-pipeline={options}", str(LAYERS)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def layout_of_result(text: str, operation: str) -> str:
    """The layout of the last operand of an operation, which is its result, spelled out."""
    line = next(line for line in text.splitlines() if f'"{operation}"' in line)
    alias = line.rpartition("#")[2].rstrip(">")
    return next(each for each in text.splitlines() if each.startswith(f"#{alias} = "))


def test_all_parts_of_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    """ReLU of 33 x 96: tiles of 32 x 32 make 2 x 3, two rows of cores hold one row of them each."""
    words = "encoder/relu=2x1:l1:height_sharded:tile:bf16"
    status, text, _ = run(words, capsys)
    assert status == 0
    layout = layout_of_result(text, "ttnn.relu")
    assert "<2x1>" in layout
    assert "memref<1x3x!tt.tile<32x32, bf16>, #l1_>, height_sharded>" in layout
    # The one before it and the one after it stay as they are.
    assert "#dram>, interleaved" in layout_of_result(text, "ttnn.add")
    assert "#dram>, interleaved" in layout_of_result(text, "ttnn.softmax")


def test_a_data_type_of_its_own_needs_tiles(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of numbers have the type of the tensor; tiles may have another."""
    _, text, _ = run("encoder/relu=bfp_bf8", capsys)
    assert "!tt.tile<32x32, bfp_bf8>" in layout_of_result(text, "ttnn.relu")
    status, _, errors = run("encoder/relu=row_major:bfp_bf8", capsys)
    assert status == 1
    assert "rows of numbers are f32, as the tensor is: leave out bfp_bf8, or take tile" in errors


def test_overrides_come_before_sharding(capsys: pytest.CaptureFixture[str]) -> None:
    """What is overridden is no part of a run in L1."""
    _, text, _ = run("encoder/relu=dram", capsys, "sharding-pass-enabled=true")
    assert "#dram>, interleaved" in layout_of_result(text, "ttnn.relu")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("dram:height_sharded:2x1", "height_sharded tensors are in l1: add l1, or interleaved"),
        ("l1:block_sharded", "block_sharded needs a grid of cores: add 8x8"),
        ("2x2:l1:height_sharded", "height_sharded needs a grid of one column, not 2x2"),
        ("2x2:l1:width_sharded", "width_sharded needs a grid of one row, not 2x2"),
        ("100x1:l1:height_sharded", "the device has 8x8 = 64 cores"),
    ],
)
def test_places_that_no_tensor_can_have(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error is at the operation and says what to do."""
    status, output, errors = run(f"encoder/relu={words}", capsys)
    assert (status, output) == (1, "")
    assert message in errors
    assert "'ttir.relu' op cannot" in errors


def test_shards_that_l1_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One core has less than 1.5 MB: 33 x 96 does fit, 3300 x 960 does not."""
    text = LAYERS.read_text().replace("33x", "3300x").replace("x96x", "x960x")
    path = tmp_path / "large.mlir"
    path.write_text(text.replace("<96x", "<960x"))
    options = "override-output-layout=encoder/relu=1x1:l1:block_sharded"
    assert ttmlir_opt([f"--ttir-to-ttnn-backend-pipeline={options}", str(path)]) == 1
    errors = capsys.readouterr().err
    assert f"each core would hold {3300 * 960 * 4} bytes, and its L1 has " in errors
    assert "take more cores, or dram" in errors


def test_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning with names that are like it; lines of a file are names, too."""
    status, _, errors = run("encoder/rleu=l1", capsys)
    assert status == 0
    assert (
        "warning: override-output-layout: no operation has the location 'encoder/rleu'; did you "
        "mean 'encoder/relu'"
    ) in errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relu", "Invalid format for override output layout: relu"),
        ("=l1", "Invalid format for override output layout: =l1"),
        ("relu=attic", "Invalid layout parameter: attic; give a grid such as 8x8, or one of dram,"),
        ("relu=l1:dram", "Multiple layout parameters of one kind: l1:dram"),
        ("relu=0x4", "Invalid layout parameter: 0x4"),
        ("relu=", "Invalid layout parameter: ;"),
    ],
)
def test_text_that_is_no_override(text: str, message: str) -> None:
    """Messages in the words of the other options."""
    with pytest.raises(ValueError, match=r"Invalid|Multiple") as caught:
        LAYOUT_OVERRIDES.parse(text)
    assert message in str(caught.value)


def test_text_and_value() -> None:
    """What is printed is read again; words may come in any order."""
    text = "a/b=2x1:l1:height_sharded:tile:bf16,jit(f)/c=dram"
    parsed = LAYOUT_OVERRIDES.parse(text)
    assert LAYOUT_OVERRIDES.format(parsed) == text
    shuffled = LayoutOverride.parse("bf16:tile:height_sharded:l1:2x1")
    assert shuffled == parsed[0][1]
    assert LAYOUT_OVERRIDES.parse("") == ()


def test_names_of_operations() -> None:
    """Of all kinds of locations."""
    place = file_location("dir/net.mlir", 12, 3)
    named = name_location("fc1", place)
    caller = name_location("jit(f)/layer", place)
    assert override_name(named) == "fc1"
    assert override_name(place) == "net.mlir:12"
    assert override_name(CallSiteLoc(name_location("max"), caller)) == "jit(f)/layer/max"
    assert override_name(fused_location([place, named])) == "net.mlir:12"
    assert override_name(UnknownLoc()) is None
