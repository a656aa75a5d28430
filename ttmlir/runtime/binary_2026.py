"""Programs of `.ttnn` files of 2026, whose tables differ from those of 2024.

A program's operations are turned into those that the executor knows (`ttmlir.runtime.records_2026`)
and tensors into the same descriptions. Private programs, which operations call by their place in
the file, become the functions of the file, those that are called before those that call them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ttmlir.errors import plural
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import late_board, plain_capabilities, plain_table
from ttmlir.layout.system import system_desc_to_table
from ttmlir.limits import MAX_CALL_DEPTH, MAX_CHIPS
from ttmlir.runtime.binary import (
    Binary,
    BinaryProgram,
    GoldenTensors,
    Operation,
    Table,
    TensorRef,
    number_tensors,
    require,
)
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.records_2026 import CALLS, translate
from ttmlir.runtime.tensor import Array, TensorDesc
from ttmlir.runtime.tensors_2026 import read_array, read_desc
from ttmlir.runtime.traces_2026 import LAUNCH, Recording, find_recording, written_inputs
from ttmlir.terminal import shown_name


@dataclass(frozen=True)
class Program2026(BinaryProgram):
    """A function of a file of 2026."""

    @property
    def file(self) -> Binary2026:
        """The file that it is in."""
        assert isinstance(self.binary, Binary2026), "its programs are of its own kind"
        return self.binary

    @cached_property
    def records(self) -> tuple[Operation, ...]:
        """Operations as the file has them."""
        return tuple(
            self._operation(i, table) for i, table in enumerate(self._table["operations"] or ())
        )

    @property
    def mesh(self) -> tuple[int, int]:
        """Rows and columns of the devices that it runs on; BinaryError for too many."""
        shape = self._table["mesh_shape"]
        rows, columns = (1, 1) if shape is None else (max(1, int(shape.y)), max(1, int(shape.x)))
        if rows * columns > MAX_CHIPS:
            raise BinaryError(
                f"{self.where}: is for a mesh of {rows}x{columns} devices; at most {MAX_CHIPS} run"
            )
        return rows, columns

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Operations in the order in which they run, as the executor knows them."""
        return translate(self, self.records, self.file)

    @cached_property
    def inputs(self) -> tuple[TensorRef, ...]:
        """Tensors to be given when the program runs."""
        refs, written = self._refs("inputs"), self._written
        return tuple(ref for number, ref in enumerate(refs) if number not in written)

    @cached_property
    def outputs(self) -> tuple[TensorRef, ...]:
        """Tensors that the program computes; those of a recording are inputs that it writes."""
        refs = self._refs("inputs")
        return *self._refs("outputs"), *(refs[number] for number in self._written)

    @cached_property
    def _written(self) -> tuple[int, ...]:
        return written_inputs(self._table)

    @property
    def record_titles(self) -> tuple[str, ...]:
        """The kinds of the operations that the file holds, in their order."""
        return tuple(record.title for record in self.records)

    def debug_sources(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each source form in the debug information: MLIR, then C++."""
        debug = self._table["debug_info"]
        module = self.binary.view["mlir"]
        stages = [module] if module is not None else []
        stages += [] if debug is None else debug["mlir_stages"] or ()
        sources = [(stage["name"] or "mlir", stage["source"] or "") for stage in stages]
        if debug is not None and debug["cpp"]:
            sources.append(("cpp", debug["cpp"]))
        return tuple(sources)

    @cached_property
    def golden(self) -> GoldenTensors | None:
        """Inputs and outputs of a reference run that the file holds; None if it holds none."""
        debug = self._table["debug_info"]
        info = None if debug is None else debug["golden_info"]
        if info is None:
            return None
        where = f"{self.where}: golden_info"
        tensors: dict[str, Array] = {}
        for entry in info["golden_map"] or ():
            shown = f"{where}: '{shown_name(entry['key'] or '')}'"
            parts = require(entry, "value", where)
            if len(parts) != 1:
                raise UnsupportedError(
                    f"{shown} has {plural(len(parts), 'part')} for several devices; programs run "
                    "on one"
                )
            tensors[entry["key"] or ""] = _read_golden(require(parts[0], "value", shown), shown)
        found = GoldenTensors(
            inputs=number_tensors(tensors, "input"), outputs=number_tensors(tensors, "output")
        )
        return found if found.outputs else None


@dataclass(eq=False, repr=False)
class Binary2026(Binary):
    """A loaded `.ttnn` file of 2026."""

    PROGRAM: ClassVar[type[BinaryProgram]] = Program2026
    UNSAID: ClassVar[tuple[str, ...]] = ("physical_cores", "supported_data_types")
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    """Number of the function of each program that is called."""

    @property
    def schema_hash(self) -> str:
        """Digest of the schema that the file was written with."""
        return self.view["schema_hash"] or ""

    @property
    def _tables(self) -> tuple[Table, ...]:
        return self.view["programs"] or ()

    @cached_property
    def programs(self) -> tuple[BinaryProgram, ...]:
        """Programs in the order of the file, without those that are private."""
        public = [table for table in self._tables if not table["private"]]
        return tuple(
            Program2026(i, table["name"] or "", self, table) for i, table in enumerate(public)
        )

    @cached_property
    def functions(self) -> tuple[BinaryProgram, ...]:
        """The programs that operations call, those that are called by others before these."""
        order = tuple(self._called())
        self.numbers.update((place, number) for number, place in enumerate(order))
        return tuple(
            Program2026(
                number,
                self._tables[place]["name"] or "",
                self,
                self._tables[place],
                is_function=True,
            )
            for number, place in enumerate(order)
        )

    def function_number(self, place: int, where: str) -> int:
        """Number of the function that stands at a place of the file's programs."""
        # The numbers are known with the functions.
        if not self.functions or place not in self.numbers:
            raise BinaryError(
                f"{where}: calls program {place}, but the file has {len(self._tables)}"
            )
        return self.numbers[place]

    def recording(self, record: Operation) -> Recording:
        """What a launch of a recording calls."""
        return find_recording(self._tables, record.fields, record.where)

    def program_of_host(self, name: str) -> int | None:
        """Place of the program that stands for a function of the host; None if there is none."""
        return self._host_programs.get(name.removesuffix("_helper"))

    @cached_property
    def _host_programs(self) -> dict[str, int]:
        tables = enumerate(self._tables)
        return {table["name"] or "": place for place, table in tables if table["private"]}

    def _called(self) -> Iterator[int]:
        """Places of the programs that are called, callees first; BinaryError for recursion."""
        calls = [tuple(dict.fromkeys(self._calls_of(table))) for table in self._tables]
        done: set[int] = set()
        public = (
            callees
            for table, callees in zip(self._tables, calls, strict=True)
            if not table["private"]
        )
        for start in {callee: None for callees in public for callee in callees}:
            path: list[tuple[int, Iterator[int]]] = []
            if start not in done:
                path.append((start, iter(calls[start])))
            while path:
                place, rest = path[-1]
                callee = next(rest, None)
                if callee is None:
                    path.pop()
                    done.add(place)
                    yield place
                elif any(callee == other for other, _ in path):
                    name = shown_name(self._tables[callee]["name"] or "")
                    raise BinaryError(f"{self.source}: program {callee} '{name}' calls itself")
                elif callee not in done:
                    if len(path) >= MAX_CALL_DEPTH:
                        raise BinaryError(
                            f"{self.source}: calls nest more than {MAX_CALL_DEPTH} deep"
                        )
                    path.append((callee, iter(calls[callee])))

    def _calls_of(self, table: Table) -> Iterator[int]:
        for operation in table["operations"] or ():
            for place in self._callees(operation["type_type"], operation["type"]):
                if not 0 <= place < len(self._tables):
                    name = shown_name(table["name"] or "")
                    raise BinaryError(
                        f"{self.source}: program '{name}' calls program {place}, but the file has "
                        f"{len(self._tables)}"
                    )
                yield place

    def _callees(self, kind: str, fields: Table | None) -> tuple[int, ...]:
        if fields is None:
            return ()
        if kind == LAUNCH:
            try:
                return (find_recording(self._tables, fields, self.source).place,)
            except UnsupportedError:
                # Refused where it is to run.
                return ()
        if kind == "CpuOp":
            place = self.program_of_host(fields["func_name"] or "")
            return () if place is None else (place,)
        return CALLS[kind](fields) if kind in CALLS else ()

    def tensor_desc(self, table: Table, where: str) -> TensorDesc:
        """The description that a `TensorDesc` table holds."""
        desc = self._descs.get(table)
        if desc is None:
            desc = self._descs[table] = read_desc(table, where)
        return desc

    def constant_of(self, table: Table, desc: TensorDesc, where: str) -> Array | None:
        """None: constants are in their operations."""
        return None

    @property
    def comparable_system(self) -> Mapping[str, Any] | None:
        """The system that the file was compiled for, as a `SystemDesc` table of 2024."""
        if self.system_desc is None:
            return None
        try:
            return plain_table(self.system_desc)
        except LayoutError as error:
            raise BinaryError(f"{self.source}: {error}") from error

    @staticmethod
    def describe_board(name: str) -> dict[str, Any]:
        """The board as the compiler of 2026 describes it, as a `SystemDesc` table of 2024."""
        system = late_board(name)
        capabilities = plain_capabilities(system.chip_capabilities)
        return system_desc_to_table(system) | {"chip_capabilities": capabilities}


def _read_golden(table: Table, where: str) -> Array:
    shape = tuple(int(extent) for extent in table["shape"] or ())
    return read_array(require(table, "data", where), table["dtype"], shape, where)
