"""What is known about the bytes of a memory: who wrote them, who read them since.

Bytes with the same history share a cell. Cells follow the accesses: an access to exactly the bytes
of a cell, such as a page of a circular buffer, costs one dictionary look-up however large it is;
any other one splits the cells at its ends, and a write leaves one cell behind. So histories are
exact to the byte, and memory that nobody touched costs nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from ttmlir.sim.sanitizer.vector_clock import Actor

Mark = tuple[CodeType, int] | None
"""Where in a kernel an access was made: its code and the offset of the instruction."""


class Conflict(NamedTuple):
    """An earlier access that is not ordered before the present one; bytes `start` to `end`."""

    writes: bool
    actor: Actor
    time: int
    mark: Mark
    start: int
    end: int


class Unwritten(NamedTuple):
    """Bytes `start` to `end` are read but nobody has written them."""

    start: int
    end: int


Read = tuple[int, Mark]


class Cell:
    """Bytes `start` to `end` with one history: the last write, and the reads since.

    Most cells have one reader; `readers` holds those beyond it, by actor.
    """

    __slots__ = (
        *("end", "read_mark", "read_time", "reader", "readers", "start"),
        *("write_mark", "write_time", "writer"),
    )

    def __init__(self, start: int, end: int) -> None:
        """Bytes that nobody has touched."""
        self.start = start
        self.end = end
        self.writer: Actor | None = None
        self.write_time = 0
        self.write_mark: Mark = None
        self.reader: Actor | None = None
        self.read_time = 0
        self.read_mark: Mark = None
        self.readers: dict[Actor, Read] | None = None

    def split(self, at: int) -> Cell:
        """Keep the bytes before `at` and return a cell with the others."""
        other = Cell(at, self.end)
        self.end = at
        other.writer = self.writer
        other.write_time = self.write_time
        other.write_mark = self.write_mark
        other.reader = self.reader
        other.read_time = self.read_time
        other.read_mark = self.read_mark
        other.readers = None if self.readers is None else dict(self.readers)
        return other

    def same_history(self, other: Cell) -> bool:
        """True if the two cells could be one."""
        return (
            self.writer is other.writer
            and self.write_time == other.write_time
            and self.reader is other.reader
            and self.read_time == other.read_time
            and self.write_mark == other.write_mark
            and self.read_mark == other.read_mark
            and self.readers == other.readers
        )

    def written(self, actor: Actor, mark: Mark) -> None:
        """Note a write; the reads before it need not be known any longer."""
        self.writer = actor
        self.write_time = actor.time
        self.write_mark = mark
        self.reader = None
        self.read_time = 0
        self.read_mark = None
        self.readers = None

    def was_read(self, actor: Actor, mark: Mark) -> None:
        """Note a read; it stands for earlier ones that it is ordered behind."""
        reader = self.reader
        if reader is not None and reader is not actor and not actor.sees(reader, self.read_time):
            if self.readers is None:
                self.readers = {}
            self.readers[reader] = (self.read_time, self.read_mark)
        self.reader = actor
        self.read_time = actor.time
        self.read_mark = mark

    def read_conflict(self, actor: Actor) -> Conflict | Unwritten | None:
        """What forbids the actor to read these bytes."""
        writer = self.writer
        if writer is None:
            return Unwritten(self.start, self.end)
        if actor.knows.view[writer.index] >= self.write_time or actor.sees(writer, self.write_time):
            return None
        return Conflict(True, writer, self.write_time, self.write_mark, self.start, self.end)

    def write_conflict(self, actor: Actor) -> Conflict | None:
        """What forbids the actor to write these bytes."""
        writer = self.writer
        if writer is not None and not actor.sees(writer, self.write_time):
            return Conflict(True, writer, self.write_time, self.write_mark, self.start, self.end)
        if self.reader is None:
            return None
        if self.readers is None and actor.knows.view[self.reader.index] >= self.read_time:
            return None
        for reader, time, mark in self.reads():
            if not actor.sees(reader, time):
                return Conflict(False, reader, time, mark, self.start, self.end)
        return None

    def read(self, actor: Actor, mark: Mark) -> Conflict | Unwritten | None:
        """Note a read; what forbids it."""
        view = actor.knows.view
        writer = self.writer
        wrong = None
        if writer is None or view[writer.index] < self.write_time:
            wrong = self.read_conflict(actor)
        reader = self.reader
        if reader is None or reader is actor or view[reader.index] >= self.read_time:
            self.reader = actor
            self.read_time = actor.time
            self.read_mark = mark
        else:
            self.was_read(actor, mark)
        return wrong

    def write(self, actor: Actor, mark: Mark) -> Conflict | None:
        """Note a write; what forbids it."""
        conflict = self.write_conflict(actor)
        self.written(actor, mark)
        return conflict

    def reads(self) -> Iterator[tuple[Actor, int, Mark]]:
        """The reads since the last write that no other known read stands for."""
        if self.reader is not None:
            yield self.reader, self.read_time, self.read_mark
        if self.readers is not None:
            for reader, (time, mark) in self.readers.items():
                yield reader, time, mark


class Shadow:
    """The cells of one memory, which do not overlap."""

    __slots__ = ("_cells", "_starts")

    def __init__(self) -> None:
        """Nobody has touched the memory."""
        self._cells: dict[int, Cell] = {}
        self._starts: list[int] = []

    def cell(self, address: int, end: int) -> Cell | None:
        """The cell of exactly these bytes, which those of an access before have."""
        cell = self._cells.get(address)
        return cell if cell is not None and cell.end == end else None

    def write(self, address: int, size: int, actor: Actor, mark: Mark) -> Conflict | None:
        """Note a write; the first conflict, if there is one."""
        end = address + size
        cell = self._cells.get(address)
        if cell is not None and cell.end == end:
            return cell.write(actor, mark)
        conflict = None
        position = bisect_left(self._starts, address)
        if self._untouched(position, address, end):
            self._starts.insert(position, address)
            cell = self._cells[address] = Cell(address, end)
            cell.written(actor, mark)
        else:
            for cell in self._carve(address, end):
                conflict = conflict or cell.write_conflict(actor)
            self._unite(address, end).written(actor, mark)
        self._join_left(address)
        return conflict

    def preset(self, address: int, size: int, actor: Actor) -> None:
        """Note a write that nothing can be wrong with; it keeps a cell of its own.

        The host writes tensors page by page, and kernels use them page by page.
        """
        cell = self._unite(address, address + size)
        cell.written(actor, None)

    def read(
        self, address: int, size: int, actor: Actor, mark: Mark
    ) -> Conflict | Unwritten | None:
        """Note a read; what forbids it: the first conflict, or bytes that nobody has written."""
        end = address + size
        cell = self._cells.get(address)
        if cell is not None and cell.end == end:
            return cell.read(actor, mark)
        first: Conflict | Unwritten | None = None
        for cell in self._carve(address, end):
            conflict = cell.read(actor, mark)
            if first is None or (isinstance(first, Unwritten) and isinstance(conflict, Conflict)):
                first = conflict
        self._join_left(address)
        return first

    def forget(self, address: int, size: int) -> None:
        """Nobody has touched these bytes: what a freed buffer leaves behind is worth nothing."""
        end = address + size
        self._carve(address, end)
        first, last = self._between(address, end)
        for start in self._starts[first:last]:
            del self._cells[start]
        del self._starts[first:last]

    def settle(self) -> None:
        """No access so far can race with a later one: forget the readers."""
        for cell in self._cells.values():
            cell.reader = None
            cell.read_time = 0
            cell.read_mark = None
            cell.readers = None

    def gaps(self, address: int, end: int) -> Iterator[tuple[int, int]]:
        """Bytes that nobody has written, from the first one on."""
        at = address
        for cell in self._touching(address, end):
            if cell.writer is None:
                continue
            if cell.start > at:
                yield at, cell.start
            at = cell.end
        if at < end:
            yield at, end

    def is_written(self, address: int, end: int) -> bool:
        """Whether all bytes were written."""
        return next(self.gaps(address, end), None) is None

    def is_written_before(self, address: int, size: int, actor: Actor) -> bool:
        """Whether all bytes were written, by writes that are ordered before the actor."""
        at = address
        for cell in self._touching(address, address + size):
            if cell.start > at or cell.read_conflict(actor) is not None:
                return False
            at = cell.end
        return at >= address + size

    def writing(self, address: int, size: int, agent: Actor) -> Cell | None:
        """Bytes of this range that the agent's copies, not waited for, write."""
        known = agent.knows.view[agent.index]
        for cell in self._touching(address, address + size):
            if cell.writer is agent and cell.write_time > known:
                return cell
        return None

    def reading(self, address: int, size: int, agent: Actor) -> tuple[Cell, Mark] | None:
        """Bytes of this range that the agent's copies, not waited for, read, and where from."""
        known = agent.knows.view[agent.index]
        for cell in self._touching(address, address + size):
            for reader, time, mark in cell.reads():
                if reader is agent and time > known:
                    return cell, mark
        return None

    def cells(self) -> Iterator[Cell]:
        """All cells by address."""
        return (self._cells[start] for start in self._starts)

    def _untouched(self, position: int, address: int, end: int) -> bool:
        """True if no cell has any of the bytes; `position` is where one with them would be."""
        starts = self._starts
        if position and self._cells[starts[position - 1]].end > address:
            return False
        return position == len(starts) or starts[position] >= end

    def _between(self, address: int, end: int) -> tuple[int, int]:
        """The range of positions in `_starts` of cells that start in [address, end)."""
        first = bisect_left(self._starts, address)
        return first, bisect_left(self._starts, end, first)

    def _touching(self, address: int, end: int) -> Iterator[Cell]:
        first, last = self._between(address, end)
        if first and self._cells[self._starts[first - 1]].end > address:
            first -= 1
        return (self._cells[start] for start in self._starts[first:last])

    def _carve(self, address: int, end: int) -> list[Cell]:
        """Cells that cover exactly these bytes."""
        if address >= end:
            return []
        self._cut(address)
        self._cut(end)
        first, last = self._between(address, end)
        cells: list[Cell] = []
        at = address
        for start in self._starts[first:last]:
            if at < start:
                cells.append(Cell(at, start))
            cells.append(self._cells[start])
            at = cells[-1].end
        if at < end:
            cells.append(Cell(at, end))
        if len(cells) != last - first:
            self._starts[first:last] = [cell.start for cell in cells]
            self._cells.update((cell.start, cell) for cell in cells)
        return cells

    def _cut(self, at: int) -> None:
        """Let a cell end at `at` if one reaches over it."""
        position = bisect_right(self._starts, at) - 1
        if position < 0:
            return
        cell = self._cells[self._starts[position]]
        if cell.start < at < cell.end:
            self._cells[at] = cell.split(at)
            self._starts.insert(position + 1, at)

    def _unite(self, address: int, end: int) -> Cell:
        """One cell for exactly these bytes."""
        self._cut(address)
        self._cut(end)
        first, last = self._between(address, end)
        for start in self._starts[first:last]:
            del self._cells[start]
        self._starts[first:last] = [address]
        cell = self._cells[address] = Cell(address, end)
        return cell

    def _join_left(self, address: int) -> None:
        """Make one cell of the one that starts there and the one before it if they are alike."""
        position = bisect_left(self._starts, address)
        cell = self._cells[address]
        left = self._cells[self._starts[position - 1]] if position else None
        if left is not None and left.end == address and left.same_history(cell):
            left.end = cell.end
            del self._cells[address]
            del self._starts[position]
