"""Verifiers of 2026: where the tensors of ttnn lie, in which layout and with which elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, bf16, f16, f32

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.definition.table_ops import layout_errors, layout_of
from ttmlir.dialects.late_checks.verified import Verified, require, spell
from ttmlir.dialects.tt import TileType
from ttmlir.layout.enums import DataType, TensorMemoryLayout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.ttnn.attrs import TTNNLayoutAttr

_UNCHECKED = frozenset(
    f"ttnn.{name}"
    for name in (
        *("adamw", "begin_trace_capture", "capture_or_execute_trace", "causal_conv1d_update"),
        *("d2m_subgraph", "tt_lang_op"),
    )
)
"""The operations whose results may have any elements."""


def ttnn_layout(value: SSAValue) -> TTNNLayoutAttr | None:
    """The layout of a tensor of ttnn, None if its type has none."""
    if not isinstance(value.type, TensorType):
        return None
    layout = layout_of(value)
    is_ttnn = layout is not None and layout.name == "ttnn.ttnn_layout"
    return cast("TTNNLayoutAttr", layout) if is_ttnn else None


def on_host(value: SSAValue) -> bool | None:
    """True for a tensor in the host's memory, None where its type does not say."""
    layout = ttnn_layout(value)
    if layout is None:
        return None
    with layout_errors():
        return layout.memory_space.is_system


def check_scalar_elements(op: Operation) -> None:
    """Tiles are elements of a tensor only where their format has no numbers of its own."""
    if op.name in _UNCHECKED:
        return
    for result in op.results:
        layout = ttnn_layout(result)
        element = cast("TensorType[Attribute]", result.type).element_type if layout else None
        if layout is None or not isinstance(element, TileType):
            continue
        scalar = _scalar(layout)
        require(
            scalar == element,
            "Output element type must match the scalar element type from encoding. Element type: "
            f"{spell(element)}, Scalar element type: {spell(scalar)}.",
        )


_NUMBERS: Mapping[DataType, Attribute] = {
    DataType.F32: f32,
    DataType.F16: f16,
    DataType.BF16: bf16,
    DataType.U32: IntegerType(32, Signedness.UNSIGNED),
    DataType.U16: IntegerType(16, Signedness.UNSIGNED),
    DataType.U8: IntegerType(8, Signedness.UNSIGNED),
    DataType.SI32: IntegerType(32, Signedness.SIGNED),
    DataType.I1: IntegerType(1),
}


def _scalar(layout: TTNNLayoutAttr) -> Attribute:
    """The numbers of a layout; for formats that share exponents, their tiles."""
    element = layout.memref.element_type
    return _NUMBERS.get(element.data_type, element) if isinstance(element, TileType) else element


def check_layout_change(op: Operation) -> None:
    """Rows become tiles or tiles rows, and the tensor stays where it is."""
    before, after = ttnn_layout(op.operands[0]), ttnn_layout(op.results[0])
    require(before is not None, "Input tensor type missing layout attribute")
    require(after is not None, "Output tensor type missing layout attribute")
    if before is None or after is None:
        return
    with layout_errors():
        old, new = before.memory_space, after.memory_space
    if old is not new:
        refuse(
            f"ttnn.to_layout cannot change buffer type from '{_buffer(before)}' to "
            f"'{_buffer(after)}'; use ttnn.to_tensor_spec for memory-config or device placement "
            "changes"
        )
    require(
        before.memory_layout is after.memory_layout,
        "ttnn.to_layout cannot change tensor memory layout; use ttnn.to_tensor_spec for "
        "memory-config changes",
    )
    require(
        before.grid == after.grid,
        "ttnn.to_layout cannot change grid shape; use ttnn.to_tensor_spec for memory-config "
        "changes",
    )


def _buffer(layout: TTNNLayoutAttr) -> str:
    return str(getattr(getattr(layout.memref.memory_space, "data", None), "keyword", ""))


def check_constant_place(op: Operation) -> None:
    """A constant of the host names no device."""
    require(
        not op.operands or not on_host(op.results[0]),
        "device operand must not be specified for system memory buffer type",
    )


