"""What the records of `.ttnn` files of 2026 mean, in the operations that the executor knows.

A record that computes becomes one call of a definition, or several where it does more than one of
them: a product with an activation, an addition of exponentials. Records about memory become those
of 2024. What several calls hand to each other are tensors that the file does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import numpy as np

from ttmlir.errors import plural
from ttmlir.layout.data_format import is_block_float
from ttmlir.layout.enums import (
    DeviceComputeConfig,
    MemorySpace,
    TensorMemoryLayout,
)
from ttmlir.optable import DEFINITIONS, is_activation, library
from ttmlir.optable.op_definition import Family, Shape
from ttmlir.runtime import attention_2026, caches_2026, exchanges_2026
from ttmlir.runtime.binary import (
    REFUSED,
    BinaryProgram,
    GivenCall,
    Operation,
    Table,
    TensorRef,
    check_shape,
    compute_config_of,
    require,
)
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.execution.steps import count_iterations
from ttmlir.runtime.tensor import ELEMENT_TYPES
from ttmlir.runtime.tensors_2026 import read_array
from ttmlir.runtime.traces_2026 import LAUNCH, Recording
from ttmlir.terminal import shown_name

# --- Translation ----------------------------------------------------------------------------------


class Functions(Protocol):
    """The programs of a file that others call."""

    def function_number(self, place: int, where: str) -> int:
        """Number of the function at a place of the file's programs; the text is for messages."""
        ...

    def recording(self, record: Operation) -> Recording:
        """What a launch of a recording calls."""
        ...

    def program_of_host(self, name: str) -> int | None:
        """Place of the program that stands for a function of the host; None if there is none."""
        ...


_KNOWN = {**DEFINITIONS, **library.DEFINITIONS}
_FIRST_OWN_ID = 1 << 40
"""Numbers of tensors that the file does not have; those of the file have 32 bits."""


class _Record(dict[str, Any]):
    """Fields of a table of 2024; those that are not there are absent."""

    def __missing__(self, name: str) -> None:
        return None


