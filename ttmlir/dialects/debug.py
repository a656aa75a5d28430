"""The debug dialect: what a program tells of itself while it runs (2026).

Each operation looks at one value. Those with a result give the value on, so that they stay where
they are among the operations that compute it and use it.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Dialect, Operation

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    ODSOperation,
    Signature,
    TypeConstraint,
    ValueGroup,
    classes_in,
    properties,
    refuse,
)

_OPERAND = (ValueGroup("operand", TypeConstraint("any type", ods.always)),)
_RESULT = (ValueGroup("result", TypeConstraint("any type", ods.always)),)


class _DebugOp(ODSOperation):
    """An operation on one value, with a text.

    C1: the result, if there is one, has the type of the operand. C2: the text is not empty.
    """

    def verify_op(self) -> None:
        """Check the result (C1) and the text (C2)."""
        if self.results and self.results[0].type != self.operands[0].type:
            refuse("requires the same type for all operands and results")
        for prop in self.SIGNATURE.properties:
            if not cast("StringAttr", self.properties[prop.name]).data:
                refuse(f"{prop.name} must not be empty")


class AnnotateOp(_DebugOp):
    """A value with a note: `"debug.annotate"(%0) <{annotation = "input"}> : (A) -> A`."""

    name = "debug.annotate"
    SIGNATURE: ClassVar = Signature(_OPERAND, _RESULT, properties(annotation=ods.STRING))


class BreakpointOp(_DebugOp):
    """A stop when the value is there: `"debug.breakpoint"(%0) : (A) -> ()`."""

    name = "debug.breakpoint"
    SIGNATURE: ClassVar = Signature(_OPERAND)


class DumpOp(_DebugOp):
    """The value in a file: `"debug.dump"(%0) <{file_path = "x.tensorbin"}> : (A) -> ()`."""

    name = "debug.dump"
    SIGNATURE: ClassVar = Signature(_OPERAND, properties=properties(file_path=ods.STRING))


class MemorySnapshotOp(_DebugOp):
    """What lies in the memory of the chip when the value is there, in a file."""

    name = "debug.memory_snapshot"
    SIGNATURE: ClassVar = Signature(_OPERAND, properties=properties(file_path=ods.STRING))


class PrintOp(_DebugOp):
    """The value with a message: `"debug.print"(%0) <{message = "x ="}> : (A) -> ()`."""

    name = "debug.print"
    SIGNATURE: ClassVar = Signature(_OPERAND, properties=properties(message=ods.STRING))


class RegionStartOp(_DebugOp):
    """The begin of a part of the program that has a name."""

    name = "debug.region_start"
    SIGNATURE: ClassVar = Signature(_OPERAND, _RESULT, properties(region_id=ods.STRING))


class RegionEndOp(_DebugOp):
    """The end of the part of that name."""

    name = "debug.region_end"
    SIGNATURE: ClassVar = Signature(_OPERAND, _RESULT, properties(region_id=ods.STRING))


DEBUG = Dialect("debug", classes_in(globals(), Operation), [])
"""The dialect, for an xDSL context."""
