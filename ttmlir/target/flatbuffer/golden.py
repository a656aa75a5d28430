"""Inputs and expected outputs of a program, kept in its file so that others can check it.

They come from the framework that the program was written in: `ttrt run --golden` runs the program
on these inputs and compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttmlir.layout.element_type import SCHEMA_NAMES, ScalarType
from ttmlir.mlir.reporting.diagnostics import LocatedError, OpError
from ttmlir.target.flatbuffer.tensors import Table

_KEYWORDS = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "bool": "i1",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}


@dataclass(frozen=True, kw_only=True)
class Golden:
    """What a reference was given and what it computed, as NumPy arrays in the program's order."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    function: str | None = None
    """The function that they belong to; None for the only one of the module."""


@dataclass(frozen=True)
class GoldenOfFunction:
    """What a reference computed for one function of a module; for none without `function`."""

    function: FuncOp | None
    info: Table
    signatures: Mapping[str, Table] = field(default_factory=dict[str, Table])
    """How the models are called that functions come from, by the names of these."""

    @classmethod
    def find(
        cls,
        module: ModuleOp,
        functions: Sequence[FuncOp],
        golden: Golden | None,
        signatures: Mapping[str, Table],
    ) -> GoldenOfFunction:
        """The function that golden results are for; LocatedError if they do not fit."""
        names = [function.sym_name.data for function in functions]
        if len(names) == 1 and "" in signatures:
            signatures = {names[0]: signatures[""]}
        assert signatures.keys() <= set(names), "models are functions"
        if golden is None:
            return cls(None, {}, signatures)
        wanted = names[0] if golden.function is None and len(names) == 1 else golden.function
        if wanted not in names:
            raise LocatedError(
                module.location,
                f"golden results are for one function; name one of {', '.join(names)}",
            )
        function = functions[names.index(wanted)]
        types = function.function_type
        _check_shapes(function, "input", types.inputs.data, golden.inputs)
        _check_shapes(function, "output", types.outputs.data, golden.outputs)
        try:
            return cls(function, _golden_info(golden), signatures)
        except ValueError as error:
            raise OpError(function, f"golden results do not fit a file: {error}") from error

    def debug_info(self, function: FuncOp, table: Table) -> Table:
        """The `DebugInfo` table of a function: the given one, with what belongs to it."""
        if function is self.function:
            table = {**table, "golden_info": self.info}
        signature = self.signatures.get(function.sym_name.data)
        return table if signature is None else {**table, "call_signature": signature}


def _check_shapes(
    function: FuncOp, kind: str, types: Sequence[Attribute], arrays: Sequence[Any]
) -> None:
    """Refuse golden tensors of other shapes than the function's."""
    shapes = [
        tuple(cast("TensorType[Attribute] | MemRefType[Attribute]", type).get_shape())
        for type in types
    ]
    given = [tuple(array.shape) for array in arrays]
    if shapes != given:
        raise OpError(
            function,
            f"golden {kind}s have the shapes {given}; those of the function are {shapes}",
        )


def _golden_info(golden: Golden) -> Table:
    """The `GoldenInfo` table; ValueError for arrays that no tensor can hold."""
    return {"golden_map": [*_entries("input", golden.inputs), *_entries("output", golden.outputs)]}


def _entries(kind: str, arrays: Sequence[Any]) -> Iterator[Table]:
    for number, array in enumerate(arrays):
        name = f"{kind}_{number}"
        yield {"key": name, "value": _tensor(name, array)}


def _tensor(name: str, array: Any) -> Table:
    keyword = _KEYWORDS.get(array.dtype.name)
    if keyword is None:
        raise ValueError(
            f"{name} has element type {array.dtype}; supported are {', '.join(_KEYWORDS)}"
        )
    shape = tuple(int(extent) for extent in array.shape)
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    if sys.byteorder == "big":
        array = array.byteswap()
    return {
        "name": name,
        "shape": shape,
        "stride": strides if shape else (),
        "dtype": ScalarType(keyword).data_type.schema_name,
        "data": array.tobytes(),
        "element_type": SCHEMA_NAMES[keyword],
    }