@dataclass
class _Translator:
    """Turns the records of a program into operations, one after the other."""

    program: BinaryProgram
    functions: Functions
    operations: list[Operation] = field(default_factory=list[Operation])
    next_id: int = _FIRST_OWN_ID
    record: Operation | None = None
    """The one that is being translated."""
    own: list[TensorRef] = field(default_factory=list[TensorRef])
    """Tensors between the operations of a record."""

    def number_of(self, place: int, where: str) -> int:
        """Number of the function that stands at a place of the file's programs."""
        return self.functions.function_number(place, where)

    def run(self, records: Sequence[Operation]) -> tuple[Operation, ...]:
        """All of them."""
        for record in records:
            self.record = record
            before = len(self.operations)
            try:
                self._convert(record)
            except UnsupportedError as error:
                # What cannot run can be read nevertheless.
                del self.operations[before:]
                self.own.clear()
                refused = replace(
                    record, index=before, table=REFUSED, own_title=record.title, refusal=str(error)
                )
                self.operations.append(refused)
            for ref in self.own:
                self.put("DeallocOp", {"in": ref}, is_free=True)
            self.own.clear()
        return tuple(self.operations)

    def _convert(self, record: Operation) -> None:
        converter = _CONVERTERS.get(record.table)
        if converter is None:
            raise _unsupported(record, f"this runtime has no operation '{record.title}'")
        converter(self, record)

    def put(self, table: str, fields: Mapping[str, Any], *, is_free: bool = False) -> None:
        """An operation of a table of 2024."""
        self._add(table, _Record(fields), None, is_free=is_free)

    def call(
        self,
        mnemonic: str,
        operands: Sequence[TensorRef | None],
        outputs: TensorRef | Sequence[TensorRef],
        parameters: Mapping[str, Any] | None = None,
        *,
        compute_config: DeviceComputeConfig | None = None,
        is_free: bool = False,
    ) -> None:
        """A call of a definition."""
        results = (outputs,) if isinstance(outputs, TensorRef) else tuple(outputs)
        given = GivenCall(
            definition=_KNOWN[mnemonic],
            operands=tuple(operands),
            outputs=results,
            parameters=dict(parameters or {}),
            compute_config=compute_config,
        )
        assert self.record is not None, "there is a record"
        self._add(self.record.table, _Record(), given, is_free=is_free)

    def _add(self, table: str, fields: _Record, given: GivenCall | None, *, is_free: bool) -> None:
        record = self.record
        assert record is not None, "there is a record"
        self.operations.append(
            Operation(
                len(self.operations),
                *(table, record.debug_info, self.program, fields, given, record, record.title),
                is_free=is_free,
                on_host=is_free or record.table in _ON_HOST,
            )
        )

    def inline(self, callee: BinaryProgram, refs: Sequence[TensorRef]) -> None:
        """The operations of a function, on tensors for those that it takes and then gives."""
        own = (*callee.inputs, *callee.outputs)
        known = {each.global_id: ref for each, ref in zip(own, refs, strict=True)}
        numbers: dict[int, int] = {}

        def renamed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(renamed, cast("tuple[Any, ...]", value)))
            if not isinstance(value, TensorRef):
                return value
            if value.global_id in known:
                return known[value.global_id]
            if value.global_id not in numbers:
                numbers[value.global_id] = self.next_id
                self.next_id += 1
            return replace(value, global_id=numbers[value.global_id])

        taken = {each.global_id for each in callee.inputs}
        for operation in callee.operations:
            if operation.table == "DeallocOp" and operation.tensor("in").global_id in taken:
                # They are the caller's, who still has them.
                continue
            given = operation.given
            if given is not None:
                operands, outputs = renamed(given.operands), renamed(given.outputs)
                given = replace(given, operands=operands, outputs=outputs)
            fields = operation.fields
            if isinstance(fields, _Record):
                fields = _Record((name, renamed(value)) for name, value in fields.items())
            place = len(self.operations)
            self.operations.append(
                replace(
                    *(operation,),
                    index=place,
                    program=self.program,
                    fields=fields,
                    given=given,
                    # Its tensors have other numbers here.
                    record=None,
                )
            )

    def moved(self, ref: TensorRef, target: TensorRef) -> TensorRef:
        """A tensor where another one is."""
        if _is_same_place(ref, target):
            return ref
        moved = self.between(target)
        self.put("ToMemoryConfigOp", {"in0": ref, "out": moved}, is_free=True)
        return moved

    def between(
        self, like: TensorRef, shape: Shape | None = None, element: str | None = None
    ) -> TensorRef:
        """A tensor for the next operation of the record, kept as another one.

        The library has none, so that none takes room in L1.
        """
        desc = like.desc if shape is None else replace(like.desc, shape=shape)
        if desc.memory_space is MemorySpace.DEVICE_L1:
            desc = replace(desc, memory_space=MemorySpace.DEVICE_DRAM)
        if desc.memory_layout.is_sharded:
            desc = replace(
                desc, memory_layout=TensorMemoryLayout.INTERLEAVED, core_ranges=(), shard=()
            )
        if element is not None:
            desc = replace(
                desc, element=ELEMENT_TYPES[element], data_type=ELEMENT_TYPES[element].storage
            )
        check_shape(desc, self.record.where if self.record else "")
        ref = TensorRef(self.next_id, desc)
        self.next_id += 1
        self.own.append(ref)
        return ref

    def number(self, value: float, like: TensorRef, *, element: str | None = None) -> TensorRef:
        """A tensor of one number, of the rank of another one."""
        ref = self.between(like, (1,) * len(like.desc.shape), element)
        self.put("FullOp", {"fill_value": value, "out": ref}, is_free=True)
        return ref

    def apply(
        self,
        mnemonic: str,
        *operands: TensorRef,
        shape: Shape | None = None,
        is_free: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> TensorRef:
        """The result of a call, for the next operation of the record."""
        result = self.between(operands[0], shape)
        self.call(mnemonic, operands, result, parameters, is_free=is_free)
        return result

    def widened(self, ref: TensorRef) -> TensorRef:
        """The numbers as floats of 32 bits, or of 64 if they have these, which costs nothing."""
        is_long = ref.desc.element.keyword == "f64"
        wide = self.between(ref, element="Float64" if is_long else "Float32")
        self.call("typecast", (ref,), wide, is_free=True)
        return wide

    def reshape(self, ref: TensorRef, shape: Shape) -> TensorRef:
        """The same elements in another shape, which costs nothing."""
        if ref.desc.shape == shape:
            return ref
        return self.apply("reshape", ref, shape=shape, is_free=True, parameters={"shape": shape})

    def permute(self, ref: TensorRef, permutation: Shape) -> TensorRef:
        """The dimensions in another order, which costs nothing."""
        shape = tuple(ref.desc.shape[dim] for dim in permutation)
        parameters = {"permutation": permutation}
        return self.apply("permute", ref, shape=shape, is_free=True, parameters=parameters)


def translate(
    program: BinaryProgram, records: Sequence[Operation], functions: Functions
) -> tuple[Operation, ...]:
    """The operations that the executor knows, for those of a file.

    What none of them does is an operation that is refused when it is to run; BinaryError for what
    makes no sense.
    """
    return _Translator(program, functions).run(records)


# --- Fields ---------------------------------------------------------------------------------------


def _optional(record: Operation, name: str) -> TensorRef | None:
    return record.tensor(name) if record.has(name) else None


def _integers(record: Operation, name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in record.numbers(name))


def _number_of(record: Operation, name: str) -> float:
    """The number in a union of a floating point number and an integer."""
    return _require(record, name)["value"]


def _require(record: Operation, name: str) -> Any:
    if not record.has(name):
        raise BinaryError(f"{record.where}: field '{name}' is missing")
    return record.scalar(name)


def _config(record: Operation) -> DeviceComputeConfig | None:
    return compute_config_of(record.scalar("compute_config"))


def _pair(record: Operation, name: str) -> tuple[int, int]:
    numbers = _integers(record, name)
    if len(numbers) != 2:
        raise BinaryError(
            f"{record.where}: field '{name}' has {plural(len(numbers), 'number')}, not 2"
        )
    return numbers[0], numbers[1]


def _sides(record: Operation) -> tuple[int, int, int, int]:
    """Padding above, below, left and right."""
    numbers = _integers(record, "padding")
    if len(numbers) == 2:
        return numbers[0], numbers[0], numbers[1], numbers[1]
    if len(numbers) != 4:
        raise BinaryError(
            f"{record.where}: field 'padding' has {plural(len(numbers), 'number')}, not 2 or 4"
        )
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _unsupported(record: Operation, what: str) -> UnsupportedError:
    return UnsupportedError(f"{record.where}: {what}; compile the program without it")


# --- Memory ---------------------------------------------------------------------------------------


def _deallocate(t: _Translator, record: Operation) -> None:
    t.put("DeallocOp", {"in": record.tensor("in")})


def _to_layout(t: _Translator, record: Operation) -> None:
    t.put("ToLayoutOp", {"in": record.tensor("in"), "out": record.tensor("out")})


def _move(name: str) -> Callable[[_Translator, Operation], None]:
    def convert(t: _Translator, record: Operation) -> None:
        fields = {"in0": record.tensor(name), "out": record.tensor("out")}
        t.put("ToMemoryConfigOp", fields)

    return convert


def _copy(source: str, target: str) -> Callable[[_Translator, Operation], None]:
    def convert(t: _Translator, record: Operation) -> None:
        fields = {"in0": record.tensor(source), "out": record.tensor(target)}
        t.put("ToMemoryConfigOp", fields)

    return convert


def _empty(t: _Translator, record: Operation) -> None:
    t.put("EmptyOp", {"out": record.tensor("out")})


def _full(t: _Translator, record: Operation) -> None:
    value, out = _number_of(record, "fill_value"), record.tensor("out")
    if isinstance(value, int) and out.desc.element.keyword == "ui32":
        # Files have signed numbers: -1 is 4294967295.
        value %= 1 << 32
    t.put("FullOp", {"fill_value": value, "out": out})


def _named_full(t: _Translator, record: Operation) -> None:
    value = 1.0 if record.enumerator("type") == "Ones" else 0.0
    t.put("FullOp", {"fill_value": value, "out": record.tensor("out")})


def _constant(t: _Translator, record: Operation) -> None:
    out = record.tensor("out")
    values = read_array(
        *(require_bytes(record, "input"), record.enumerator("input_dtype")),
        *(out.desc.shape, f"{record.where}: field 'input'"),
    )
    t.put("ConstantOp", {"out": replace(out, constant=values)})


def require_bytes(record: Operation, name: str) -> memoryview:
    """A vector of bytes, which must be there."""
    data: memoryview = _require(record, name)
    return data


def _arange(t: _Translator, record: Operation) -> None:
    out = record.tensor("out")
    start, end, step = (float(record.scalar(name)) for name in ("start", "end", "step"))
    if not all(number.is_integer() for number in (start, end, step)):
        raise _unsupported(record, f"numbers from {start} in steps of {step}")
    bounds = {"start": int(start), "end": int(end), "step": int(step)}
    t.call("arange", (), out, {**bounds, "arange_dimension": max(0, len(out.desc.shape) - 1)})


# --- Functions ------------------------------------------------------------------------------------


def _call_program(
    t: _Translator, record: Operation, place: int, *, is_cached: bool = False
) -> None:
    fields = {
        "function": t.number_of(place, record.where),
        "inputs": record.tensors("inputs"),
        "outputs": record.tensors("outputs"),
        "cached": is_cached,
    }
    t.put("CallOp", fields)


def _load_cached(t: _Translator, record: Operation) -> None:
    _call_program(t, record, record.scalar("program_idx"), is_cached=True)


def _func_call(t: _Translator, record: Operation) -> None:
    _call_program(t, record, record.scalar("program_id"))


def _while(t: _Translator, record: Operation) -> None:
    inputs, results = record.tensors("inputs"), record.tensors("outputs")
    count = int(record.scalar("state_count"))
    indices = _integers(record, "output_indices") if record.has("output_indices") else ()
    if count > len(inputs) or len(indices) != len(results) or len(set(indices)) != len(indices):
        raise BinaryError(f"{record.where}: its state and results do not fit its inputs")
    if any(not 0 <= index < count for index in indices):
        raise BinaryError(f"{record.where}: a result is no part of its state")
    places = dict(zip(indices, results, strict=True))
    outputs = [places[i] if i in places else t.between(inputs[i]) for i in range(count)]
    fields: dict[str, Any] = {
        "inputs": inputs,
        "outputs": tuple(outputs),
        "body": t.number_of(record.scalar("body_program"), record.where),
        "trip_count": -1,
    }
    if record.has("limit"):
        bounds = tuple(
            (0, None) if bound is None else (int(bound["value"]), bound.get("input"))
            for bound in map(record.scalar, ("initial", "limit", "step"))
        )
        if any(number is not None and not 0 <= number < len(inputs) for _, number in bounds):
            raise BinaryError(f"{record.where}: a bound of its counter is no input")
        if all(number is None for _, number in bounds):
            trip_count = count_iterations(*(value for value, _ in bounds))
            if trip_count is None:
                raise BinaryError(f"{record.where}: the step of its counter is 0")
            fields["trip_count"] = trip_count
        else:
            fields["bounds"] = bounds
    else:
        place = record.scalar("condition_program")
        fields["condition"] = t.number_of(place, record.where)
    t.put("WhileOp", fields)


def _case(t: _Translator, record: Operation) -> None:
    branches = _integers(record, "branch_programs")
    fields = {
        "index": record.tensor("index"),
        "inputs": record.tensors("inputs"),
        "outputs": record.tensors("outputs"),
        "branches": tuple(t.number_of(each, record.where) for each in branches),
    }
    t.put("CaseOp", fields)


def _launch(t: _Translator, record: Operation) -> None:
    """A call of the recorded program; what comes from the host is written to the device first."""
    recording = t.functions.recording(record)
    given, results = record.tensors("inputs"), record.tensors("outputs")
    inputs = [given[place] for place in recording.inputs if place is not None]
    slots = [number for number, place in enumerate(recording.inputs) if place is None]
    if {*recording.outputs} != {*slots}:
        raise BinaryError(f"{record.where}: the recorded program writes other tensors than slots")
    by_slot = dict(zip(recording.outputs, results, strict=True))
    _run_inline(t, record, recording.place, inputs, [by_slot[slot] for slot in slots])


def _cpu(t: _Translator, record: Operation) -> None:
    """The program that stands for machine code of the host, on its tensors moved to the device."""
    place = t.functions.program_of_host(record.scalar("func_name") or "")
    if place is None:
        raise _unsupported(record, "it is machine code of the host, which is never executed")
    _run_inline(t, record, place, record.tensors("ins"), record.tensors("outs"))


def _run_inline(
    t: _Translator,
    record: Operation,
    place: int,
    given: Sequence[TensorRef],
    results: Sequence[TensorRef],
) -> None:
    """The operations of a program instead of a record, with moves to and from where it works."""
    number = t.number_of(place, record.where)
    callee = t.program.binary.functions[number]
    if (len(given), len(results)) != (len(callee.inputs), len(callee.outputs)):
        raise BinaryError(
            f"{record.where}: program '{shown_name(callee.name)}' does not fit its tensors"
        )
    inputs = [t.moved(ref, own) for ref, own in zip(given, callee.inputs, strict=True)]
    outputs = [
        ref if _is_same_place(ref, own) else t.between(own)
        for ref, own in zip(results, callee.outputs, strict=True)
    ]
    # Each program stands in one place, so that a file's operations are no more than it has.
    if t.program.binary.derived.setdefault(("inline", place), record) is record:
        t.inline(callee, (*inputs, *outputs))
    else:
        fields = {"function": number, "inputs": tuple(inputs), "outputs": tuple(outputs)}
        t.put("CallOp", {**fields, "cached": False})
    for ref, own in zip(results, outputs, strict=True):
        if ref is not own:
            t.put("ToMemoryConfigOp", {"in0": own, "out": ref}, is_free=True)


def _is_same_place(ref: TensorRef, other: TensorRef) -> bool:
    return ref.desc.agrees_with(other.desc) or ref.desc.shape != other.desc.shape


def _programs_of_loop(table: Table) -> tuple[int, ...]:
    if table["limit"] is not None:
        return (table["body_program"],)
    return table["body_program"], table["condition_program"]


CALLS: dict[str, Callable[[Table], tuple[int, ...]]] = {
    "LoadCachedOp": lambda table: (table["program_idx"],),
    "FuncCallOp": lambda table: (table["program_id"],),
    "WhileOp": _programs_of_loop,
    "CaseOp": lambda table: tuple(table["branch_programs"] or ()),
}
"""Places of the programs that a record calls."""

# --- Elementwise ----------------------------------------------------------------------------------

_KINDS = {
    definition.flatbuffer.kind: definition
    for definition in DEFINITIONS.values()
    if definition.flatbuffer is not None and definition.family.is_elementwise
}
"""Elementwise operations by their enumerators in files of 2024."""
_ENUMERATORS = {
    "Divide": "Div",
    "BitwiseRightShift": "RightShift",
    "Recip": "Reciprocal",
    "AbsInt32": "Abs",
    "LogicalNotUnary": "LogicalNot",
    "Isfinite": "IsFinite",
    "Erfinv": "ErfInv",
}
"""What those of 2026 are called there, where it is something else."""


def _mnemonic(record: Operation, kind: str, family: Family) -> str:
    """The operation of a family that an enumerator stands for, without parameters."""
    definition = _KINDS.get(_ENUMERATORS.get(kind, kind))
    if definition is None or definition.family is not family or definition.parameters:
        raise _unsupported(record, f"this runtime has no function '{kind}'")
    return definition.mnemonic


def _unary(t: _Translator, record: Operation) -> None:
    source, out, kind = record.tensor("in"), record.tensor("out"), record.enumerator("type")
    parameters: Table | None = record.scalar("params")
    match kind:
        case "LeakyRelu":
            slope = float(_require(record, "params")["parameter"])
            t.call("leaky_relu", (source,), out, {"parameter": slope})
        case "Relu6":
            t.call("clamp", (source,), out, {"min": 0.0, "max": 6.0})
        case "ReducePrecision":
            table = _require(record, "params")
            bits = {name: int(table[name]) for name in ("exponent_bits", "mantissa_bits")}
            t.call("reduce_precision", (source,), out, bits)
        case "Mish":
            powers = t.apply("log1p", t.apply("exp", source))
            t.call("multiply", (source, t.apply("tanh", powers)), out)
        case "ClampScalar":
            table = _require(record, "params")
            limits = {
                name: end if table[name] is None else float(table[name]["value"])
                for name, end in (("min", -math.inf), ("max", math.inf))
            }
            t.call("clamp", (source,), out, limits)
        case "ClampTensor":
            table = _require(record, "params")
            low, high = (
                t.program.tensor(require(table, name, record.where), record.where)
                for name in ("min", "max")
            )
            t.call("minimum", (t.apply("maximum", source, low, shape=out.desc.shape), high), out)
        case _:
            if parameters is not None:
                raise _unsupported(record, f"'{kind}' with parameters")
            t.call(_mnemonic(record, kind, Family.UNARY), (source,), out)


def _binary(t: _Translator, record: Operation) -> None:
    out, mnemonic = (
        record.tensor("out"),
        _mnemonic(record, record.enumerator("type"), Family.BINARY),
    )
    operands = (
        _activate(t, record, record.tensor(name), f"input_tensor_{letter}_activations")
        for name, letter in (("lhs", "a"), ("rhs", "b"))
    )
    fused = _fused(record, "activations")
    target = out if not fused else t.between(out)
    t.call(mnemonic, tuple(operands), target)
    _apply_all(t, target, fused, out)


def _fused(record: Operation, name: str) -> list[tuple[str, dict[str, float]]]:
    """Mnemonics and parameters of the functions in a field, which not all tables have."""
    found: list[tuple[str, dict[str, float]]] = []
    for table in record.optional_field(name) or ():
        kind, numbers = table["op_type"], tuple(table["params"] or ())
        if kind == "Identity":
            continue
        if kind == "LeakyRelu" and len(numbers) == 1:
            found.append(("leaky_relu", {"parameter": float(numbers[0])}))
        elif kind == "Relu6":
            found.append(("clamp", {"min": 0.0, "max": 6.0}))
        else:
            found.append((_mnemonic(record, kind, Family.UNARY), {}))
    return found


def _activate(t: _Translator, record: Operation, ref: TensorRef, name: str) -> TensorRef:
    for mnemonic, parameters in _fused(record, name):
        ref = t.apply(mnemonic, ref, is_free=True, parameters=parameters)
    return ref


def _apply_all(
    t: _Translator,
    ref: TensorRef,
    functions: Sequence[tuple[str, dict[str, float]]],
    out: TensorRef,
) -> None:
    """Apply functions to a result, which the last one makes of it."""
    for number, (mnemonic, parameters) in enumerate(functions, 1):
        target = out if number == len(functions) else t.between(out)
        t.call(mnemonic, (ref,), target, parameters, is_free=True)
        ref = target


def _power(t: _Translator, record: Operation) -> None:
    base, out = record.tensor("lhs"), record.tensor("out")
    exponent = t.number(float(_number_of(record, "rhs")), base)
    t.call("pow", (base, exponent), out)


def _where(t: _Translator, record: Operation) -> None:
    operands = tuple(record.tensor(name) for name in ("first", "second", "third"))
    t.call("where", operands, record.tensor("out"))


def _typecast(t: _Translator, record: Operation) -> None:
    t.call("typecast", (record.tensor("in"),), record.tensor("out"))


def _bitcast(t: _Translator, record: Operation) -> None:
    t.call("bitcast_convert", (record.tensor("in"),), record.tensor("out"))


# --- Products -------------------------------------------------------------------------------------


def _product(t: _Translator, record: Operation) -> None:
    out = record.tensor("out")
    first = _matrix(t, record.tensor("a"), transposed=record.scalar("transpose_a"), is_row=True)
    second = _matrix(t, record.tensor("b"), transposed=record.scalar("transpose_b"), is_row=False)
    bias = record.tensor("bias") if record.table == "LinearOp" and record.has("bias") else None
    activation = record.scalar("activation") or ""
    fused: list[tuple[str, dict[str, float]]] = []
    if activation:
        if not is_activation(activation):
            raise _unsupported(record, f"the activation '{activation}'")
        fused.append((activation, {}))
    *batches, rows, _ = first.desc.shape
    *more, _, columns = second.desc.shape
    try:
        shape = (*np.broadcast_shapes(tuple(batches), tuple(more)), rows, columns)
    except ValueError as error:
        raise BinaryError(f"{record.where}: {error}") from error
    is_last = bias is None and not fused and shape == out.desc.shape
    product = out if is_last else t.between(out, shape)
    t.call("matmul", (first, second), product, compute_config=_config(record))
    if is_last:
        return
    if bias is not None:
        try:
            shape = np.broadcast_shapes(shape, bias.desc.shape)
        except ValueError as error:
            raise BinaryError(f"{record.where}: {error}") from error
        is_last = not fused and shape == out.desc.shape
        total = out if is_last else t.between(product, shape)
        t.call("add", (product, bias), total)
        product = total
    for mnemonic, parameters in fused:
        product = t.apply(mnemonic, product, is_free=True, parameters=parameters)
    if product is not out:
        t.call("reshape", (product,), out, {"shape": out.desc.shape}, is_free=True)


def _matrix(t: _Translator, ref: TensorRef, *, transposed: bool, is_row: bool) -> TensorRef:
    """An operand of a product as matrices, a vector as one of a single row or column."""
    shape = ref.desc.shape
    if len(shape) < 2:
        count = math.prod(shape)
        return t.reshape(ref, (1, count) if is_row else (count, 1))
    if not transposed:
        return ref
    swapped = (*shape[:-2], shape[-1], shape[-2])
    parameters = {"dim0": -2, "dim1": -1}
    return t.apply("transpose", ref, shape=swapped, is_free=True, parameters=parameters)


# --- Movement -------------------------------------------------------------------------------------


def _concat(t: _Translator, record: Operation) -> None:
    t.call("concat", record.tensors("inputs"), record.tensor("out"), {"dim": record.scalar("dim")})


def _reshape(t: _Translator, record: Operation) -> None:
    out = record.tensor("out")
    t.call("reshape", (record.tensor("in"),), out, {"shape": out.desc.shape})


def _permute(t: _Translator, record: Operation) -> None:
    parameters = {"permutation": _integers(record, "permutation")}
    t.call("permute", (record.tensor("in"),), record.tensor("out"), parameters)


def _transpose(t: _Translator, record: Operation) -> None:
    parameters = {name: record.scalar(name) for name in ("dim0", "dim1")}
    t.call("transpose", (record.tensor("in"),), record.tensor("out"), parameters)


def _repeat(t: _Translator, record: Operation) -> None:
    source, counts = record.tensor("in"), _integers(record, "repeat_dims")
    shape = source.desc.shape
    source = t.reshape(source, (*(1,) * (len(counts) - len(shape)), *shape))
    counts = (*(1,) * (len(shape) - len(counts)), *counts)
    t.call("repeat", (source,), record.tensor("out"), {"repeat_dimensions": counts})


def _repeat_interleave(t: _Translator, record: Operation) -> None:
    source, out = record.tensor("input"), record.tensor("out")
    shape, dim, repeats = source.desc.shape, record.scalar("dim"), int(record.scalar("repeats"))
    if not -len(shape) <= dim < len(shape):
        raise BinaryError(f"{record.where}: there is no dimension {dim}")
    behind = dim % len(shape) + 1
    apart = t.reshape(source, (*shape[:behind], 1, *shape[behind:]))
    counts = (*(1,) * behind, repeats, *(1,) * (len(shape) - behind))
    wide = (*shape[:behind], repeats, *shape[behind:])
    repeated = t.apply("repeat", apart, shape=wide, parameters={"repeat_dimensions": counts})
    t.call("reshape", (repeated,), out, {"shape": out.desc.shape}, is_free=True)


def _slice(t: _Translator, record: Operation) -> None:
    source, out, table = record.tensor("in"), record.tensor("out"), _require(record, "params")
    if record.enumerator("type") == "SliceStaticOp":
        parts = {name: table[name] for name in ("begins", "ends")}
        bounds = {name: tuple(map(int, numbers or ())) for name, numbers in parts.items()}
        step = _integers(record, "step")
        t.call("slice", (source,), out, {**bounds, "step": step})
        return
    if record.has("step") and any(number != 1 for number in record.numbers("step")):
        raise _unsupported(record, "a slice whose place is computed and whose step is not 1")
    begins = t.program.tensor(require(table, "begins", record.where), record.where)
    t.call("slice_dynamic", (source, begins), out, {"sizes": out.desc.shape})


def _pad(t: _Translator, record: Operation) -> None:
    parameters = {"padding": _integers(record, "padding"), "value": float(record.scalar("value"))}
    t.call("pad", (record.tensor("in"),), record.tensor("out"), parameters)


# --- Lookups --------------------------------------------------------------------------------------


def _embedding(t: _Translator, record: Operation) -> None:
    numbers, out = record.tensor("input"), record.tensor("out")
    weight = record.tensor("weight")
    table = t.reshape(weight, weight.desc.shape[-2:])
    if (*numbers.desc.shape, *table.desc.shape[-1:]) == out.desc.shape:
        t.call("embedding", (numbers, table), out)
        return
    flat = t.reshape(numbers, (numbers.desc.volume,))
    shape = (numbers.desc.volume, *table.desc.shape[-1:])
    rows = t.between(out, shape)
    t.call("embedding", (flat, table), rows)
    t.call("reshape", (rows,), out, {"shape": out.desc.shape}, is_free=True)


def _gather(t: _Translator, record: Operation) -> None:
    source, index = record.tensor("input"), record.tensor("index")
    parameters = {"dim": record.scalar("dim")}
    t.call("gather", (source, index), record.tensor("out"), parameters)


_SCATTERS = {
    "Sum": "scatter_add",
    "Max": "scatter_maximum",
    "Min": "scatter_minimum",
    "Prod": "scatter_multiply",
    "Invalid": "scatter",
}


def _scatter(t: _Translator, record: Operation) -> None:
    operands = tuple(record.tensor(name) for name in ("input", "index", "source"))
    mnemonic = _SCATTERS[record.enumerator("scatter_reduce_type")]
    t.call(mnemonic, operands, record.tensor("out"), {"dim": record.scalar("dim")})


def _slices_of(record: Operation) -> dict[str, Any]:
    return {
        "sizes": _integers(record, "sizes"),
        "windows": _integers(record, "windows"),
        "column": bool(record.scalar("column")),
    }


def _rows_gather(t: _Translator, record: Operation) -> None:
    operands = record.tensor("input"), record.tensor("index")
    fills = bool(record.scalar("fill_out_of_bounds"))
    parameters = {**_slices_of(record), "fill_out_of_bounds": fills}
    t.call("rows_gather", operands, record.tensor("out"), parameters)


def _rows_scatter(t: _Translator, record: Operation) -> None:
    operands = tuple(record.tensor(name) for name in ("input", "index", "source"))
    reduction = record.enumerator("scatter_reduce_type").lower()
    parameters = {**_slices_of(record), "reduction": reduction}
    t.call("rows_scatter", operands, record.tensor("out"), parameters)


def _sort(t: _Translator, record: Operation) -> None:
    parameters = {
        "dim": int(record.scalar("dim")),
        "descending": bool(record.scalar("descending")),
        "stable": bool(record.scalar("stable")),
    }
    t.call("sort", (record.tensor("in"),), _two(record), parameters)


def _topk(t: _Translator, record: Operation) -> None:
    parameters = {name: record.scalar(name) for name in ("k", "dim", "largest", "sorted")}
    t.call("topk", (record.tensor("input_tensor"),), _two(record), parameters)


def _two(record: Operation) -> tuple[TensorRef, ...]:
    outputs = record.tensors("outputs")
    if len(outputs) != 2:
        raise BinaryError(
            f"{record.where}: field 'outputs' has {plural(len(outputs), 'tensor')}, not 2"
        )
    return outputs


# --- Reductions -----------------------------------------------------------------------------------

_REDUCTIONS = {
    **{name: name.lower() for name in ("Sum", "Mean", "Max", "Min")},
    "ReduceBitwiseAnd": "reduce_bitwise_and",
    "ReduceBitwiseOr": "reduce_bitwise_or",
    "ReduceBitwiseXor": "reduce_bitwise_xor",
}


def _reduce(t: _Translator, record: Operation, mnemonic: str, dims: tuple[int, ...] | None) -> None:
    parameters = {"dim_arg": dims, "keep_dim": bool(record.scalar("keep_dim"))}
    t.call(mnemonic, (record.tensor("in"),), record.tensor("out"), parameters)


def _reduction(t: _Translator, record: Operation) -> None:
    dims = _integers(record, "dim_arg") if record.has("dim_arg") else None
    _reduce(t, record, _REDUCTIONS[record.enumerator("type")], dims or None)


def _argmax(t: _Translator, record: Operation) -> None:
    dim = record.scalar("dim")
    _reduce(t, record, "argmax", None if dim is None else (int(dim),))


def _prod(t: _Translator, record: Operation) -> None:
    dim = record.scalar("dim_arg")
    _reduce(t, record, "prod", None if dim is None else (int(dim),))


def _cumsum(t: _Translator, record: Operation) -> None:
    t.call("cumsum", (record.tensor("in"),), record.tensor("out"), {"dim": record.scalar("dim")})


def _cumulative(t: _Translator, record: Operation) -> None:
    reduction = "prod"
    reverse = False
    if record.table == "CumulativeOp":
        reduction = record.enumerator("reduction").lower()
        reverse = bool(record.scalar("reverse"))
    parameters = {"dim": record.scalar("dim"), "reduction": reduction, "reverse": reverse}
    t.call("cumulative", (record.tensor("in"),), record.tensor("out"), parameters)


# --- Normalizations -------------------------------------------------------------------------------


def _softmax(t: _Translator, record: Operation) -> None:
    parameters = {"dimension": record.scalar("dimension")}
    t.call("softmax", (record.tensor("in"),), record.tensor("out"), parameters)


def _norm(
    t: _Translator, record: Operation, dims: tuple[int, ...], *, is_centered: bool
) -> TensorRef:
    """The input scaled to the variance 1 over some dimensions, in 32 bits or those of f64."""
    x = t.widened(record.tensor("input"))
    if is_centered:
        x = t.apply("subtract", x, _mean(t, x, dims))
    variance = _mean(t, t.apply("square", x), dims)
    epsilon = t.number(float(record.scalar("epsilon")), variance)
    scale = t.apply("rsqrt", t.apply("add", variance, epsilon))
    return t.apply("multiply", x, scale)


def _mean(t: _Translator, ref: TensorRef, dims: tuple[int, ...]) -> TensorRef:
    shape = tuple(1 if i in dims else extent for i, extent in enumerate(ref.desc.shape))
    parameters = {"dim_arg": dims, "keep_dim": True}
    return t.apply("mean", ref, shape=shape, parameters=parameters)


def _scale_and_shift(
    t: _Translator,
    ref: TensorRef,
    weight: TensorRef | None,
    bias: TensorRef | None,
    out: TensorRef,
) -> None:
    for mnemonic, other in (("multiply", weight), ("add", bias)):
        if other is not None:
            ref = t.apply(mnemonic, ref, other)
    t.call("typecast", (ref,), out, is_free=True)


def _last_dimension(record: Operation) -> tuple[int, ...]:
    rank = len(record.tensor("input").desc.shape)
    if rank == 0:
        raise BinaryError(f"{record.where}: its input has no dimension")
    return (rank - 1,)


def _rms_norm(t: _Translator, record: Operation) -> None:
    normed = _norm(t, record, _last_dimension(record), is_centered=False)
    weight, bias = _optional(record, "weight"), _optional(record, "bias")
    _scale_and_shift(t, normed, weight, bias, record.tensor("out"))


def _layer_norm(t: _Translator, record: Operation) -> None:
    normed = _norm(t, record, _last_dimension(record), is_centered=True)
    weight, bias = _optional(record, "weight"), _optional(record, "bias")
    _scale_and_shift(t, normed, weight, bias, record.tensor("out"))


def _feature_shape(record: Operation, ref: TensorRef | None) -> Shape:
    """Shape of one number per feature, which are dimension 1."""
    rank = len(record.tensor("input").desc.shape)
    count = 1 if ref is None else ref.desc.volume
    if rank < 2:
        raise BinaryError(f"{record.where}: its input has no features")
    return (1, count, *(1,) * (rank - 2))


def _features(t: _Translator, record: Operation, name: str) -> TensorRef | None:
    ref = _optional(record, name)
    return None if ref is None else t.reshape(ref, _feature_shape(record, ref))


def _batch_norm_inference(t: _Translator, record: Operation) -> None:
    mean, variance = (_features(t, record, f"running_{name}") for name in ("mean", "var"))
    if mean is None or variance is None:
        raise BinaryError(f"{record.where}: mean or variance is missing")
    centered = t.apply("subtract", record.tensor("input"), mean)
    epsilon = t.number(float(record.scalar("epsilon")), variance)
    scale = t.apply("rsqrt", t.apply("add", variance, epsilon))
    normed = t.apply("multiply", centered, scale)
    weight, bias = (_features(t, record, name) for name in ("weight", "bias"))
    _scale_and_shift(t, normed, weight, bias, record.tensor("out"))


def _batch_norm_training(t: _Translator, record: Operation) -> None:
    """Normalized by the input's own statistics, which move the running ones in their place."""
    rank = len(record.tensor("input").desc.shape)
    dims = (0, *range(2, rank))
    normed = _norm(t, record, dims, is_centered=True)
    weight, bias = (_features(t, record, name) for name in ("weight", "bias"))
    _scale_and_shift(t, normed, weight, bias, record.tensor("out"))
    momentum = float(record.scalar("momentum"))
    source = t.widened(record.tensor("input"))
    mean = _mean(t, source, dims)
    variance = _mean(t, t.apply("square", t.apply("subtract", source, mean)), dims)
    for name, own in (("batch_mean", mean), ("batch_var", variance)):
        result = record.tensor(name) if record.optional_field(name) is not None else None
        if result is not None:
            t.call("reshape", (own,), result, {"shape": result.desc.shape}, is_free=True)
    for name, own in (("running_mean", mean), ("running_var", variance)):
        running = _optional(record, name)
        if running is None:
            continue
        flat = t.reshape(own, running.desc.shape)
        kept = t.apply("multiply", running, t.number(1.0 - momentum, running))
        taken = t.apply("multiply", flat, t.number(momentum, flat))
        t.call("add", (kept, taken), running)


# --- Quantization ---------------------------------------------------------------------------------


def _quantize(t: _Translator, record: Operation) -> None:
    source, out, params = record.tensor("in"), record.tensor("out"), _require(record, "params")
    kind = record.enumerator("type")
    x = t.widened(source)
    inner, outer = ("in_", "out_") if kind == "Requantize" else ("", "")
    if kind != "Quantize":
        zero = _quantity(t, record, params, f"{inner}zero_point", x)
        x = t.apply("subtract", x, zero)
        x = t.apply("multiply", x, _quantity(t, record, params, f"{inner}scale", x))
    if kind != "Dequantize":
        x = t.apply("div", x, _quantity(t, record, params, f"{outer}scale", x))
        x = t.apply(
            "add", t.apply("round", x), _quantity(t, record, params, f"{outer}zero_point", x)
        )
    t.call("typecast", (x,), out, is_free=True)


def _quantity(
    t: _Translator, record: Operation, params: Table, name: str, like: TensorRef
) -> TensorRef:
    """A scale or zero point as a tensor that broadcasts along all dimensions but its axis."""
    table = require(params, name, record.where)
    field_name = "scale" if name.endswith("scale") else "zero_point"
    if params[f"{name}_type"].startswith("PerTensor"):
        return t.number(float(table[field_name]), like)
    ref = t.program.tensor(require(table, field_name, record.where), record.where)
    axis, rank = record.scalar("axis"), len(like.desc.shape)
    if axis is None or not -rank <= axis < rank:
        raise BinaryError(f"{record.where}: there is no dimension {axis}")
    behind = rank - 1 - axis % rank
    flat = t.reshape(ref, (*(1,) * (axis % rank), ref.desc.volume, *(1,) * behind))
    return t.widened(flat)


# --- Windows --------------------------------------------------------------------------------------


def _window(record: Operation, *names: str) -> dict[str, int]:
    """Extents of a window along height and width, by the names of the definitions."""
    found: dict[str, int] = {}
    for name, parameter in zip(names, ("kernel", "stride", "dilation"), strict=False):
        height, width = _pair(record, name)
        found |= {f"{parameter}_height": height, f"{parameter}_width": width}
    return found


def _counts(record: Operation, *names: str) -> dict[str, int]:
    return {name: int(record.scalar(name)) for name in names}


def _conv2d(t: _Translator, record: Operation) -> None:
    counts = _counts(
        *(record, "in_channels", "out_channels", "batch_size", "input_height", "input_width"),
        "groups",
    )
    window = _window(record, "kernel_size", "stride", "dilation")
    top, bottom, left, right = _sides(record)
    image = record.tensor("input")
    weight = _unprepared(t, record, record.tensor("weight"), _pair(record, "kernel_size"))
    bias, out = _optional(record, "bias"), record.tensor("out")
    if top == bottom and left == right:
        padding = {"padding_height": top, "padding_width": left}
        fused = _conv_activation(record)
        target = t.between(out) if fused else out
        t.call(
            *("conv2d", (image, weight, bias), target, {**counts, **window, **padding}),
            compute_config=_config(record),
        )
        _apply_all(t, target, fused, out)
        return
    extents = (counts["batch_size"], counts["input_height"], counts["input_width"])
    _convolve(
        *(t, record, t.reshape(image, (*extents, counts["in_channels"])), weight, bias),
        strides=_pair(record, "stride"),
        padding=(top, bottom, left, right),
        dilations=_pair(record, "dilation"),
    )


def _conv_activation(record: Operation) -> list[tuple[str, dict[str, float]]]:
    config: Table | None = record.optional_field("conv2d_config")
    table: Table | None = None if config is None else config["activation"]
    if table is None or table["op_type"] == "Identity":
        return []
    kind, numbers = table["op_type"], tuple(table["params"] or ())
    if kind == "Relu6":
        return [("clamp", {"min": 0.0, "max": 6.0})]
    if numbers and kind != "Gelu":
        raise _unsupported(record, f"the activation '{kind}' with parameters")
    return [(_mnemonic(record, kind, Family.UNARY), {})]


def _convolve(
    t: _Translator,
    record: Operation,
    image: TensorRef,
    weight: TensorRef,
    bias: TensorRef | None,
    *,
    strides: Shape,
    padding: Shape,
    dilations: Shape,
) -> None:
    """A convolution of an image with channels last by a weight with the window last."""
    out = record.tensor("out")
    spatial = ", ".join(map(str, range(len(strides))))
    ones = (1,) * len(strides)
    parameters = {
        "dimension_numbers": f"[b, {spatial}, f]x[o, i, {spatial}]->[b, {spatial}, f]",
        "window_strides": strides,
        "padding": padding,
        "input_dilation": ones,
        "weight_dilation": dilations,
        "window_reversal": (False,) * len(strides),
        "feature_group_count": int(record.scalar("groups")),
        "batch_group_count": 1,
    }
    fused = _conv_activation(record)
    target = t.between(out) if fused else out
    given = bias if bias is None else t.reshape(bias, (bias.desc.volume,))
    t.call("convolution", (image, weight, given), target, parameters)
    _apply_all(t, target, fused, out)


def _conv1d(t: _Translator, record: Operation) -> None:
    image = (
        record.scalar("batch_size"),
        record.scalar("input_length"),
        record.scalar("in_channels"),
    )
    padding = _integers(record, "padding")
    _convolve(
        *(t, record, t.reshape(record.tensor("input"), image)),
        *(record.tensor("weight"), _optional(record, "bias")),
        strides=(int(record.scalar("stride")),),
        padding=padding * 2 if len(padding) == 1 else padding,
        dilations=(int(record.scalar("dilation")),),
    )


def _conv3d(t: _Translator, record: Operation) -> None:
    if record.scalar("padding_mode") not in ("zeros", "", None):
        raise _unsupported(record, f"the padding '{record.scalar('padding_mode')}'")
    names = ("batch_size", "input_depth", "input_height", "input_width", "in_channels")
    image = tuple(int(record.scalar(name)) for name in names)
    weight, kernel = record.tensor("weight"), _integers(record, "kernel_size")
    inner, outer = (
        image[-1] // max(1, int(record.scalar("groups"))),
        int(record.scalar("out_channels")),
    )
    if len(weight.desc.shape) != 5:
        config: Table | None = record.scalar("conv3d_config")
        block = (None if config is None else config["c_in_block"]) or inner
        if block < 1 or inner % block:
            raise BinaryError(f"{record.where}: {inner} channels are no blocks of {block}")
        parts = t.reshape(weight, (inner // block, *kernel, block, outer))
        whole = t.reshape(t.permute(parts, (5, 0, 4, 1, 2, 3)), (outer, inner, *kernel))
        weight = whole
    _convolve(
        *(t, record, t.reshape(record.tensor("input"), image), weight, _optional(record, "bias")),
        strides=_integers(record, "stride"),
        padding=tuple(n for each in _integers(record, "padding") for n in (each, each)),
        dilations=_integers(record, "dilation") or (1, 1, 1),
    )


def _prepare_conv3d(t: _Translator, record: Operation) -> None:
    """Weights as a matrix: blocks of input channels, the window, channels of a block; outputs."""
    weight, out = record.tensor("weight_tensor"), record.tensor("out")
    outer, inner, *kernel = weight.desc.shape
    rows = out.desc.shape[0]
    window = math.prod(kernel)
    padded = rows // max(1, window)
    block = int(record.scalar("c_in_block")) or padded
    if len(kernel) != 3 or padded * window != rows or padded < inner or padded % block:
        raise BinaryError(f"{record.where}: its weight does not fit its result")
    shape = (outer, padded, *kernel)
    parameters = {"padding": (0, 0, 0, padded - inner, *(0,) * 6), "value": 0.0}
    wide = weight
    if padded != inner:
        wide = t.apply("pad", weight, shape=shape, is_free=True, parameters=parameters)
    parts = t.reshape(wide, (outer, padded // block, block, *kernel))
    ordered = t.permute(parts, (1, 3, 4, 5, 2, 0))
    t.call("reshape", (ordered,), out, {"shape": out.desc.shape})


def _prepare_conv2d(t: _Translator, record: Operation) -> None:
    """Weights as a matrix of the window's rows, columns and channels, and the outputs."""
    weight, out = record.tensor("weight_tensor"), record.tensor("out")
    if len(weight.desc.shape) != 4:
        raise BinaryError(f"{record.where}: its weight has no 4 dimensions")
    outer, inner, height, width = weight.desc.shape
    flat = t.reshape(t.permute(weight, (2, 3, 1, 0)), (1, 1, height * width * inner, outer))
    _pad_to(t, record, flat, out)


def _pad_to(t: _Translator, record: Operation, ref: TensorRef, out: TensorRef) -> None:
    pairs = [
        (0, target - extent) for target, extent in zip(out.desc.shape, ref.desc.shape, strict=False)
    ]
    if len(out.desc.shape) != len(ref.desc.shape) or min(more for _, more in pairs) < 0:
        raise BinaryError(f"{record.where}: its operand does not fit its result")
    padding = tuple(number for pair in pairs for number in pair)
    t.call("pad", (ref,), out, {"padding": padding, "value": 0.0})


def _unprepared(
    t: _Translator, record: Operation, weight: TensorRef, kernel: tuple[int, int]
) -> TensorRef:
    """The weight as the definition takes it."""
    outer, groups = int(record.scalar("out_channels")), max(1, int(record.scalar("groups")))
    inner = int(record.scalar("in_channels")) // groups
    if weight.desc.shape == (outer, inner, *kernel):
        return weight
    ends = (1, 1, inner * math.prod(kernel), outer)
    if len(weight.desc.shape) != 4:
        raise BinaryError(f"{record.where}: its weight has no 4 dimensions")
    parameters = {"begins": (0,) * 4, "ends": ends, "step": (1,) * 4}
    given = weight.desc
    tile = given.tile if is_block_float(given.data_type) else (1, 1)  # padding would take memory
    part = t.between(replace(weight, desc=replace(given, tile=tile)), ends)
    t.call("slice", (weight,), part, parameters, is_free=True)
    return t.permute(t.reshape(part, (*kernel, inner, outer)), (3, 2, 0, 1))


def _prepare_bias(t: _Translator, record: Operation) -> None:
    bias, out = record.tensor("bias_tensor"), record.tensor("out")
    _pad_to(t, record, t.reshape(bias, (1, 1, 1, bias.desc.volume)), out)


def _conv_transpose2d(t: _Translator, record: Operation) -> None:
    counts = _counts(
        *(record, "in_channels", "out_channels", "batch_size", "input_height", "input_width"),
        "groups",
    )
    # Unlike those of a convolution, the sides are above, left, below and right.
    top, left, bottom, right = _sides(record)
    if len(record.numbers("padding")) == 2:
        bottom, left = top, right
    more = _pair(record, "output_padding")
    parameters = {
        **counts,
        **_window(record, "kernel_size", "stride", "dilation"),
        **{"padding_top": top, "padding_bottom": bottom},
        **{"padding_left": left, "padding_right": right},
        **{"output_padding_height": more[0], "output_padding_width": more[1]},
    }
    fused, out = _conv_activation(record), record.tensor("out")
    target = t.between(out) if fused else out
    operands = record.tensor("input"), record.tensor("weight"), _optional(record, "bias")
    t.call("conv_transpose2d", operands, target, parameters, compute_config=_config(record))
    _apply_all(t, target, fused, out)


def _pool2d(t: _Translator, record: Operation) -> None:
    source = record.tensor("in")
    out = record.tensor("out" if record.table == "Pool2dOp" else "result")
    sides = _sides(record)
    parameters: dict[str, Any] = {
        **_counts(record, "batch_size", "input_height", "input_width", "channels"),
        **_window(record, "kernel_size", "stride", "dilation"),
        "ceil_mode": bool(record.scalar("ceil_mode")),
    }
    by_side = {
        f"padding_{side}": number
        for side, number in zip(("top", "bottom", "left", "right"), sides, strict=True)
    }
    if record.table == "Pool2dOp" and record.enumerator("type") == "AvgPool2d":
        table: Table | None = record.scalar("extra_params")
        counted = table is None or bool(table["count_include_pad"])
        divisor = (table and table["divisor_override"]) or None
        average = {**parameters, **by_side, "count_include_pad": counted or divisor is not None}
        if divisor is None:
            t.call("avg_pool2d", (source,), out, average)
            return
        if parameters["ceil_mode"]:
            raise _unsupported(record, f"an average that divides by {divisor}")
        result = t.between(out, element="Float32")
        t.call("avg_pool2d", (source,), result, average)
        factor = parameters["kernel_height"] * parameters["kernel_width"] / divisor
        t.call("multiply", (result, t.number(factor, result)), out, is_free=True)
        return
    top, bottom, left, right = sides
    if (top, left) != (bottom, right):
        image = tuple(parameters[name] for name in ("batch_size", "input_height", "input_width"))
        padded = (image[0], image[1] + top + bottom, image[2] + left + right)
        shape = (*padded, parameters["channels"])
        widths = (0, 0, *sides, 0, 0)
        source = t.apply(
            "pad",
            t.reshape(source, (*image, parameters["channels"])),
            shape=shape,
            is_free=True,
            parameters={"padding": widths, "value": -math.inf},
        )
        parameters |= {"input_height": padded[1], "input_width": padded[2]}
        top = left = 0
    parameters |= {"padding_height": top, "padding_width": left}
    if record.table == "Pool2dOp":
        t.call("max_pool2d", (source,), out, parameters)
        return
    if source is not record.tensor("in") or parameters.pop("ceil_mode"):
        raise _unsupported(record, "places of the largest numbers with uneven padding")
    outputs = record.tensor("result"), record.tensor("result_indices")
    t.call("max_pool2d_with_indices", (source,), outputs, parameters)


_CONVERTERS: dict[str, Callable[[_Translator, Operation], None]] = {
    **attention_2026.CONVERTERS,
    **exchanges_2026.CONVERTERS,
    **caches_2026.CONVERTERS,
    "DeallocateOp": _deallocate,
    "ToLayoutOp": _to_layout,
    "ToDeviceOp": _move("in"),
    "FromDeviceOp": _move("in"),
    "ToMemoryConfigOp": _move("in0"),
    "AssignOp": _copy("input", "output"),
    "EmptyOp": _empty,
    "FullOp": _full,
    "NamedFullOp": _named_full,
    "ConstantOp": _constant,
    "ArangeOp": _arange,
    "LoadCachedOp": _load_cached,
    "FuncCallOp": _func_call,
    "WhileOp": _while,
    "CaseOp": _case,
    "CpuOp": _cpu,
    LAUNCH: _launch,
    "CopyOp": _copy("src", "dst"),
    "RMSNormOp": _rms_norm,
    "LayerNormOp": _layer_norm,
    "BatchNormInferenceOp": _batch_norm_inference,
    "BatchNormTrainingOp": _batch_norm_training,
    "EltwiseQuantizationOp": _quantize,
    "EltwiseUnaryOp": _unary,
    "EltwiseUnaryCompositeOp": _unary,
    "EltwiseBinaryOp": _binary,
    "EltwiseBinaryCompositeOp": _binary,
    "EltwiseBinaryCompositeAtan2Op": _binary,
    "EltwiseBinaryCompositeScalarOp": _power,
    "EltwiseTernaryWhereOp": _where,
    "TypecastOp": _typecast,
    "BitcastConvertOp": _bitcast,
    "MatmulOp": _product,
    "LinearOp": _product,
    "ConcatOp": _concat,
    "ReshapeOp": _reshape,
    "PermuteOp": _permute,
    "TransposeOp": _transpose,
    "RepeatOp": _repeat,
    "RepeatInterleaveOp": _repeat_interleave,
    "SliceOp": _slice,
    "PadOp": _pad,
    "EmbeddingOp": _embedding,
    "GatherOp": _gather,
    "ScatterOp": _scatter,
    "RowsGatherOp": _rows_gather,
    "RowsScatterOp": _rows_scatter,
    "SortOp": _sort,
    "TopKOp": _topk,
    "ReductionOp": _reduction,
    "ReductionArgMaxOp": _argmax,
    "ReductionProdOp": _prod,
    "CumSumOp": _cumsum,
    "CumProdOp": _cumulative,
    "CumulativeOp": _cumulative,
    "SoftmaxOp": _softmax,
    "Conv1dOp": _conv1d,
    "Conv2dOp": _conv2d,
    "Conv3dOp": _conv3d,
    "ConvTranspose2dOp": _conv_transpose2d,
    "PrepareConv2dWeightsOp": _prepare_conv2d,
    "PrepareConv2dBiasOp": _prepare_bias,
    "PrepareConv3dWeightsOp": _prepare_conv3d,
    "PrepareConvTranspose2dBiasOp": _prepare_bias,
    "Pool2dOp": _pool2d,
    "MaxPool2dWithIndicesOp": _pool2d,
}
_ON_HOST = (
    *("TypecastOp", "BitcastConvertOp", "Conv1dOp", "Conv2dOp", "Conv3dOp", "ConvTranspose2dOp"),
    *("PrepareConv2dWeightsOp", "PrepareConv2dBiasOp", "PrepareConv3dWeightsOp"),
    "PrepareConvTranspose2dBiasOp",
)
"""Tables of what ttnn computes of tensors in host memory as well."""
