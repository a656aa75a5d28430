"""Programs of kernels for several chips: what each computes alone, and what they exchange between.

A plan is a list of steps on values by number, of which each device has its own. Chips run the same
programs of kernels; chips with the same numbers run them once. Between them kernels send pieces of
tensors over the links of a board (`fabric_exchange`). What a program takes and gives lies with the
host, which cuts and joins tensors there, and looks at what loops and branches depend on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ttmlir.errors import plural
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.layout.system import board as board_named
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.runtime.binary import BinaryProgram, chip_of, location_of, read_golden
from ttmlir.runtime.errors import BinaryError, ExecutionError
from ttmlir.runtime.fabric_exchange import ExchangeRun, Move, exchange
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.tensor import Array, convert
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.options import SimOptions

Shape = tuple[int, ...]
Parts = Sequence[Array]
"""What each device has of a value."""
Table = Mapping[str, Any]

_MAX_DEVICES = 1 << 10
_MAX_DEPTH = 32
"""Loops and branches within others."""

# --- Steps ----------------------------------------------------------------------------------------


class ChipRun(Protocol):
    """A run of a program of one chip."""

    outputs: list[Array]

    @property
    def cycles(self) -> int:
        """How long it took; 0 without clocks."""
        ...


@dataclass(frozen=True)
class Compute:
    """What each device computes alone."""

    program: BinaryProgram
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Known:
    """What follows from the number of a device alone."""

    result: int
    parts: Parts


@dataclass(frozen=True)
class Division:
    """A tensor cut into parts for the devices, or put together from them; or a part that stays.

    `dims` are, for each axis of `mesh`, the dimension that is divided over it, or -1.
    """

    source: int
    result: int
    dims: tuple[int, ...]
    mesh: Shape
    is_whole_before: bool
    """False where parts are put together."""

    def apply(self, parts: Parts) -> list[Array]:
        """What each device has afterwards."""
        return self._cut(parts) if self.is_whole_before else self._join(parts)

    def _cut(self, parts: Parts) -> list[Array]:
        found: list[Array] = []
        for device, whole in enumerate(parts):
            place = np.unravel_index(device, self.mesh)
            for dim, extent, at in zip(self.dims, self.mesh, place, strict=True):
                whole = whole if dim < 0 else np.split(whole, extent, dim)[int(at)]
            found.append(whole)
        return found

    def _join(self, parts: Parts) -> list[Array]:
        rows = list(parts)
        for dim, extent in reversed([*zip(self.dims, self.mesh, strict=True)]):
            rows = [
                rows[first] if dim < 0 else np.concatenate(rows[first : first + extent], dim)
                for first in range(0, len(rows), extent)
            ]
        return rows * len(parts)


@dataclass(frozen=True)
class Exchange:
    """What devices send each other: pieces of their tensors, which the others join."""

    name: str
    """The operation."""
    debug_info: str
    """Its text, with its location."""
    source: int
    result: int
    moves: tuple[Move, ...]
    """Devices that get nothing have zeros."""
    slots: int
    split: int | None = None
    """The dimension along which tensors are cut into as many pieces as there are slots."""
    concat: int | None = None
    """The dimension along which slots are joined."""

    def cut(self, part: Array) -> list[Array]:
        """The pieces of what a device has."""
        return [part] if self.split is None else np.split(part, self.slots, self.split)

    def join(self, slots: Mapping[int, Array], like: Array) -> Array:
        """What a device has of the slots that it got; the others have zeros, as many as `like`."""
        parts = [slots.get(slot, np.zeros_like(like)) for slot in range(self.slots)]
        return parts[0] if self.concat is None else np.concatenate(parts, self.concat)

    def move(self, parts: Parts) -> list[Array]:
        """What all devices have after it."""
        pieces = [self.cut(part) for part in parts]
        slots: list[dict[int, Array]] = [{} for _ in parts]
        for here, piece, there, slot in self.moves:
            slots[there][slot] = pieces[here][piece]
        return [self.join(each, pieces[0][0]) for each in slots]


@dataclass(frozen=True)
class Loop:
    """Steps that are repeated while all devices say so; inputs behind the results stay."""

    debug_info: str
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    condition: Plan | None
    body: Plan
    trip_count: int = 0
    """How often, where there is no condition."""


@dataclass(frozen=True)
class Branch:
    """One of several plans: that which the only element of a value names on all devices."""

    debug_info: str
    index: int
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    branches: tuple[Plan, ...]
    """The last one is for all other numbers."""


Step = Compute | Known | Division | Exchange | Loop | Branch


@dataclass(frozen=True)
class Plan:
    """Steps in order."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    steps: tuple[Step, ...]

    def walk(self) -> list[Step]:
        """The steps, and those of loops and branches, whose plans are visited once."""
        visited, found = {id(self)}, list[Step]()

        def visit(plan: Plan) -> None:
            for step in plan.steps:
                found.append(step)
                for inner in _plans_of(step):
                    if id(inner) not in visited:
                        visited.add(id(inner))
                        visit(inner)

        visit(self)
        return found


