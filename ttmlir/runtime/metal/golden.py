"""Golden runs of `.ttm` programs: what every kernel means, computed by reference in float64.

What a program of kernels means is said in the file (`reference`), one operation or, of a fused
program, several; or it follows from the calls that its kernels make: files of tt-mlir add,
multiply, tilize, untilize and copy. Values have no padding here, wherever they are kept. The
golden run starts from the same inputs and never looks at the results of the run that it judges.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ttmlir.layout.tile import untilize
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.runtime.accuracy import compare
from ttmlir.runtime.binary import Operation, TensorRef
from ttmlir.runtime.element import Array, ElementType, convert
from ttmlir.runtime.errors import BinaryError, ExecutionError
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.golden import GoldenResult, Tolerance, reference_function
from ttmlir.runtime.metal.blocks import HostBuffer
from ttmlir.runtime.metal.program import READ, WRITE, Command, MetalProgram, MetalTensor
from ttmlir.runtime.metal.references import (
    Reference,
    ReferenceOutput,
    ReferenceRow,
    elementwise_reference,
)
from ttmlir.runtime.metal.session import Session
from ttmlir.runtime.stored_bytes import decode_numbers
from ttmlir.runtime.tensor import TensorDesc, host_desc
from ttmlir.sim.execution.page_log import PageLog, PushedPage

_FLOAT64 = np.dtype(np.float64)
_COMPUTED = ("add", "multiply")
_MOVES = ("tilize", "untilize", "move")


def reference_of(command: Command) -> Reference:
    """What a program of kernels computes; without rows, it only moves numbers.

    BinaryError if neither the file nor the calls of its kernels say so.
    """
    if command.reference is not None:
        return command.reference
    count = len(command.tensors)
    if command.description is None:
        if command.meaning in _COMPUTED and count == 3:
            return elementwise_reference(command.meaning, (0, 1), count)
        if command.meaning in _MOVES:
            return Reference((), (ReferenceOutput(count - 1, 0),))
    raise BinaryError(
        f"{command.where}: the file does not say what its kernels compute, so there is no "
        "reference to compare with; run it without --golden"
    )


def read_output(session: Session, command: Command, output: ReferenceOutput) -> Array:
    """What a program of kernels has left in one of its buffers, without padding."""
    tensor = command.tensors[output.operand]
    values = session.value(tensor, command.where)
    if output.shape is None:
        return values
    layout = HostBuffer(output.shape, output.strides, tensor.ref.desc.volume)
    layout.check(command.where)
    return layout.unpad(values)


@dataclass
class MetalGolden:
    """Runs the reference beside a program and compares after every program of kernels."""

    program: MetalProgram
    inputs: list[Array]
    tolerance: Tolerance = field(default_factory=Tolerance)
    keep_tensors: bool = False
    results: list[GoldenResult] = field(default_factory=list[GoldenResult])
    without_reference: Sequence[Operation] = ()

    def __post_init__(self) -> None:
        """Start from the inputs."""
        self._values: dict[int, Array] = {}
        self._log = PageLog()
        for tensor, values in zip(self.program.input_tensors, self.inputs, strict=True):
            self._values[tensor.id] = _store(values, tensor.ref.desc.element)

    @property
    def first_failure(self) -> GoldenResult | None:
        """The first program of kernels that is off."""
        return next((result for result in self.results if not result.passed), None)

    def pages_of(self, command: Command) -> PageLog:
        """What keeps the pages of the next launch, to tell which kernel is wrong."""
        self._log = PageLog()
        return self._log

    def after(self, session: Session, command: Command) -> None:
        """Compute the golden result of a command, and compare that of a program of kernels."""
        if command.kind in (READ, WRITE):
            source, target = command.tensors
            self._values[target.id] = self._value(source, command)
        elif command.is_launch:
            self._compute(session, command)

    def _compute(self, session: Session, command: Command) -> None:
        reference = reference_of(command)
        # All values are computed before one of the operands changes.
        values = self._rows(reference, command)
        for output in reference.outputs:
            self._compare(session, command, reference, output, values[output.value])

    def _rows(self, reference: Reference, command: Command) -> dict[int, Array]:
        """The values of a program by number: of the operands that are used, and of all rows."""
        count = len(command.tensors)
        used = {each.value for each in reference.outputs}
        used |= {each for row in reference.rows for each in row.operands if isinstance(each, int)}
        values = {
            number: self._value(command.tensors[number], command)
            for number in sorted(used)
            if number < count
        }
        elements = {
            number: tensor.ref.desc.element for number, tensor in enumerate(command.tensors)
        }
        last_uses = reference.last_uses(count)
        for number, row in enumerate(reference.rows, count):
            output = command.tensors[-1].ref.desc
            elements[number] = row.element or output.element
            shape = output.shape if row.shape is None else row.shape
            operands = [
                (values[each], elements[each])
                if isinstance(each, int)
                else _constant(each, row, elements, output.element)
                for each in row.operands
            ]
            result = host_desc(shape, elements[number])
            needed = sum(each.nbytes for each in values.values())
            needed += math.prod(shape) * _FLOAT64.itemsize
            if needed > memory_limit():
                raise BinaryError(
                    f"{command.where}: the values of its reference take {needed} bytes; "
                    f"{memory_advice()}"
                )
            values[number] = _evaluate(self.program, command, row, operands, result)
            for each in last_uses.get(number, ()):
                del values[each]
        return values

    def _compare(
        self,
        session: Session,
        command: Command,
        reference: Reference,
        output: ReferenceOutput,
        value: Array,
    ) -> None:
        tensor = command.tensors[output.operand]
        actual = read_output(session, command, output)
        golden = _store(_repeat(value, actual.shape, command), tensor.ref.desc.element)
        self._values[tensor.id] = golden
        tolerance = self.tolerance
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        name = f"ttir.{reference.title}" if reference.rows else command.meaning
        passed = tolerance.accepts(accuracy)
        self.results.append(
            GoldenResult(
                operation=Operation(command.index, name, command.debug_info, self.program, {}),
                name=name,
                accuracy=accuracy,
                passed=passed,
                golden=np.array(golden) if self.keep_tensors else None,
                tile="" if passed else self._find_tile(command, output, actual, golden),
            )
        )

    def _find_tile(
        self, command: Command, output: ReferenceOutput, actual: Array, golden: Array
    ) -> str:
        """The first tile of a result that is off, and whether a circular buffer has it right."""
        height, width = command.tensors[output.operand].ref.desc.tile
        if (height, width) == (1, 1) or actual.ndim < 2:
            return ""
        cb = len(command.storages) - len(command.tensors) + output.operand
        pages = [
            tile_of_page(page, command.tensors[output.operand].ref.desc)
            for (_, index), kept in self._log.pages.items()
            if index == cb and command.description is not None
            for page in kept
        ]
        for place in _tiles_of(actual.shape, (height, width)):
            wanted = golden[place]
            if self._agree(actual[place], wanted):
                continue
            starts = [each.start for each in place]
            at = (*starts[:-2], starts[-2] // height, starts[-1] // width)
            where = f"its first wrong tile is {at}"
            if not pages:
                return where
            rows, columns = wanted.shape[-2:]
            is_pushed = any(
                self._agree(page[:rows, :columns].reshape(wanted.shape), wanted) for page in pages
            )
            return (
                f"{where}, which circular buffer {cb} holds: the writer is wrong"
                if is_pushed
                else f"{where}, which circular buffer {cb} does not hold: the compute kernel is "
                "wrong, or what it reads"
            )
        return ""

    def _agree(self, actual: Array, golden: Array) -> bool:
        tolerance = self.tolerance
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        return tolerance.accepts(accuracy)

    def _value(self, tensor: MetalTensor, command: Command) -> Array:
        if tensor.id in self._values:
            return self._values[tensor.id]
        constant = tensor.ref.constant
        if constant is None:
            raise BinaryError(f"{command.where}: tensor {tensor.id} has no numbers yet")
        return _store(constant, tensor.ref.desc.element)


def _tiles_of(shape: tuple[int, ...], tile: tuple[int, int]) -> Iterator[tuple[slice, ...]]:
    """The parts of an array that its tiles hold, in rows."""
    extents = (*(1 for _ in shape[:-2]), *tile)
    steps = [range(0, whole, extent) for whole, extent in zip(shape, extents, strict=True)]
    for starts in itertools.product(*steps):
        yield tuple(
            slice(start, min(start + extent, whole))
            for start, extent, whole in zip(starts, extents, shape, strict=True)
        )


def tile_of_page(page: PushedPage, desc: TensorDesc) -> Array:
    """The numbers of a page that is a tile of a tensor, in compute types."""
    volume = math.prod(desc.tile)
    numbers = decode_numbers(page.data, desc.element, page.data_format, volume)
    tile = untilize(numbers.reshape(1, 1, volume), desc.tile, desc.tile)
    return convert(tile, desc.element.compute)


def _repeat(values: Array, shape: tuple[int, ...], command: Command) -> Array:
    """Numbers in the shape of what they are written to, repeated if the program broadcasts."""
    try:
        return np.broadcast_to(values, shape)
    except ValueError as error:
        raise BinaryError(
            f"{command.where}: moves a tensor of shape {values.shape} to one of shape {shape}"
        ) from error


def _constant(
    value: float, row: ReferenceRow, elements: dict[int, ElementType], output: ElementType
) -> tuple[Array, ElementType]:
    """A constant in the type that the operands have."""
    others = [each for each in row.operands if isinstance(each, int)]
    element = elements[others[-1]] if others else output
    return _store(np.asarray(value), element), element


def _evaluate(
    program: MetalProgram,
    command: Command,
    row: ReferenceRow,
    operands: list[tuple[Array, ElementType]],
    result: TensorDesc,
) -> Array:
    """The result of an operation by its reference function."""
    operation = Operation(command.index, f"ttir.{row.mnemonic}", "", program, {})
    call = OperationCall(
        row=row.row,
        operation=operation,
        operands=tuple(TensorRef(0, host_desc(each.shape, kind)) for each, kind in operands),
        parameters=dict(row.parameters),
        outputs=(TensorRef(0, result),),
    )
    try:
        with np.errstate(all="ignore"):
            values = reference_function(call)(*(each for each, _ in operands))
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ExecutionError(f"{command.where}: reference of {row.mnemonic}: {error}") from error
    return _store(np.broadcast_to(np.asarray(values), result.shape), result.element)


def _store(values: Array, element: ElementType) -> Array:
    return convert(np.asarray(values), _FLOAT64 if element.is_float else element.compute)
