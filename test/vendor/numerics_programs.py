"""Files of 2026 with one operation each, behind the names that cases of ttnn's numbers call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttmlir.runtime import Numerics, open_device, submit
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import to_host
from ttmlir.schema import load_schema
from ttmlir.schema.versions import LATER_SCHEMAS
from ttmlir.ttnn.types.enums import DataType

Array = Any

_SEPTEMBER = LATER_SCHEMAS[-1]
_TYPES = {DataType.BFLOAT16: "BFloat16", DataType.FLOAT32: "Float32", DataType.UINT16: "UInt16"}
_CHIPS = {"n150": ("Wormhole_b0", (8, 8), 12), "p150": ("Blackhole", (10, 13), 8)}
_UNARY = (
    "abs ceil cos floor gelu neg relu sqrt rsqrt sigmoid sin reciprocal sign tan tanh atan exp erf "
    "erfc log expm1 relu6 silu hardsigmoid mish acos asin asinh leaky_relu"
).split()
_BINARY = {
    **{name: name.capitalize() for name in ("add", "multiply", "subtract", "divide")},
    **{"eq": "Equal", "ne": "NotEqual", "ge": "GreaterEqual", "gt": "GreaterThan"},
    **{"le": "LessEqual", "lt": "LessThan"},
}


class UnsupportedCase(Exception):
    """No record of a file says what a case asks for."""


@dataclass(frozen=True)
class _Tensor:
    """Numbers, as `numerics_cases` makes and reads them."""

    array: Array
    dtype: DataType

    def cpu(self) -> _Tensor:
        return self

    def to(self, layout: object) -> _Tensor:
        return self

    def to_list(self) -> list[Any]:
        return self.array.tolist()


class Programs:
    """What `CASES` need of ttnn: each call packs a file, and runs it with device numerics."""

    bfloat16, float32, uint16 = DataType.BFLOAT16, DataType.FLOAT32, DataType.UINT16
    TILE_LAYOUT, ROW_MAJOR_LAYOUT = "tiles", "rows"

    class MathFidelity:
        """By the names that files have."""

        LoFi, HiFi2, HiFi3, HiFi4 = "LoFi", "HiFi2", "HiFi3", "HiFi4"

    def __init__(self, board: str) -> None:
        """Programs for a board."""
        self.board = board

    def WormholeComputeKernelConfig(self, **fields: Any) -> dict[str, Any]:
        """The table of a file."""
        return fields

    def Tensor(
        self, numbers: list[float], shape: list[int], dtype: DataType, layout: str, device: Any
    ) -> _Tensor:
        """A tensor in tiles."""
        if layout != self.TILE_LAYOUT:
            raise UnsupportedCase(layout)
        kind = np.float32 if dtype is not DataType.UINT16 else np.uint16
        return _Tensor(np.array(numbers, kind).reshape(shape), dtype)

    def __getattr__(self, name: str) -> Callable[..., _Tensor]:
        """An operation, or a data type that no case has here."""

        def call(*operands: Any, **options: Any) -> _Tensor:
            return self._call(name, operands, options)

        return call

    def _call(self, name: str, operands: tuple[Any, ...], options: dict[str, Any]) -> _Tensor:
        (x, *others), config = operands, options.pop("compute_kernel_config", None)
        if name in _UNARY and len(others) == (name == "leaky_relu") and not options:
            kind = "".join(part.capitalize() for part in name.split("_"))
            more: dict[str, Any] = {"type": kind}
            if others:
                parameter = {"parameter": others[0]}
                more |= {"params_type": "EltwiseOpWithFloatParams", "params": parameter}
            return self._run("EltwiseUnaryOp", {"in": x}, **more)
        if name in _BINARY and not options and isinstance(others[0], _Tensor):
            return self._run("EltwiseBinaryOp", {"lhs": x, "rhs": others[0]}, type=_BINARY[name])
        if name in ("maximum", "minimum") and isinstance(others[0], _Tensor):
            kind = name.capitalize()
            return self._run("EltwiseBinaryCompositeOp", {"lhs": x, "rhs": others[0]}, type=kind)
        if name in ("sum", "mean"):
            given = options["dim"]
            dims = [given] if isinstance(given, int) else list(given)
            shape = np.sum(x.array, axis=tuple(dims), keepdims=True).shape
            fields: dict[str, Any] = {"type": name.capitalize(), "dim_arg": dims}
            result = self._run("ReductionOp", {"in": x}, shape=shape, keep_dim=True, **fields)
            return _Tensor(np.squeeze(result.array, tuple(dims)), x.dtype)
        if name == "softmax":
            stable = options.get("numeric_stable", True)
            return self._run(
                "SoftmaxOp", {"in": x}, dimension=options["dim"], numeric_stable=stable
            )
        if name in ("layer_norm", "rms_norm"):
            table = {"layer_norm": "LayerNormOp", "rms_norm": "RMSNormOp"}[name]
            return self._run(table, {"input": x, **options}, epsilon=1e-12)
        if name in ("matmul", "linear"):
            return self._multiply(name, x, others[0], config, **options)
        if name == "typecast" and others[0] in _TYPES:
            return self._run("TypecastOp", {"in": x}, result=others[0], dtype=_TYPES[others[0]])
        raise UnsupportedCase(name)

    def _multiply(
        self,
        name: str,
        a: _Tensor,
        b: _Tensor,
        config: dict[str, Any] | None,
        *,
        bias: _Tensor | None = None,
        dtype: DataType | None = None,
        **options: Any,
    ) -> _Tensor:
        columns = b.array.shape[-2 if options.get("transpose_b") else -1]
        batch = np.broadcast_shapes(a.array.shape[:-2], b.array.shape[:-2])
        given = {"a": a, "b": b} | ({} if bias is None else {"bias": bias})
        table = {"matmul": "MatmulOp", "linear": "LinearOp"}[name]
        fields = {} if config is None else {"compute_config": config}
        shape = (*batch, a.array.shape[-2], columns)
        return self._run(table, given, shape=shape, result=dtype, **fields, **options)

    def _run(
        self,
        table: str,
        given: dict[str, _Tensor],
        *,
        shape: tuple[int, ...] | None = None,
        result: DataType | None = None,
        **fields: Any,
    ) -> _Tensor:
        first = next(iter(given.values()))
        tensors = [*given.values()]
        if any(each.dtype not in _TYPES for each in tensors):
            raise UnsupportedCase(table)
        kept = first.dtype if result is None else result
        refs = [_ref(place, each.array.shape, each.dtype) for place, each in enumerate(tensors)]
        out = _ref(len(refs), first.array.shape if shape is None else shape, kept)
        record = {**dict(zip(given, refs, strict=True)), "out": out, **fields}
        operation = {"type_type": table, "type": record, "debug_info": "", "loc_info": ""}
        data = self._pack(
            {"name": "main", "inputs": refs, "outputs": [out], "operations": [operation]}
        )
        binary = read_binary(data, "file.ttnn")
        inputs = [
            each.array.astype(ref.desc.element.host)
            for each, ref in zip(tensors, binary.program(0).inputs, strict=True)
        ]
        [found] = submit(open_device(numerics=Numerics.DEVICE), binary, 0, inputs)
        return _Tensor(to_host(found).to_numpy().astype(np.float32), kept)

    def _pack(self, program: dict[str, Any]) -> bytes:
        arch, grid, channels = _CHIPS[self.board]
        chip = {
            **{"arch": arch, "grid_size": grid, "dram_grid_size": (1, channels)},
            **{"l1_size": 1 << 20, "num_dram_channels": channels, "dram_channel_size": 1 << 30},
            **{"noc_l1_address_align_bytes": 16, "noc_dram_address_align_bytes": 64},
            **{"dram_unreserved_base": 1 << 20, "dram_unreserved_end": 1 << 30},
            **{"supported_data_types": ["Float32"], "supported_tile_sizes": [(32, 32)]},
        }
        system = {
            **{"chip_descs": [chip], "chip_desc_indices": [0]},
            **{"chip_capabilities": ["HostMMIO"], "chip_coords": [(0, 0, 0, 0)]},
        }
        root = {
            **{"version": (0, 12, 0), "schema_hash": _SEPTEMBER.digest or "ab" * 32},
            **{"ttmlir_git_hash": "unknown", "programs": [program], "system_desc": system},
        }
        return load_schema(_SEPTEMBER.path).pack(root)


def _ref(number: int, shape: tuple[int, ...], dtype: DataType) -> dict[str, Any]:
    memory = {
        **{"storage_type": "Device", "tile_shape": (32, 32), "data_type": _TYPES[dtype]},
        "memory_config": {"tensor_memory_layout": "Interleaved", "buffer_type": "DRAM"},
    }
    return {"global_id": number, "desc": {"shape": shape, "layout": {"memory_desc": memory}}}
