"""Golden runs of `.ttm` programs: what every kernel means, computed by reference in float64.

What a program of kernels means is said in the file (`reference`), or follows from the calls that
its kernels make: files of tt-mlir add, multiply, tilize, untilize and copy. The golden run starts
from the same inputs and never looks at the results of the run that it judges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ttmlir.optable import ROWS
from ttmlir.runtime.accuracy import compare
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.element import Array, ElementType, convert
from ttmlir.runtime.errors import BinaryError, ExecutionError
from ttmlir.runtime.golden import GoldenResult, Tolerance
from ttmlir.runtime.metal.program import (
    PROGRAM,
    READ,
    WRITE,
    Command,
    MetalProgram,
    MetalTensor,
    Reference,
)
from ttmlir.runtime.metal.session import Session

_FLOAT64 = np.dtype(np.float64)
_COMPUTED = ("add", "multiply")
_MOVES = ("tilize", "untilize", "move")


def reference_of(command: Command) -> Reference | None:
    """What a program of kernels computes; None for one that only moves numbers.

    BinaryError if neither the file nor the calls of its kernels say so.
    """
    if command.reference is not None:
        return command.reference
    meaning = command.meaning
    if meaning in _COMPUTED and len(command.tensors) == 3:
        return Reference(meaning, (0, 1))
    if meaning in _MOVES:
        return None
    raise BinaryError(
        f"{command.where}: the file does not say what its kernels compute, so there is no "
        "reference to compare with; run it without --golden"
    )


@dataclass
class MetalGolden:
    """Runs the reference beside a program and compares after every program of kernels."""

    program: MetalProgram
    inputs: list[Array]
    tolerance: Tolerance = field(default_factory=Tolerance)
    keep_tensors: bool = False
    results: list[GoldenResult] = field(default_factory=list[GoldenResult])

    def __post_init__(self) -> None:
        """Start from the inputs."""
        self._values: dict[int, Array] = {}
        for tensor, values in zip(self.program.input_tensors, self.inputs, strict=True):
            self._values[tensor.id] = _store(values, tensor.ref.desc.element)

    @property
    def first_failure(self) -> GoldenResult | None:
        """The first program of kernels that is off."""
        return next((result for result in self.results if not result.passed), None)

    def after(self, session: Session, command: Command) -> None:
        """Compute the golden result of a command, and compare that of a program of kernels."""
        if command.kind in (READ, WRITE):
            source, target = command.tensors
            self._values[target.id] = self._value(source, command)
        elif command.kind == PROGRAM:
            self._compute(session, command)

    def _compute(self, session: Session, command: Command) -> None:
        output = command.tensors[-1]
        reference = reference_of(command)
        if reference is None:
            golden = _repeat(self._value(command.tensors[0], command), output, command)
            name = command.meaning
        else:
            golden = self._computed(reference, command, output)
            name = f"ttir.{reference.mnemonic}"
        self._values[output.id] = _store(golden, output.ref.desc.element)
        accuracy = compare(
            session.value(output, command.where),
            self._values[output.id],
            rtol=self.tolerance.rtol,
            atol=self.tolerance.atol,
        )
        self.results.append(
            GoldenResult(
                operation=Operation(command.index, name, command.debug_info, self.program, {}),
                name=name,
                accuracy=accuracy,
                passed=self.tolerance.accepts(accuracy),
                golden=np.array(golden) if self.keep_tensors else None,
            )
        )

    def _computed(self, reference: Reference, command: Command, output: MetalTensor) -> Array:
        operands = [
            self._value(command.tensors[value], command)
            if isinstance(value, int)
            else _constant(value, command, reference)
            for value in reference.operands
        ]
        row = ROWS[reference.mnemonic]
        try:
            with np.errstate(all="ignore"):
                result = row.reference(np, *operands, **reference.parameters)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ExecutionError(
                f"{command.where}: reference of {row.mnemonic}: {error}"
            ) from error
        return np.broadcast_to(np.asarray(result), output.ref.desc.shape)

    def _value(self, tensor: MetalTensor, command: Command) -> Array:
        if tensor.id in self._values:
            return self._values[tensor.id]
        constant = tensor.ref.constant
        if constant is None:
            raise BinaryError(f"{command.where}: tensor {tensor.id} has no numbers yet")
        return _store(constant, tensor.ref.desc.element)


def _repeat(values: Array, output: MetalTensor, command: Command) -> Array:
    """What a program that only moves numbers leaves: all of them, repeated if it broadcasts."""
    shape = output.ref.desc.shape
    try:
        return np.broadcast_to(values, shape)
    except ValueError as error:
        raise BinaryError(
            f"{command.where}: moves a tensor of shape {values.shape} to one of shape {shape}"
        ) from error


def _constant(value: float, command: Command, reference: Reference) -> Array:
    """A constant in the type that the operands have."""
    others = [each for each in reference.operands if isinstance(each, int)]
    element = command.tensors[others[-1] if others else -1].ref.desc.element
    return _store(np.asarray(value), element)


def _store(values: Array, element: ElementType) -> Array:
    return convert(np.asarray(values), _FLOAT64 if element.is_float else element.compute)