def _plans_of(step: Step) -> Sequence[Plan]:
    """Of loops and branches."""
    match step:
        case Loop():
            return [each for each in (step.condition, step.body) if each is not None]
        case Branch():
            return step.branches
        case _:
            return ()


@dataclass(frozen=True)
class MeshPlan:
    """A plan for the devices of a part of a board."""

    rows: int
    columns: int
    board: str
    plan: Plan

    @property
    def devices(self) -> int:
        """How many there are."""
        return self.rows * self.columns

    @property
    def exchanges(self) -> list[Exchange]:
        """The steps in which devices send each other something."""
        return [each for each in self.plan.walk() if isinstance(each, Exchange)]

    @property
    def programs(self) -> list[BinaryProgram]:
        """What chips run between exchanges, in the order of the steps."""
        return [each.program for each in self.plan.walk() if isinstance(each, Compute)]


def boards_of_mesh(rows: int, columns: int) -> list[str]:
    """The boards with so many chips, the smallest first, of Wormhole before others."""
    names = [name for name in BOARD_NAMES if rectangle_of(rows, columns, name)]
    systems = {name: board_named(name) for name in names}
    return sorted(
        systems, key=lambda name: (systems[name].num_chips, systems[name].chip_descs[0].arch.value)
    )


def rectangle_of(rows: int, columns: int, board: str) -> tuple[int, int] | None:
    """Rows and columns of chips that a mesh takes of a board, None if it has none.

    Packets go along columns, then along rows: in a rectangle there are chips on all ways.
    """
    places = board_named(board).chip_coords
    there = max(at.y for at in places) + 1, max(at.x for at in places) + 1
    count = rows * columns
    shapes = [(rows, columns)]
    shapes += [(n, count // n) for n in range(1, count + 1) if count % n == 0]
    return next((each for each in shapes if each[0] <= there[0] and each[1] <= there[1]), None)


# --- Reading --------------------------------------------------------------------------------------


def read_mesh_plan(table: Table, functions: Sequence[BinaryProgram], where: str) -> MeshPlan:
    """The plan of a program of a file with these functions; BinaryError for what is none."""
    rows, columns, board = int(table["rows"]), int(table["columns"]), table["board"] or ""
    if not 0 < rows * columns <= _MAX_DEVICES:
        raise BinaryError(f"{where} is for a mesh of {rows}x{columns} devices")
    if board not in BOARD_NAMES or rectangle_of(rows, columns, board) is None:
        boards = ", ".join(boards_of_mesh(rows, columns)) or "none"
        raise BinaryError(
            f"{where} is for {rows}x{columns} chips of board '{board}'; boards with as many are "
            f"{boards}"
        )
    plans = table["plans"] or ()
    if not plans:
        raise BinaryError(f"{where} has no steps")
    reader = _Reader(functions, plans, rows * columns, where)
    return MeshPlan(rows, columns, board, reader.plan(0))


class _Reader:
    def __init__(
        self,
        functions: Sequence[BinaryProgram],
        plans: Sequence[Table],
        devices: int,
        where: str,
    ) -> None:
        self._functions = functions
        self._plans = plans
        self._known: dict[int, Plan] = {}
        self._depth = 0
        self._devices = devices
        self._where = where

    def plan(self, number: int) -> Plan:
        """A plan by its number; loops name those behind it."""
        if number not in self._known:
            if self._depth > _MAX_DEPTH:
                raise self._error(f"has more than {_MAX_DEPTH} loops and branches within others")
            self._depth += 1
            self._known[number] = self._read(self._plans[number], number)
            self._depth -= 1
        return self._known[number]

    def _read(self, table: Table, plan: int) -> Plan:
        inputs, outputs = _numbers(table["inputs"]), _numbers(table["outputs"])
        known = set(inputs)
        steps: list[Step] = []
        for number, each in enumerate(table["steps"] or ()):
            step = self._step(each, f"step {number}", plan)
            taken, given = _used(step)
            missing = next((value for value in taken if value not in known), None)
            if missing is not None:
                raise self._error(f"uses value {missing} in step {number}, before it is there")
            known |= {*given}
            steps.append(step)
        missing = next((value for value in outputs if value not in known), None)
        if missing is not None:
            raise self._error(f"gives value {missing}, which no step makes")
        return Plan(inputs, outputs, tuple(steps))

    def _step(self, table: Table, name: str, plan: int) -> Step:
        fields, text = table["type"], table["debug_info"] or ""
        if fields is None:
            raise self._error(f"has no contents in {name}")
        match table["type_type"]:
            case "MeshCompute":
                return self._compute(fields, name)
            case "MeshConstant":
                return self._constant(fields, name)
            case "MeshDivision":
                return self._division(fields, name)
            case "MeshExchange":
                return self._exchange(fields, name, text)
            case "MeshLoop":
                return self._loop(fields, name, plan, text)
            case "MeshBranch":
                return self._branch(fields, name, plan, text)
            case kind:
                raise self._error(f"has a {name} of the kind {kind}, which is not known")

    def _compute(self, fields: Table, name: str) -> Compute:
        functions, number = self._functions, int(fields["function"])
        if number >= len(functions):
            raise self._error(f"runs function {number} in {name}; there are {len(functions)}")
        program = functions[number]
        inputs, outputs = _numbers(fields["inputs"]), _numbers(fields["outputs"])
        given = len(inputs), len(outputs)
        if given != (len(program.inputs), len(program.outputs)):
            raise self._error(
                f"gives function {number} {plural(given[0], 'value')} in {name} and takes "
                f"{given[1]}; it has {len(program.inputs)} and {len(program.outputs)}"
            )
        return Compute(program, inputs, outputs)

    def _constant(self, fields: Table, name: str) -> Known:
        tensors = fields["tensors"] or ()
        arrays = [
            read_golden(each, f"{self._where}: {name}: tensors[{i}]")
            for i, each in enumerate(tensors)
        ]
        owners = _numbers(fields["of_devices"])
        if len(owners) != self._devices or any(each >= len(arrays) for each in owners):
            raise self._error(f"has no tensor for each of {self._devices} devices in {name}")
        return Known(int(fields["result"]), [arrays[each] for each in owners])

    def _division(self, fields: Table, name: str) -> Division:
        mesh, dims = _numbers(fields["extents"]), _numbers(fields["dims"])
        if len(mesh) != len(dims) or math.prod(mesh) != self._devices or min(mesh, default=0) < 1:
            raise self._error(
                f"divides a tensor over a mesh of {list(mesh)} in {name}, by dimensions "
                f"{list(dims)}; it has {self._devices} devices"
            )
        return Division(
            int(fields["source"]), int(fields["result"]), dims, mesh, bool(fields["cuts"])
        )

    def _exchange(self, fields: Table, name: str, text: str) -> Exchange:
        words = _numbers(fields["moves"])
        moves = tuple(Move(*words[at : at + 4]) for at in range(0, len(words) // 4 * 4, 4))
        slots, split = int(fields["slots"]), int(fields["split"])
        pieces = slots if split >= 0 else 1
        if len(words) % 4 or slots < 1:
            raise self._error(f"has an exchange without slots, or of no whole moves, in {name}")
        if any(
            each.source >= self._devices
            or each.target >= self._devices
            or each.piece >= pieces
            or each.slot >= slots
            for each in moves
        ):
            raise self._error(f"moves what is not there, or to where nothing is, in {name}")
        if len({(each.target, each.slot) for each in moves}) != len(moves):
            raise self._error(f"moves several pieces to one slot in {name}")
        concat = int(fields["concat"])
        return Exchange(
            fields["name"] or "exchange",
            text,
            int(fields["source"]),
            int(fields["result"]),
            moves,
            slots,
            None if split < 0 else split,
            None if concat < 0 else concat,
        )

    def _loop(self, fields: Table, name: str, plan: int, text: str) -> Loop:
        has_condition = int(fields["condition"]) != 0
        named = [int(fields[each]) for each in ("condition", "body")[not has_condition :]]
        self._check_parts(named, f"a loop in {name}", plan)
        inputs, results = _numbers(fields["inputs"]), _numbers(fields["results"])
        *conditions, body = (self.plan(each) for each in named)
        taken = {len(inputs), *(len(each.inputs) for each in (*conditions, body))}
        given = {len(results), len(body.outputs)}
        if len(taken) != 1 or len(given) != 1 or max(given) > max(taken):
            raise self._error(f"has a loop in {name} whose parts take and give different values")
        condition = conditions[0] if conditions else None
        if condition is not None and len(condition.outputs) != 1:
            raise self._error(f"has a loop in {name} with {len(condition.outputs)} conditions")
        return Loop(text, inputs, results, condition, body, int(fields["trip_count"]))

    def _branch(self, fields: Table, name: str, plan: int, text: str) -> Branch:
        named = _numbers(fields["branches"])
        self._check_parts(named, f"a branch in {name}", plan)
        branches = tuple(map(self.plan, named))
        inputs, results = _numbers(fields["inputs"]), _numbers(fields["results"])
        kinds = {(len(each.inputs), len(each.outputs)) for each in branches}
        if kinds != {(len(inputs), len(results))}:
            raise self._error(f"has a branch in {name} whose parts take and give different values")
        return Branch(text, int(fields["index"]), inputs, results, branches)

    def _check_parts(self, named: Sequence[int], what: str, plan: int) -> None:
        if not all(plan < each < len(self._plans) for each in named):
            raise self._error(
                f"has {what} of plan {plan} whose parts are plans {[*named]}; they are "
                f"behind it, and there are {len(self._plans)}"
            )

    def _error(self, what: str) -> BinaryError:
        return BinaryError(f"{self._where} {what}")


def _numbers(numbers: Sequence[int] | None) -> tuple[int, ...]:
    return tuple(int(each) for each in (() if numbers is None else numbers))


def _line_in(location: str) -> str:
    """File and line of a location."""
    return place_in(location).rpartition(":")[0]


def _used(step: Step) -> tuple[Sequence[int], Sequence[int]]:
    """The values that a step takes, and those that it gives."""
    match step:
        case Compute():
            return step.inputs, step.outputs
        case Known():
            return (), (step.result,)
        case Loop():
            return step.inputs, step.results
        case Branch():
            return (step.index, *step.inputs), step.results
        case _:
            return (step.source,), (step.result,)


# --- Running --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeshStep:
    """A program of all chips, or an exchange between them."""

    name: str
    """The operation that exchanges, or how many programs of kernels there are."""
    where: str
    """The place in the source; empty for what is of several."""
    cycles: tuple[int, ...]
    """Of each chip."""
    clock_hz: int
    link_bytes: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """What each link carried, by the numbers of the chip that sent and of its neighbour."""


class ExchangeOfChips(NamedTuple):
    """An exchange, and what the kernels of the chip did that took longest."""

    exchange: Exchange
    report: ProgramReport


@dataclass
class MeshRun:
    """What each device has in the end, and what the steps did."""

    values: dict[int, Parts]
    steps: list[MeshStep] = field(default_factory=list[MeshStep])
    longest: list[ChipRun | ExchangeOfChips] = field(
        default_factory=list["ChipRun | ExchangeOfChips"]
    )
    """What the chips did that took longest, of each step with kernels."""


RunProgram = Callable[[BinaryProgram, Sequence[Array], SimOptions], ChipRun]
"""Runs a program of one chip."""


class Reference(Protocol):
    """Computes beside the chips what they should have."""

    def run_program(
        self,
        program: BinaryProgram,
        device: int,
        arrays: Sequence[Array],
        expected: Sequence[Array],
    ) -> tuple[ChipRun, list[Array]]:
        """Run a program on a device; also what it should give for `expected`."""
        ...

    def compare(self, step: Exchange, parts: Parts, expected: Parts) -> None:
        """See what the devices have after an exchange."""
        ...

    def end_step(self) -> None:
        """All devices have run a program."""
        ...


@dataclass
class _Values:
    """What each device has, and should have, by the numbers of a plan."""

    parts: dict[int, Parts]
    expected: dict[int, Parts]
    """Empty where nobody compares."""

    def of(self, inner: Plan, numbers: Sequence[int]) -> _Values:
        """Those that another plan takes."""
        pairs = [*zip(inner.inputs, numbers, strict=True)]
        return _Values(
            *(
                {number: held[given] for number, given in pairs} if held else {}
                for held in (self.parts, self.expected)
            )
        )

    def take(self, results: Sequence[int], other: _Values, numbers: Sequence[int]) -> None:
        """Those that another plan gives."""
        pairs = [*zip(results, numbers, strict=True)]
        for held, given in ((self.parts, other.parts), (self.expected, other.expected)):
            if given:
                held |= {result: given[number] for result, number in pairs}

    def apply(self, result: int, source: int, act: Callable[[Parts], Parts]) -> None:
        """What a step makes of both."""
        for held in (self.parts, self.expected):
            if source in held:
                held[result] = act(held[source])


def run_plan(
    mesh: MeshPlan,
    arrays: Sequence[Array],
    options: SimOptions,
    *,
    where: str,
    run_program: RunProgram,
    advance: Callable[[], object] = lambda: None,
    reference: Reference | None = None,
) -> MeshRun:
    """Run a plan on arrays in the host's types, which all devices are given.

    `run_program` runs a program of one chip, unless a `reference` does; `advance` is called after
    each step. ExecutionError for what the simulator finds, BinaryError for values that do not fit.
    """
    runner = _Runner(mesh, options, where, run_program, advance, reference)
    plan = mesh.plan
    parts: dict[int, Parts] = {
        number: [array] * mesh.devices for number, array in zip(plan.inputs, arrays, strict=True)
    }
    values = _Values(parts, {} if reference is None else dict(parts))
    runner.run(plan, values)
    return MeshRun(values.parts, runner.steps, runner.longest)


class _Runner:
    def __init__(
        self,
        mesh: MeshPlan,
        options: SimOptions,
        where: str,
        run_program: RunProgram,
        advance: Callable[[], object],
        reference: Reference | None,
    ) -> None:
        self._mesh = mesh
        self._options = options
        self._where = where
        self._run_program = run_program
        self._advance = advance
        self._reference = reference
        self.steps: list[MeshStep] = []
        self.longest: list[ChipRun | ExchangeOfChips] = []

    def run(self, plan: Plan, values: _Values) -> None:
        for step in plan.steps:
            match step:
                case Compute():
                    self._compute(step, values)
                case Known():
                    values.parts[step.result] = step.parts
                    if self._reference is not None:
                        values.expected[step.result] = step.parts
                case Division():
                    values.apply(
                        step.result,
                        step.source,
                        lambda parts, s=step: self._fitting(lambda: s.apply(parts)),
                    )
                case Exchange():
                    self._exchange(step, values)
                case Loop():
                    self._loop(step, values)
                case Branch():
                    self._branch(step, values)
            self._advance()

    def _fitting(self, act: Callable[[], list[Array]]) -> list[Array]:
        """What tensors become; BinaryError for those that are not divided so."""
        try:
            return act()
        except (ValueError, IndexError) as error:
            raise BinaryError(f"{self._where} divides a tensor as it cannot be: {error}") from error

    def _compute(self, step: Compute, values: _Values) -> None:
        """Run a program on each chip; chips that have the same numbers compute the same."""
        program = step.program
        runs: dict[tuple[int, ...], tuple[list[Array], list[Array], ChipRun]] = {}
        of_devices: list[tuple[list[Array], list[Array], ChipRun]] = []
        for device in range(self._mesh.devices):
            given = [values.parts[number][device] for number in step.inputs]
            key = tuple(map(id, given))
            if key not in runs:
                inputs: list[Array] = []
                for array, ref in zip(given, program.inputs, strict=True):
                    if array.shape != ref.desc.shape:
                        raise BinaryError(
                            f"{self._where}: {program.where} takes {ref.desc.type_text}, and is "
                            f"given a tensor of shape {list(array.shape)}"
                        )
                    inputs.append(convert(array, ref.desc.element.compute))
                if self._reference is None:
                    run, expected = self._run_program(program, inputs, self._options), []
                else:
                    wanted = [values.expected[number][device] for number in step.inputs]
                    run, expected = self._reference.run_program(program, device, inputs, wanted)
                outputs = [
                    convert(array, ref.desc.element.host)
                    for array, ref in zip(run.outputs, program.outputs, strict=True)
                ]
                runs[key] = outputs, expected, run
            of_devices.append(runs[key])
        for at, number in enumerate(step.outputs):
            values.parts[number] = [outputs[at] for outputs, _, _ in of_devices]
            if self._reference is not None:
                values.expected[number] = [expected[at] for _, expected, _ in of_devices]
        if self._reference is not None:
            self._reference.end_step()
        longest = max((run for _, _, run in runs.values()), key=lambda run: run.cycles)
        self.longest.append(longest)
        self.steps.append(
            MeshStep(
                name=plural(program.num_launches, "program"),
                where="",
                cycles=tuple(run.cycles for _, _, run in of_devices),
                clock_hz=chip_of(program.binary).clock_hz,
            )
        )

    def _exchange(self, step: Exchange, values: _Values) -> None:
        parts = [np.asarray(part) for part in values.parts[step.source]]
        needed = self._mesh.devices * max(step.slots, 1) * max(part.nbytes for part in parts)
        if needed > memory_limit():
            raise BinaryError(
                f"{self._where}: devices exchange {needed} bytes at once; {memory_advice()}"
            )
        cut = [self._fitting(lambda p=part: step.cut(p)) for part in parts]
        piece = cut[0][0]
        rectangle = rectangle_of(self._mesh.rows, self._mesh.columns, self._mesh.board)
        assert rectangle is not None, "the board has it"
        try:
            run = exchange(
                [[np.ascontiguousarray(each).tobytes() for each in own] for own in cut],
                step.moves,
                board=self._mesh.board,
                mesh=rectangle,
                timed=self._options.timed,
            )
        except SimError as error:
            raise ExecutionError(f"{self._where}: {step.name}: {error}") from error
        values.parts[step.result] = made = [
            self._fitting(
                lambda s=slots: [
                    step.join(
                        {
                            slot: np.frombuffer(data, piece.dtype).reshape(piece.shape)
                            for slot, data in s.items()
                        },
                        piece,
                    )
                ]
            )[0]
            for slots in run.slots
        ]
        if self._reference is not None:
            expected = step.move(values.expected[step.source])
            values.expected[step.result] = expected
            self._reference.compare(step, made, expected)
        self._report_exchange(step, run)

    def _report_exchange(self, step: Exchange, run: ExchangeRun) -> None:
        longest = max(run.reports, key=lambda report: report.cycles)
        self.longest.append(ExchangeOfChips(step, longest))
        self.steps.append(
            MeshStep(
                name=step.name,
                where=_line_in(location_of(step.debug_info)),
                cycles=tuple(report.cycles for report in run.reports),
                clock_hz=longest.chip.clock_hz,
                link_bytes=run.links,
            )
        )

    def _loop(self, step: Loop, values: _Values) -> None:
        kept, body = len(step.results), step.body
        carried = values.of(body, step.inputs)
        done = 0
        while self._goes_on(step, carried, done):
            done += 1
            inner = carried.of(body, body.inputs)
            self.run(body, inner)
            carried.take(body.inputs[:kept], inner, body.outputs)
        values.take(step.results, carried, body.inputs[:kept])

    def _goes_on(self, step: Loop, carried: _Values, done: int) -> bool:
        """What all devices say; ExecutionError where they do not agree."""
        if step.condition is None:
            return done < step.trip_count
        inner = carried.of(step.condition, step.body.inputs)
        self.run(step.condition, inner)
        answers = [bool(np.any(part)) for part in inner.parts[step.condition.outputs[0]]]
        if len({*answers}) > 1:
            ended = answers.index(False)
            going = answers.index(True)
            raise ExecutionError(
                f"{self._where}: the loop{_place_of(step)} ends on device {ended}, "
                f"while device {going} goes on; loops of several devices end on all of them at the "
                "same time"
            )
        return answers[0]

    def _branch(self, step: Branch, values: _Values) -> None:
        """Go the way of all devices; ExecutionError where they do not agree."""
        chosen: list[int] = []
        for part in values.parts[step.index]:
            if np.size(part) != 1 or np.asarray(part).dtype.kind not in "biu":
                kind, shape = np.asarray(part).dtype, list(np.shape(part))
                raise BinaryError(
                    f"{self._where}: a tensor of shape {shape} of {kind} chooses a branch; one "
                    "integer does"
                )
            number, last = int(np.reshape(part, ())), len(step.branches) - 1
            chosen.append(number if 0 <= number < last else last)
        if other := next((n for n, each in enumerate(chosen) if each != chosen[0]), 0):
            raise ExecutionError(
                f"{self._where}: the branch{_place_of(step)} takes way {chosen[0]} on device 0, "
                f"while device {other} takes way {chosen[other]}; branches in which devices "
                "exchange something go the same way on all of them"
            )
        branch = step.branches[chosen[0]]
        inner = values.of(branch, step.inputs)
        self.run(branch, inner)
        values.take(step.results, inner, branch.outputs)


def _place_of(step: Loop | Branch) -> str:
    place = _line_in(location_of(step.debug_info))
    return f" at {place}" if place else ""