def check_loaded(op: Verified) -> None:
    """A file with the extension of tensors, and a device exactly where the tensor lies on one."""
    check_tensor_file(op)
    place, device = on_host(op.op.results[0]), bool(op.op.operands)
    require(not (place and device), "device operand must be null for system memory buffer type")
    require(
        device or place is not False,
        "device operand must be specified for device memory buffer type",
    )


def check_tensor_file(op: Verified) -> None:
    """A name with the extension of tensors."""
    path = op.get("file_path")
    require(path.endswith(".tensorbin"), f"file {path} must end with .tensorbin extension")


def check_copy(op: Verified) -> None:
    """Tensors of one type on the device."""
    source, target = op.value("src"), op.value("dst")
    require(not on_host(source), "Source tensor must be on device memory")
    require(not on_host(target), "Destination tensor must be on device memory")
    require(
        source.type == target.type,
        "Source and destination tensor types must match, but got "
        f"{spell(source.type)} and {spell(target.type)}",
    )


_QUEUES = (0, 1)


def check_queue(op: Verified) -> None:
    """One of the queues of commands."""
    queue = op.get("cq_id")
    require(queue in _QUEUES, f"Invalid CQ ID {queue}")


def check_write_tensor(op: Verified) -> None:
    """A tensor of the host that goes to one on the device."""
    host, device = op.value("host_tensor"), op.value("device_tensor")
    for side, value in (("Host", host), ("Device", device)):
        require(isinstance(value.type, TensorType), f"{side} tensor must be RankedTensorType")
    require(on_host(host) is not False, "Host tensor must be on system memory")
    require(not on_host(device), "Device tensor must be on device memory")
    check_queue(op)


def check_assign(op: Verified) -> None:
    """A copy of the same shape and type."""
    require(op.shape("input") == op.result(), "input and output tensor must have the same shape")
    require(
        op.element("input") == op.result_element(),
        "output tensor data type does not match expected output data type",
    )


def check_layouts_agree(op: Verified) -> None:
    """Tiles stay tiles, and rows stay rows."""
    before, after = ttnn_layout(op.value("input")), ttnn_layout(op.op.results[0])
    if before is None or after is None:
        return
    old, new = (
        "tile" if isinstance(layout.memref.element_type, TileType) else "row_major"
        for layout in (before, after)
    )
    require(
        old == new,
        f"Input and output layouts must agree, but got input layout {old} and output layout {new}. "
        "all_gather is layout-preserving and cannot convert between tiled and row-major layouts.",
    )


def check_rotary_embedding(op: Verified) -> None:
    """Cosines and sines of one form, and tensors of four dimensions."""
    names = ("input", "cos_cache", "sin_cache")
    require(
        op.element("cos_cache") == op.element("sin_cache"),
        "cos and sin tensor dtypes must match.",
    )
    require(op.shape("cos_cache") == op.shape("sin_cache"), "cos and sin tensor shapes must match.")
    require(
        all(op.rank(name) == 4 for name in names) and len(op.result()) == 4,
        "all input and output tensors must be 4D tensors.",
    )


def check_rotary_embedding_llama(op: Verified) -> None:
    """Tiles of bfloat16 on the device, which a matrix of one tile rotates."""
    values = [op.value(name) for name in ("input", "cos_cache", "sin_cache", "trans_mat")]
    layouts = [layout for value in values if (layout := ttnn_layout(value)) is not None]
    require(
        all(isinstance(layout.memref.element_type, TileType) for layout in layouts),
        "all input tensors must have tiled layout.",
    )
    require(
        all(spell(cast("TensorType[Attribute]", v.type).element_type) == "'bf16'" for v in values),
        "all input tensors must be bfloat16 type.",
    )
    require(not any(map(on_host, values)), "all input tensors must be on device.")
    shape = op.shape("input")
    require(
        op.shape("cos_cache") == op.shape("sin_cache"),
        "cos and sin tensors must have the same shape.",
    )
    require(shape[-1] <= 256, f"head dimension must be ≤ 256, got {shape[-1]}.")
    require(op.rank("trans_mat") >= 4, "transformation matrix must be at least 4D tensor.")
    require(shape == op.result(), "output shape must match input shape.")
    if op.get("is_decode_mode"):
        require(
            all(layout.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED for layout in layouts),
            "in decode mode, all input tensors must have HeightSharded memory layout.",
        )
