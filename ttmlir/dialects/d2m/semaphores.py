"""Semaphores: numbers in the L1 of each core that cores set, raise and wait for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.d2m.attrs import SemaphoreType
from ttmlir.dialects.d2m.operation import (
    INDEX,
    SEMAPHORE,
    DataMovementOp,
    parse_word_and_indices,
    print_indices,
)
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    Signature,
    ValueGroup,
    refuse,
    segments_attr,
)


class _SemaphoreUpdateOp(DataMovementOp):
    """A semaphore of this core, of another one, or of many gets a number."""

    SPELLED: ClassVar = (SEGMENTS,)
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("semaphore", SEMAPHORE),
            ValueGroup("value", INDEX),
            ValueGroup("dstCoreIndex", INDEX, variadic=True),
            ValueGroup("mcastShape", INDEX, variadic=True),
        )
    )

    @classmethod
    def of(
        cls,
        semaphore: SSAValue,
        value: SSAValue,
        core: Sequence[SSAValue] = (),
        mcast: Sequence[SSAValue] = (),
    ) -> Self:
        """The operation on a core, or on a rectangle of cores, each as (row, column)."""
        return cls.create(
            operands=[semaphore, value, *core, *mcast],
            properties={SEGMENTS: segments_attr((1, 1, len(core), len(mcast)))},
        )

    @property
    def core(self) -> tuple[SSAValue, ...]:
        """Row and column of the core; none: this one."""
        return self.group("dstCoreIndex")

    @property
    def mcast_shape(self) -> tuple[SSAValue, ...]:
        """Rows and columns of cores; none: one core."""
        return self.group("mcastShape")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        semaphore = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        index = IndexType()
        groups: list[list[SSAValue]] = [[], []]
        if parser.parse_optional_punctuation(",") is not None:
            groups = [
                [
                    parser.resolve_operand(name, index)
                    for name in parse_word_and_indices(parser, word)
                ]
                for word in ("core", "mcast")
            ]
        _, attributes = cls.parse_dict(parser, {})
        made = cls.of(
            parser.resolve_operand(semaphore, SemaphoreType()),
            parser.resolve_operand(value, index),
            *groups,
        )
        made.attributes |= attributes
        return made

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands[:2], printer.print_operand)
        separator = ", "
        for word, values in (("core", self.core), ("mcast", self.mcast_shape)):
            if values:
                printer.print_string(f"{separator}{word}")
                print_indices(printer, values)
                separator = " "
        self.print_dict(printer)

    def verify_op(self) -> None:
        """Check that a rectangle of cores has a first one (C1)."""
        if self.mcast_shape and not self.core:
            refuse("mcast shape requires mcast start index")


class SemaphoreSetOp(_SemaphoreUpdateOp):
    """A semaphore becomes a number: `d2m.semaphore_set %sem, %n, core[%y, %x] mcast[%h, %w]`.

    C1: a shape of cores comes with the first core.
    """

    name = "d2m.semaphore_set"


class SemaphoreIncOp(_SemaphoreUpdateOp):
    """A semaphore is raised by a number: `d2m.semaphore_inc %sem, %n, core[%y, %x]`.

    C1: a shape of cores comes with the first core.
    """

    name = "d2m.semaphore_inc"


class SemaphoreWaitOp(DataMovementOp):
    """Wait until this core's semaphore is a number, then set it, if a number is given.

    d2m.semaphore_wait %sem, %value reset %number
    """

    name = "d2m.semaphore_wait"
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("semaphore", SEMAPHORE),
            ValueGroup("value", INDEX),
            ValueGroup("resetValue", INDEX, optional=True),
        )
    )

    @classmethod
    def of(cls, semaphore: SSAValue, value: SSAValue, reset: SSAValue | None = None) -> Self:
        """The operation that waits for a value."""
        return cls.create(operands=[semaphore, value, *(() if reset is None else (reset,))])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        names = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        names.append(parser.parse_unresolved_operand())
        if parser.parse_optional_keyword("reset") is not None:
            names.append(parser.parse_unresolved_operand())
        _, attributes = cls.parse_dict(parser, {})
        types = (SemaphoreType(), IndexType(), IndexType())
        return cls.create(
            operands=[
                parser.resolve_operand(name, type) for name, type in zip(names, types, strict=False)
            ],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands[:2], printer.print_operand)
        if len(self.operands) > 2:
            printer.print_string(" reset ")
            printer.print_operand(self.operands[2])
        self.print_dict(printer)


SEMAPHORE_OPS = (SemaphoreSetOp, SemaphoreIncOp, SemaphoreWaitOp)
"""Every operation of this module."""
