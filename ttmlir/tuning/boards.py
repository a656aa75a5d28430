"""`ttmlir.compare_boards`: how long a model would take on boards, for several batch sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttmlir.compiler import SPELLINGS, find_spelling
from ttmlir.cost import Estimate
from ttmlir.errors import CompilationError
from ttmlir.files import write_file
from ttmlir.frontend.dispatch import Example, compile, keywords_of, plan_examples
from ttmlir.frontend.summary import ModelPlot, align_left, draw
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.system_desc import find_system
from ttmlir.terminal import ShownAsText, show_wait
from ttmlir.tuning.shardings import tune_shardings

if TYPE_CHECKING:
    from ttmlir.frontend.compiled import CompiledModel
    from ttmlir.frontend.dispatch import BucketsByName

BOARDS = ("n150", "p150", "n300", "t3000")
_HEAD = ("board", "mesh", "size", "us", "per second", "limited by", "GB of DRAM", "fits")


@dataclass(frozen=True, kw_only=True)
class BoardTime:
    """A model on a board, for one size."""

    board: str
    mesh: tuple[int, int]
    """The devices that it is divided over, of those of the board: the fastest that were tried."""
    size: tuple[int, ...]
    """Those of `buckets`; empty without."""
    estimate: Estimate | None = field(default=None, repr=False)
    """None if the compiler refuses the model."""
    problem: str = ""

    @property
    def fits(self) -> bool:
        """True if the memory of each device is large enough."""
        memory = None if self.estimate is None else self.estimate.memory
        return memory is not None and memory.fits

    @property
    def per_second(self) -> float:
        """Times the first size; calls without one."""
        assert self.estimate is not None, "what is refused has no rate"
        return self.estimate.rate(self.size[0] if self.size else 1).per_second

    @property
    def cells(self) -> Sequence[str]:
        """The row of a table; of what is refused, the reason."""
        mesh, size = "x".join(map(str, self.mesh)), ", ".join(map(str, self.size))
        estimate = self.estimate
        if estimate is None or estimate.memory is None:
            return (self.board, mesh, size, self.problem)
        bound, share = max(
            estimate.bounds.items(), key=lambda each: each[1], default=("nothing", 1.0)
        )
        dram = estimate.memory.dram
        return (
            *(self.board, mesh, size, f"{estimate.total.mid / 1e3:,.1f}"),
            *(f"{self.per_second:,.1f}", f"{bound} {share:.0%}"),
            f"{dram.total_bytes / 1e9:,.2f} of {dram.capacity * dram.banks / 1e9:,.1f}",
            "yes" if self.fits else "no",
        )


@dataclass(frozen=True, kw_only=True)
class BoardComparison(ShownAsText):
    """Times of a model on boards; printed as a table."""

    name: str
    rows: Sequence[BoardTime]

    def __str__(self) -> str:
        """A row for each board and size."""
        rows = align_left([_HEAD, *(each.cells for each in self.rows)])
        return "\n".join([f"{self.name}, by the estimate", *rows])

    __repr__ = __str__

    def write(self, path: str | Path) -> Path:
        """Write the table as `.csv`."""
        if Path(path).suffix != ".csv":
            raise InputError(f"{path}: a comparison is written as .csv")
        lines = (
            ",".join(f'"{cell}"' if "," in cell else cell for cell in row)
            for row in (_HEAD, *(each.cells for each in self.rows))
        )
        write_file(path, "".join(f"{line}\n" for line in lines).encode())
        return Path(path)

    def plot(self) -> ModelPlot:
        """The time of each board over the sizes; ImportError without matplotlib."""

        def fill(axes: Any) -> None:
            for board in dict.fromkeys(each.board for each in self.rows):
                found = [each for each in self.rows if each.board == board and each.fits]
                times = [each.estimate.total.mid / 1e3 for each in found if each.estimate]
                sizes = [each.size[0] if each.size else 1 for each in found]
                axes.plot(sizes, times, marker="o", label=board)
            axes.set(xscale="log", yscale="log", xlabel="size", ylabel="us")
            axes.legend(fontsize="small")

        return draw(self.name, "drawing a comparison", (fill,))


def compare_boards(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    boards: Sequence[str] = BOARDS,
    buckets: BucketsByName | None = None,
    resident: str | Sequence[str] = (),
    options: str = "",
    spelling: str | None = None,
    budget: int = 24,
) -> BoardComparison:
    """Compile a model for boards and sizes, and compare the estimates; nothing runs.

        print(ttmlir.compare_boards(model, x, buckets={"x": {0: (1, 8, 64)}}))

    `model`, its examples, `buckets`, `resident`, `options` and `spelling` are as in
    `ttmlir.compile`. Models of JAX and StableHLO are divided over boards of several chips as
    `ttmlir.tune_shardings` finds best with a `budget` of so many programs, unless the options say
    `spelling="2024"`, which has no such programs; others are taken to run on one of the chips. What
    the compiler refuses is a row with the reason. InputError for boards that there are not.
    """
    kwargs = keywords_of(example_kwargs)
    examples = {(): Example(model, *example_args, **kwargs)}
    if buckets is not None:
        plan, by_name = plan_examples(model, example_args, kwargs, buckets)
        examples = dict(zip(plan.choices, by_name.values(), strict=True))
    names, rows = list[str](), list[BoardTime]()
    with show_wait("comparing boards", len(boards)) as advance:
        for board in boards:
            for size, example in examples.items():
                try:
                    compiled = compile(
                        example.model,
                        *example.args,
                        example_kwargs=example.kwargs,
                        board=board,
                        options=options,
                        spelling=spelling,
                        resident=resident,
                    )
                except CompilationError as error:
                    problem = error.diagnostics[0].message
                    rows.append(BoardTime(board=board, mesh=(1, 1), size=size, problem=problem))
                    continue
                names.append(compiled.name)
                may_divide = find_spelling(options, spelling) != SPELLINGS[0]
                mesh, estimate = _divide(compiled, board, budget if may_divide else 0)
                rows.append(BoardTime(board=board, mesh=mesh, size=size, estimate=estimate))
            advance()
    name = names[0] if names else getattr(model, "__name__", type(model).__name__)
    return BoardComparison(name=name, rows=tuple(rows))


def _divide(compiled: CompiledModel, board: str, budget: int) -> tuple[tuple[int, int], Estimate]:
    """The mesh that is best, and the estimate for it; as compiled without a budget."""
    estimate = compiled.estimate(board)
    is_fixed = math.prod(estimate.mesh) > 1 or not budget
    if is_fixed or compiled.source.stage != "stablehlo" or find_system(board).num_chips == 1:
        rows, columns = estimate.mesh
        return (rows, columns), estimate
    best = tune_shardings(compiled, board=board, budget=budget).best
    assert best.estimate is not None, "a model that compiles for one device has an estimate"
    return best.mesh, best.estimate
