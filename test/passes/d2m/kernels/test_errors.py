"""What has no kernels, and what no host does: each message, at the operation that it is about."""

from __future__ import annotations

import pytest
from running.pass_runner import lowered
from samples.d2m_programs import ABS, Buffer, Operand, Program, loop

from ttmlir.mlir.reporting import DiagnosticError

KERNELS = ("ttir-load-system-desc", "convert-d2m-to-ttkernel")
HOST = (*KERNELS, "convert-d2m-to-ttmetal")


def program() -> Program:
    """An elementwise loop over two blocks in DRAM."""
    made = Program()
    made.buffer(Buffer("x", (2, 3)))
    made.buffer(Buffer("y", (2, 3)))
    made.write("x")
    made.generic(
        [Operand("x", (2, 1), (1, 3), "d0, d1")],
        [Operand("y", (2, 1), (1, 3), "d0, d1")],
        loop(ABS, 2),
        grid=(2, 1),
        factors=(1, 1),
        iterators=["parallel"] * 2,
    )
    made.read("y")
    return made


def error(text: str, *passes: str) -> str:
    """The message of the pass that fails."""
    with pytest.raises(DiagnosticError) as caught:
        lowered(text, *passes)
    return str(caught.value)


GENERIC = program().text


@pytest.mark.parametrize(
    ("old", "new", "passes", "message"),
    [
        (
            "",
            "",
            ("convert-d2m-to-ttkernel",),
            "'d2m.generic' op has no machine to run on: the module lacks the attribute "
            "tt.system_desc; run ttir-load-system-desc before",
        ),
        (
            "ins(%s0_0",
            "ins(%v0_0",
            KERNELS,
            "'d2m.generic' op has an operand that is no stream, so there is no circular buffer for "
            "it; run d2m-allocate before",
        ),
        (
            "indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], "
            "iterator_types = [#ttcore.iterator_type<parallel>, #ttcore.iterator_type<parallel>]",
            "indexing_maps = [], iterator_types = []",
            KERNELS,
            "'d2m.generic' op has tensors, loops or threads of its own; kernels are made of one "
            "compute region on memrefs, with indexing maps: run d2m-allocate before",
        ),
        (
            "(0, 0, d0 * 1 + d2, d1 * 3 + d3)",
            "(0, 0, d0 floordiv 0, d3)",
            KERNELS,
            "'d2m.generic' op has no kernels: 'd0 floordiv 0' divides by what is no constant "
            "above 0",
        ),
        (
            "",
            "",
            ("ttir-load-system-desc", "convert-d2m-to-ttmetal"),
            "'d2m.generic' op has regions in place of kernels; run convert-d2m-to-ttkernel before",
        ),
        (
            "address = 1024 : i64, ",
            "",
            HOST,
            "'memref.alloc' op is a buffer of the device without an address; run d2m-allocate "
            "before",
        ),
        (
            "%r_y = memref.alloc() : memref<64x96xbf16>",
            "%r_y = memref.alloc() : memref<64x96xbf16>\n"
            "d2m.to_layout %host_x, %r_y : memref<64x96xbf16> into memref<64x96xbf16>",
            HOST,
            "'d2m.to_layout' op moves numbers on the host; transfers go from one to the other",
        ),
    ],
)
def test_refusals(old: str, new: str, passes: tuple[str, ...], message: str) -> None:
    """The text of a program, changed in one place."""
    assert old in GENERIC
    text = GENERIC.replace(old, new) if old else GENERIC
    assert message in error(text, *passes)


def test_too_many_circular_buffers() -> None:
    """A kernel has 32."""
    made = Program()
    names = [f"x{number}" for number in range(33)]
    for name in names:
        made.buffer(Buffer(name, (1, 1)))
    blocks = [Operand(name, (1, 1), (1, 1), "d0, d1", buffers=1) for name in names]
    made.generic(
        blocks[:-1],
        blocks[-1:],
        loop('%e = "d2m.tile_abs"(%t0) : (!t0) -> !t32', 33),
        grid=(1, 1),
        factors=(1, 1),
        iterators=["parallel"] * 2,
    )
    assert (
        "'d2m.generic' op needs 33 circular buffers; a kernel has 32: compute it in several "
        "generics"
    ) in error(made.text, *KERNELS)


def test_numbers_in_rows() -> None:
    """Kernels move tiles."""
    text = GENERIC.replace("!ttcore.tile<32x32, bf16>", "bf16")
    text = text[: text.index("linalg.generic")] + text[text.index("\n}\n}") + 2 :]
    text = text.replace(
        "2x3xbf16, #ttcore.interleaved<6144x2048>", "2x3xbf16, #ttcore.interleaved<6x2>"
    )
    text = text.replace("#ttcore.shard<6144x2048, 2>", "#ttcore.shard<6x2, 2>")
    assert "'d2m.generic' op has no kernels: operand #0 has elements 'bf16'" in error(
        text, *KERNELS
    )


KERNEL = """
func.func private @k() attributes {ttkernel.thread = #ttkernel.thread<noc>} { return }
func.func private @f()
func.func @main(%y: memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>,
    #ttcore.memory_space<l1>>) {
  d2m.generic {block_factors = [], grid = #ttcore.grid<GRID>, indexing_maps = [],
      iterator_types = [], threads = [THREADS]} ins() outs(%y : memref<2x1x1x3x!ttcore.tile<32x32,
      bf16>, #ttcore.shard<6144x2048>, #ttcore.memory_space<l1>>)
  return
}
"""


@pytest.mark.parametrize(
    ("threads", "message"),
    [
        (["@f"], "names @f, which is no kernel of the module"),
        (["@k"] * 3, "has more than two kernels that move data; a core runs two"),
    ],
)
def test_threads(threads: list[str], message: str) -> None:
    """Two processors move data."""
    spelled = ", ".join(f"#d2m.thread<datamovement, {each}>" for each in threads)
    text = KERNEL.replace("THREADS", spelled).replace("GRID", "2x1")
    found = error(text, "ttir-load-system-desc", "convert-d2m-to-ttmetal")
    assert f"'d2m.generic' op {message}" in found


def test_addresses_at_launch() -> None:
    """In ttnn's mode they are run-time arguments that all cores have in common."""
    text = str(lowered(GENERIC, KERNELS[0], f"{KERNELS[1]}=ttnn-mode=true"))
    assert "ttmetal.kernel_args<rt_args = [<buffer_address[0]>]>" in text
    assert "ttmetal.kernel_args<rt_args = [<buffer_address[1]>]>" in text
    assert "ttkernel.get_common_arg_val" in text
    assert "get_compile_time_arg_val" not in text
