"""What of a program's tensors is on the device before a call, and stays there after it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef

_BORDERS = frozenset({"distribute", "aggregate"})
"""Exchanges between the host and the devices of a mesh."""
_MOVEMENT = frozenset({"ToLayoutOp", "ToDeviceOp", "ToMemoryConfigOp"})
"""Operations that change where a tensor is, or how it lies there, and no numbers."""


_RESULT_FIELDS = ("out", "output", "outputs", "outs", "result")
"""Fields of results in tables that no definition stands for."""
_OUTPUT_TABLES = ("EmbeddingOp",)
"""Operations whose result is the field `output`, not `out`."""


def results_of(operation: Operation) -> Sequence[TensorRef]:
    """The tensors that an operation makes."""
    if operation.given is not None:
        return operation.given.outputs
    match operation.table:
        case "NONE" | "GetDeviceOp" | "DeallocOp":
            return ()
        case "WhileOp" | "CaseOp" | "CallOp":
            return operation.tensors("outputs")
        case "GenericOp":
            refs = operation.tensors("io_tensors")
            return refs[len(refs) - int(operation.scalar("num_outputs")) :]
        case "RefusedOp":
            fields = operation.tensor_fields
            return tuple(ref for name in _RESULT_FIELDS for ref in fields.get(name, ()))
        case "SortOp" | "TopKOp":
            return operation.tensors("outputs")
        case table:
            return (operation.tensor("output" if table in _OUTPUT_TABLES else "out"),)


@dataclass(frozen=True)
class Residency:
    """Weights, state, and what follows from them alone."""

    once: frozenset[int]
    """Operations that are done before the first call, by their numbers."""
    left_out: frozenset[int]
    """Operations that would bring results to the host which stay on the device."""
    results: frozenset[int]
    """Operations that only bring results of the devices of a mesh to the host, and back to where
    callers find them."""
    resident: frozenset[int]
    """Tensors that follow from weights alone, or are state, which the file does not hold."""
    held: Mapping[int, tuple[TensorRef, Operation | None]]
    """Those of them that calls read, and the operations that make them; none for inputs."""


def find_residency(program: BinaryProgram) -> Residency:
    """What is on the device before a call, and which results stay there; found once."""
    known = program.binary.derived
    key = ("residency", program.is_function, program.index)
    if key not in known:
        known[key] = _follow(program)
    return known[key]


def _follow(program: BinaryProgram) -> Residency:
    """Follow weights and state through the operations.

    Constants of the file and what is computed of them alone are there, too, but the program itself
    says how long.
    """
    signature = program.signature
    weights, state = set[int](), set[int]()
    kept: tuple[int, ...] = ()
    if signature is not None:
        kept = signature.kept
        fixed = len(signature.resident) - len(kept)
        # State that the program itself keeps is passed in each call.
        bound = signature.bound[: len(signature.bound) - signature.state]
        for numbers, found in (
            ((*bound, *signature.resident[:fixed]), weights),
            (signature.resident[fixed:], state),
        ):
            found |= {program.inputs[number].global_id for number in numbers}
    makers: dict[int, tuple[TensorRef, Operation | None]] = {
        ref.global_id: (ref, None) for ref in program.inputs if ref.global_id in weights | state
    }
    there = set(weights)
    once = set[int]()
    users: dict[int, set[int]] = {}
    for operation in program.operations:
        refs = results_of(operation)
        results = {ref.global_id for ref in refs}
        read = _tensors_of(operation) - results
        if not results:
            continue
        for number in read:
            users.setdefault(number, set()).add(operation.index)
        # State is prepared as weights are, but what follows from it changes with it.
        is_state = bool(read) and read <= state and _moves(operation)
        if not is_state and (not read <= there or _draws(operation)):
            there -= results
            continue
        once.add(operation.index)
        if is_state:
            state |= results
        else:
            there |= results
        if is_state or read & weights:
            weights |= set() if is_state else results
            makers |= {ref.global_id: (ref, operation) for ref in refs}
    weights -= _take_parts_back(program, once)
    outputs = {ref.global_id for ref in program.outputs}
    held = {
        number: makers[number]
        for number in (weights | state) & makers.keys()
        if users.get(number, set()) - once or number in outputs
    }
    left_out = _movement_to({program.outputs[number].global_id for number in kept}, program, users)
    others = outputs if math.prod(program.mesh) > 1 else set[int]()
    results = _movement_to(others, program, users) - left_out - once
    return Residency(
        once=frozenset(once),
        left_out=frozenset(left_out),
        results=frozenset(results),
        resident=frozenset(weights | state),
        held=held,
    )


def _take_parts_back(program: BinaryProgram, once: set[int]) -> set[int]:
    """The tensors within records of the file that are not done once as a whole.

    A convolution has its weights in another form while it runs, which nothing keeps.
    """
    parts: dict[int, list[Operation]] = {}
    for operation in program.operations:
        if operation.record is not None and operation.given is not None:
            parts.setdefault(id(operation.record), []).append(operation)
    found = set[int]()
    for operations in parts.values():
        numbers = {operation.index for operation in operations}
        if not numbers <= once:
            kept = [operation for operation in operations if operation.index in once]
            found |= {ref.global_id for operation in kept for ref in results_of(operation)}
            once -= numbers
    return found


def _movement_to(
    leaving: set[int], program: BinaryProgram, users: Mapping[int, set[int]]
) -> set[int]:
    """The operations that only bring these results to the host, and from there to the device."""
    found = set[int]()
    if not leaving:
        return found
    for operation in reversed(program.operations):
        results = {ref.global_id for ref in results_of(operation)}
        moves = _moves(operation)
        used = {user for number in results for user in users.get(number, ())}
        if moves and results and used <= found and (used or results <= leaving):
            found.add(operation.index)
    return found


def _moves(operation: Operation) -> bool:
    is_border = operation.table == "ExchangeOp" and operation.fields["kind"] in _BORDERS
    return is_border or operation.table in _MOVEMENT


def _tensors_of(operation: Operation) -> set[int]:
    return {ref.global_id for refs in operation.tensor_fields.values() for ref in refs}


def _draws(operation: Operation) -> bool:
    """Whether an operation gives other numbers in each call."""
    return any(word in operation.ir_name for word in ("rand", "dropout", "bernoulli"))
