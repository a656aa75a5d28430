"""Operations as rows of tt-metal's table of operations, `ops_perf_results.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.report import PROFILER_COLUMNS

MISSING = "-"
_TENSOR_COLUMNS = ("W", "Z", "Y", "X", "LAYOUT", "DATA TYPE", "MEMORY")
_TRAILING_COLUMNS = (
    "CALL DEPTH",
    "COMPUTE KERNEL PATH",
    "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL PATH",
    "DATA MOVEMENT KERNEL HASH",
    "PM IDEAL [ns]",
    "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]",
    "PM REQ I BW",
    "PM REQ O BW",
    "LOC",
)


def profiler_csv(
    rows: Iterable[Mapping[str, Any]], most_inputs: int, more_columns: Sequence[str] = ()
) -> str:
    """The table as text; columns without a value hold "-"."""
    columns = [*PROFILER_COLUMNS]
    for k in range(most_inputs):
        columns += [f"INPUT_{k}_{name}" for name in _TENSOR_COLUMNS]
    columns += [f"OUTPUT_0_{name}" for name in _TENSOR_COLUMNS]
    columns += [*_TRAILING_COLUMNS, *more_columns]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval=MISSING, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def tensor_columns(inputs: Sequence[TensorDesc], output: TensorDesc | None) -> dict[str, int | str]:
    """The columns of an operation's tensors."""
    columns: dict[str, int | str] = {}
    for k, desc in enumerate(inputs):
        columns |= _columns_of(f"INPUT_{k}", desc)
    if output is not None:
        columns |= _columns_of("OUTPUT_0", output)
    return columns


def _columns_of(prefix: str, desc: TensorDesc) -> dict[str, int | str]:
    # The four columns are the last four dimensions; those further out are folded into W.
    shape = (1,) * (4 - len(desc.shape)) + desc.shape
    outer = 1
    for extent in shape[:-3]:
        outer *= extent
    values = (
        outer,
        *shape[-3:],
        "TILE" if desc.is_tiled else "ROW_MAJOR",
        desc.data_type.schema_name.upper(),
        f"{desc.memory_space.keyword}_{desc.memory_layout.keyword}".upper(),
    )
    return {f"{prefix}_{name}": value for name, value in zip(_TENSOR_COLUMNS, values, strict=True)}
