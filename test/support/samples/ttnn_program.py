"""Builds `.ttnn` files field by field, without the compiler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttmlir.layout.system import board, system_desc_to_table
from ttmlir.schema import load_schema
from ttmlir.schema.versions import version_stamp

Ref = dict[str, Any]

# Schema's storage type, and element type where storage does not tell it.
_TYPES = {
    "f32": ("Float32", None),
    "bf16": ("BFloat16", None),
    "f16": ("Float16", None),
    "f64": ("Float32", "Float64"),
    "i1": ("BFloat16", "Bool"),
    "i8": ("UInt8", "Int8"),
    "i16": ("UInt16", "Int16"),
    "i32": ("UInt32", "Int32"),
    "i64": ("UInt32", "Int64"),
    "ui32": ("UInt32", None),
    "ui8": ("UInt8", None),
    "bfp8": ("BFP_BFloat8", None),
    "bfp4": ("BFP_BFloat4", None),
}
_BYTES = {"Float32": 4, "UInt32": 4, "BFloat16": 2, "Float16": 2, "UInt16": 2, "UInt8": 1}


def tensor_desc(
    shape: Sequence[int],
    element: str = "f32",
    space: str = "System",
    *,
    tiled: bool = False,
    memory_layout: str = "Interleaved",
    constant: bytes | None = None,
) -> dict[str, Any]:
    """A `TensorDesc` table of a tensor on one core."""
    data_type, element_type = _TYPES[element]
    rows, columns = math.prod(shape[:-1]), shape[-1] if shape else 1
    tile = (32, 32) if tiled else (1, 1)
    shard = [-(-rows // tile[0]), -(-columns // tile[1])]
    stride = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    size = math.prod(shard) * math.prod(tile) * _BYTES.get(data_type, 1)
    return {
        "shape": list(shape),
        "layout": {
            "stride": stride,
            "oob_val": "Undef",
            "core_range_set": [((0, 0), (1, 1))],
            "memory_desc": {
                "shape": shard,
                "tile_shape": tile,
                "data_type": data_type,
                "memory_space": space,
                "memory_layout": "None" if space == "System" else memory_layout,
                "size": size,
            },
        },
        "constant_data": constant,
        "element_type": element_type,
    }


class ProgramBuilder:
    """One program, operation by operation; tensors are `TensorRef` tables."""

    def __init__(self, name: str = "forward", *, first_id: int = 1, device: bool = True) -> None:
        """Start a program that opens chip 0, unless `device` is False."""
        self.name = name
        self.inputs: list[Ref] = []
        self.outputs: list[Ref] = []
        self.operations: list[dict[str, Any]] = []
        self.device = {"global_id": 0}
        self._next_id = first_id
        if device:
            self.op("GetDeviceOp", mesh=(1, 1), chip_ids=[0], out=self.device)

    def ref(self, *args: Any, **kwargs: Any) -> Ref:
        """A new tensor; see `tensor_desc`."""
        self._next_id += 1
        return {"global_id": self._next_id - 1, "desc": tensor_desc(*args, **kwargs)}

    def op(self, table: str, /, debug_info: str | None = None, **fields: Any) -> None:
        """Add an operation with its fields as the schema names them."""
        if debug_info is None:
            debug_info = f"op loc({table!r})".replace("'", '"')
        self.operations.append({"type_type": table, "type": fields, "debug_info": debug_info})

    def input(self, shape: Sequence[int], element: str = "f32", space: str = "System") -> Ref:
        """An input of the program."""
        ref = self.ref(shape, element, space, tiled=space != "System")
        self.inputs.append(ref)
        return ref

    def to_device(self, ref: Ref, *, element: str | None = None, tiled: bool = True) -> Ref:
        """Move a host tensor to DRAM as the compiler does: to_layout, then to_device."""
        shape, element = ref["desc"]["shape"], element or self.element_of(ref)
        laid_out = self.ref(shape, element, "DeviceDRAM", tiled=tiled)
        self.op("ToLayoutOp", **{"in": ref}, layout="Tile", device=self.device, out=laid_out)
        out = self.ref(shape, element, "DeviceDRAM", tiled=tiled)
        memory = {"tensor_memory_layout": "Interleaved", "buffer_type": "DRAM"}
        self.op("ToDeviceOp", **{"in": laid_out}, device=self.device, memcfg=memory, out=out)
        return out

    @staticmethod
    def element_of(ref: Ref) -> str:
        """Element type of a tensor, as `tensor_desc` takes it."""
        desc = ref["desc"]
        key = (desc["layout"]["memory_desc"]["data_type"], desc["element_type"])
        return next(name for name, types in _TYPES.items() if types == key)

    def empty(self, shape: Sequence[int], element: str = "f32", *, tiled: bool = True) -> Ref:
        """Memory on the device for a result."""
        out = self.ref(shape, element, "DeviceDRAM", tiled=tiled)
        self.op("EmptyOp", device=self.device, out=out)
        return out

    def compute(
        self,
        table: str,
        shape: Sequence[int],
        element: str = "f32",
        /,
        *,
        out_field: str = "out",
        debug_info: str | None = None,
        **fields: Any,
    ) -> Ref:
        """Add an operation that writes to fresh memory; returns the result."""
        out = self.empty(shape, element)
        self.op(table, debug_info, **fields, **{out_field: out})
        return out

    def eltwise(self, kind: str, ins: Sequence[Ref], **options: Any) -> Ref:
        """Add an elementwise operation whose result has the shape and type of its last operand."""
        shape = options.pop("shape", ins[-1]["desc"]["shape"])
        element = options.pop("element", None) or self.element_of(ins[-1])
        return self.compute("EltwiseOp", shape, element, type=kind, ins=list(ins), **options)

    def to_host(self, ref: Ref) -> Ref:
        """Move a tensor to the host."""
        out = self.ref(ref["desc"]["shape"], self.element_of(ref))
        self.op("ToMemoryConfigOp", in0=ref, device=self.device, out=out)
        return out

    def output(self, ref: Ref, *, on_device: bool = False) -> Ref:
        """Make a tensor an output, on the host unless it is to stay on the device."""
        ref = ref if on_device else self.to_host(ref)
        self.outputs.append(ref)
        return ref

    def table(self) -> dict[str, Any]:
        """The `Program` table."""
        return {
            "name": self.name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "operations": self.operations,
            "debug_info": {"mlir": {"name": "ttnn", "source": "module {}"}, "cpp": "// none"},
        }

    def pack(self, *others: ProgramBuilder, system: str = "default", **root: Any) -> bytes:
        """The bytes of a file with this program and others."""
        fields = {
            **version_stamp(),
            "system_desc": system_desc_to_table(board(system)),
            "programs": [program.table() for program in (self, *others)],
        }
        return load_schema("TTNN/binary.fbs").pack(fields | root)
