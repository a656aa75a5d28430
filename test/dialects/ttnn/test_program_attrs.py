"""What is refused of attributes that describe programs of kernels, and where."""

from __future__ import annotations

import pytest
from running.ir_text import parse
from xdsl.dialects.builtin import TensorType, UnknownLoc, f32
from xdsl.ir import Block

from ttmlir.dialects.ttnn.structure import GenericOp
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.program import CoreRange, KernelDescription, ProgramDescription, WriterConfig

CORES = "<[#ttnn.core_range<(0,0), (7,7)>]>"
COMPUTE = (
    f"#ttnn.compute_kernel<symbol_ref = @c, core_ranges = {CORES}, math_fidelity = hifi4, "
    "fp32_dest_acc_en = false, dst_full_sync_en = true, unpack_to_dest_modes = [default, fp32], "
    "bfp8_pack_precise = false, math_approx_mode = true, ct_args = [], common_rt_args = []>"
)
MOVER = (
    f"#ttnn.data_movement_kernel<symbol_ref = @m, core_ranges = {CORES}, processor = riscv_1, "
    "noc_index = noc0, ct_args = [#ttnn.kernel_arg_scalar<7>], common_rt_args = [], "
    'rt_args = [<(3,2), []>], defines = ["A" = "1"], source = "x">'
)
BUFFER = (
    f"<total_size = 4096, core_ranges = {CORES}, formats = [<buffer_index = 0, dtype = bf16, "
    "page_size = 2048>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<1>>"
)
SEMAPHORE = f"<core_type = worker, core_ranges = {CORES}, initial_value = 5>"
PROGRAM = (
    f"#ttnn.program<kernels = [{COMPUTE}, {MOVER}], cbs = [{BUFFER}], semaphores = [{SEMAPHORE}]>"
)
RANGE = "#ttnn.core_range<(0,0), (7,7)>"


def refusal(attribute: str) -> tuple[int, str]:
    """The column of the first error from the attribute's start on, and its message."""
    start = "module attributes {t.a = "
    with pytest.raises(DiagnosticError) as error:
        parse(f"{start}{attribute}}} {{}}")
    place, _, message = str(error.value).splitlines()[0].partition(": error: ")
    return int(place.rpartition(":")[2]) - 1 - len(start), message


def test_the_whole_is_read() -> None:
    """What the refusals below are made of is right."""
    parse(f"module attributes {{t.a = {PROGRAM}}} {{}}").verify()


@pytest.mark.parametrize(
    "text",
    [
        "#ttnn.core_range<0, 8x8>",
        "#ttnn.core_range<0x0, 8>",
        "#ttnn.core_range<0, 8>",
        "#ttnn.core_range<0x0x0, 8x8>",
        "#ttnn.core_range<0x0, 8x8x1>",
    ],
)
def test_ranges_have_two_dimensions(text: str) -> None:
    """Where the range stands, whichever corner has more or fewer."""
    set_ = f"#ttnn.core_range_set<[{RANGE}, {text}]>"
    assert refusal(set_) == (set_.index(text), "a range of cores has two dimensions")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (RANGE, "#ttnn.layout<tile>", "expected '#ttnn.core_range'"),
        ("symbol_ref", "symbol", "expected 'symbol_ref'"),
        ("core_ranges", "cores", "expected 'core_ranges'"),
        ("math_fidelity", "fidelity", "expected 'math_fidelity'"),
        ("fp32_dest_acc_en", "fp32", "expected 'fp32_dest_acc_en'"),
        ("dst_full_sync_en", "fp32_dest_acc_en", "expected 'dst_full_sync_en'"),
        ("unpack_to_dest_modes", "modes", "expected 'unpack_to_dest_modes'"),
        ("default, fp32", "unpacked", "expected one of: fp32, default"),
        ("bfp8_pack_precise", "precise", "expected 'bfp8_pack_precise'"),
        ("math_approx_mode", "approx", "expected 'math_approx_mode'"),
        ("ct_args", "args", "expected 'ct_args'"),
        ("common_rt_args", "rt_args", "expected 'common_rt_args'"),
        ("processor", "noc_index", "expected 'processor'"),
        ("riscv_1", "riscv_2", "expected one of: riscv_0, riscv_1"),
        ("noc_index", "noc", "expected 'noc_index'"),
        (
            ", rt_args",
            ", arguments",
            "expected 'named_ct_args' or 'rt_args' or 'defines' or 'source'",
        ),
        ("#ttnn.kernel_arg_scalar<7>", "#ttnn.layout<tile>", "expected a kernel's argument"),
        ("#ttnn.kernel_arg_scalar<7>", "7 : i32", "expected a kernel's argument"),
        (COMPUTE, "#ttnn.layout<tile>", "expected a kernel"),
        ("total_size", "size", "expected 'total_size'"),
        ("formats", "format", "expected 'formats'"),
        ("buffer_index", "index", "expected 'buffer_index'"),
        ("dtype", "type", "expected 'dtype'"),
        ("page_size", "size", "expected 'page_size'"),
        (", buffer =", ", tensor =", "expected 'buffer'"),
        (
            "#ttnn.kernel_cb_global_buffer_address_of_tensor<1>",
            "#ttnn.kernel_arg_scalar<1>",
            "expected a kernel's buffer",
        ),
        ("core_type", "type", "expected 'id' or 'core_type'"),
        ("initial_value", "value", "expected 'initial_value'"),
        ("kernels", "kernel", "expected 'kernels'"),
        ("cbs", "buffers", "expected 'cbs'"),
        ("semaphores", "semaphore", "expected 'semaphores'"),
    ],
)
def test_other_words_are_refused_where_they_stand(right: str, wrong: str, message: str) -> None:
    """The message says what is expected there."""
    place = PROGRAM.index(right) + len(right) - len(right.lstrip(", "))
    text = PROGRAM.replace(right, wrong, 1)
    assert refusal(text) == (place, message)


@pytest.mark.parametrize(("inputs", "outputs"), [(2, 1), (1, 2), (0, 3), (0, 1)])
def test_operands_that_are_written_come_last(inputs: int, outputs: int) -> None:
    """One is not said; more are."""
    config = WriterConfig()
    cores = (CoreRange((0, 0), (0, 0)),)
    kernel = KernelDescription(
        name="k", source="void kernel_main() {}", config=config, core_ranges=cores
    )
    values = Block(arg_types=[TensorType(f32, (3, 5))] * (inputs + outputs)).args
    op = GenericOp.make(
        values[:inputs],
        values[inputs:],
        ProgramDescription(kernels=(kernel,)),
        location=UnknownLoc(),
    )
    assert tuple(op.operands) == tuple(values)
    assert (op.num_outputs, tuple(op.outputs)) == (outputs, tuple(values[inputs:]))
    assert ("num_outputs" in op.properties) == (outputs != 1)
    assert op.program.kernels == (kernel,)
