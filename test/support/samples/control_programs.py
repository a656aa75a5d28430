"""Programs with loops and branches, and the functions that they call."""

from __future__ import annotations

from typing import Any

from samples.ttnn_program import ProgramBuilder

SHAPE = (3, 5)


def function(name: str, kind: str = "Add", *, shape: tuple[int, ...] = SHAPE) -> ProgramBuilder:
    """A function of x and y that returns an elementwise operation of them, or more of it."""
    b = ProgramBuilder(name, first_id=1000)
    x, y = (b.input(shape, space="DeviceDRAM") for _ in range(2))
    b.output(b.eltwise(kind, [x, y]), on_device=True)
    return b


def goes_on(name: str = "goes_on") -> ProgramBuilder:
    """A condition: whether the first of the numbers is below 100."""
    b = ProgramBuilder(name, first_id=2000)
    x, _ = (b.input(SHAPE, space="DeviceDRAM") for _ in range(2))
    first = b.compute("SliceOp", (1, 1), **{"in": x}, begins=[2, 4], ends=[3, 5], step=[1, 1])
    limit = b.empty((1, 1))
    b.op("FullOp", device=b.device, out=limit, fill_value=100.0)
    b.output(b.eltwise("LessThan", [first, limit]))
    return b


def packed(*functions: ProgramBuilder, table: str = "WhileOp", **fields: Any) -> bytes:
    """A program that calls functions with its argument twice."""
    b = ProgramBuilder()
    x = b.to_device(b.input(SHAPE))
    out = b.empty(SHAPE)
    b.op(table, **{"inputs": [x, x], "outputs": [out]} | fields)
    b.output(out)
    return b.pack(functions=[each.table() for each in functions])


def calling(name: str, number: int, inner: str = "WhileOp") -> ProgramBuilder:
    """A function that calls another one."""
    b = ProgramBuilder(name, first_id=3000)
    x, y = (b.input(SHAPE, space="DeviceDRAM") for _ in range(2))
    out = b.empty(SHAPE)
    b.op(inner, inputs=[x, y], outputs=[out], body=number, trip_count=2)
    b.output(out, on_device=True)
    return b
