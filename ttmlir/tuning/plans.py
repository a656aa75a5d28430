"""`ttmlir.tune_plan`: a search for the mesh and the plan with which a torch model is fastest.

A plan is what `torch.distributed.tensor.parallel.parallelize_module` takes. Linear layers beside
each other are divided together: the last of a module by rows, those before it by columns, so that
what is between them stays in parts; one alone by columns, embeddings by rows. Then sequences are
divided between these layers. Of layers that are alike all get the same styles, and two of them say
what all take. Each candidate is compiled and estimated, and torch runs it on all devices of this
process: plans that change what the model computes are left out. Of a model without numbers that is
seen with random ones, of one layer of those that are alike.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ttmlir.errors import CompilationError, plural
from ttmlir.files import write_file
from ttmlir.frontend.dispatch import compile
from ttmlir.frontend.summary import align_left
from ttmlir.frontend.torch.distributed.virtual_devices import virtual_devices
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.system_desc import find_system
from ttmlir.terminal import show_wait
from ttmlir.tuning.sequences import (
    COLUMNS,
    ROWS,
    ModuleCall,
    Plan,
    divide_sequences,
    pattern,
    recording,
)

if TYPE_CHECKING:
    from ttmlir.cost import Estimate

AXES = ("data", "model")
"""The axes of the meshes that are tried: rows, columns."""
Mesh = tuple[int, int]

_NAMES = re.compile(r"\b[A-Z]\w+(?=\()")
_ALONE = "ColwiseParallel(output_layouts=Replicate())"
_TABLE = "RowwiseParallel(input_layouts=Replicate())"


@dataclass(frozen=True, kw_only=True)
class PlanTrial:
    """A mesh and a plan, and what became of them."""

    mesh: Mesh
    plan: Plan = field(repr=False)
    nanoseconds: float = math.inf
    """Of a call, by the estimate; infinite for what is refused, or computes something else."""
    exchanges: float = 0.0
    fits: bool = False
    """True if the memory of each device is large enough."""
    problem: str = ""

    @property
    def rank(self) -> tuple[bool, float]:
        """What is smaller is better: what fits before what does not, then the time."""
        return not self.fits, self.nanoseconds


@dataclass(frozen=True, kw_only=True)
class PlanReport:
    """What a search for a plan has found; printed as a table."""

    name: str
    board: str
    best: PlanTrial
    by_mesh: Sequence[PlanTrial] = field(repr=False)
    """The best of each mesh, one device first."""
    trials: int
    """How many candidates there were."""

    @property
    def mesh(self) -> Mesh:
        """Rows (`data`) and columns (`model`) of devices."""
        return self.best.mesh

    @property
    def plan(self) -> dict[str, Any]:
        """The styles by names of modules, for `parallelize_module(model, mesh["model"], plan)`."""
        return _styles(self.best.plan)

    def divide(self, model: Any, *args: Any) -> tuple[Any, ...]:
        """A module of all devices and its arguments, for `ttmlir.compile`, in a block of
        `ttmlir.virtual_devices`; the model itself is divided by the plan."""
        divided, arguments = _divide(model, self.mesh, self.best.plan, args)
        return divided, *arguments

    @property
    def python(self) -> str:
        """The mesh and the plan as Python for torch."""
        names = {each for style in self.best.plan.values() for each in _NAMES.findall(style)}
        places = sorted(names & {"Replicate", "Shard"})
        kinds = sorted(names - {*places})
        lines = [
            f"# {self.name} on {self.board}: {_microseconds(self.best)} us by the estimate.",
            "from torch.distributed.device_mesh import init_device_mesh",
            *([f"from torch.distributed.tensor import {', '.join(places)}"] if places else []),
            "from torch.distributed.tensor.parallel import (",
            *(f"    {each}," for each in sorted({*kinds, "parallelize_module"}, key=str.lower)),
            ")",
            "",
            "",
            "def divide(model):",
            f'    mesh = init_device_mesh("cpu", {self.mesh}, mesh_dim_names={AXES})',
            "    plan = {",
            *(f"        {name!r}: {style}," for name, style in self.best.plan.items()),
            "    }",
            '    return parallelize_module(model, mesh["model"], plan), mesh',
        ]
        return "\n".join(lines) + "\n"

    def write(self, path: str | Path) -> Path:
        """Write the mesh and the plan as Python for torch (`.py`)."""
        if Path(path).suffix != ".py":
            raise InputError(f"{path}: a plan is written as .py")
        write_file(path, self.python.encode())
        return Path(path)

    def __str__(self) -> str:
        """A row for each mesh, then the plan of the fastest one."""
        rows = [("mesh", "divided", "us", "exchanges", "gain", "fits")]
        first = self.by_mesh[0].nanoseconds
        for each in self.by_mesh:
            rows.append(
                (
                    "x".join(map(str, each.mesh)),
                    plural(len(each.plan), "module"),
                    _microseconds(each),
                    f"{each.exchanges / 1e3:,.1f}",
                    f"{first / each.nanoseconds:.2f}",
                    "yes" if each.fits else "no",
                )
            )
        lines = [
            f"{self.name} on {self.board}: {plural(self.trials, 'candidate')}",
            *align_left(rows),
            f"  fastest: {'x'.join(map(str, self.mesh))} devices as (data, model)",
        ]
        lines += [f"  {name}: {style}" for name, style in self.best.plan.items()]
        return "\n".join(lines)


def tune_plan(
    model: Any,
    *example_args: Any,
    board: str = "t3000",
    meshes: Sequence[Mesh] = (),
    budget: int = 40,
) -> PlanReport:
    """Search the mesh and the plan with which a torch model takes least time on a board.

        report = ttmlir.tune_plan(model, x, board="t3000")
        parallelize_module(model, mesh["model"], report.plan)

    `model` is a `torch.nn.Module`, with numbers or on the device `meta`, whose first argument has
    batches in its first dimension: they lie over the rows of the mesh. `meshes` are those to try,
    by default all of as many devices as the board has; `budget` is the number of candidates.

    InputError for what is no module, for arguments that do not begin with a tensor, and for meshes
    that are no pairs or too large.
    """
    torch: Any = import_module("torch")
    if not isinstance(model, torch.nn.Module):
        raise InputError(
            f"a {type(model).__name__} is no torch.nn.Module, whose plan is searched: "
            "ttmlir.tune_shardings searches for functions of JAX and StableHLO"
        )
    if torch.distributed.is_initialized():
        raise InputError("the search opens devices of its own: call it outside of their block")
    if not (example_args and isinstance(example_args[0], torch.Tensor)):
        raise InputError(
            "plans are compared by what a call computes: give its arguments, of which the first "
            "is a tensor with batches in its first dimension"
        )
    count = find_system(board).num_chips
    for mesh in meshes:
        pair: Any = mesh
        if not isinstance(pair, list | tuple) or [*map(type, cast("Mesh", pair))] != [int, int]:
            raise InputError(
                f"meshes are pairs of rows and columns, such as [(1, 2), (2, 4)]; {pair!r} is none"
            )
    tried = [(rows, columns) for rows, columns in meshes] or [
        (n, count // n) for n in range(1, count + 1) if count % n == 0
    ]
    for mesh in tried:
        if math.prod(mesh) > count or min(mesh) < 1:
            shape = "x".join(map(str, mesh))
            raise InputError(f"a mesh of {shape} devices is none of {board}, which has {count}")
    search = _Search(model, example_args, board, budget)
    others = [each for each in tried if each != (1, 1)]
    with show_wait(f"tuning the plan of {type(model).__name__}", 1 + len(others)) as advance:
        found = list[PlanTrial]()
        for mesh in ((1, 1), *others):
            found.append(search.search(mesh))
            advance()
    able = [each for each in found if each.nanoseconds < math.inf]
    if not able:
        raise InputError(f"no mesh takes the model: {found[0].problem}")
    return PlanReport(
        name=type(model).__name__,
        board=board,
        best=min(able, key=lambda trial: trial.rank),
        by_mesh=able,
        trials=search.count,
    )


def _microseconds(trial: PlanTrial) -> str:
    return f"{trial.nanoseconds / 1e3:,.1f}"


def _styles(plan: Plan) -> dict[str, Any]:
    """The styles that texts of this package spell."""
    known: dict[str, Any] = {**vars(import_module("torch.distributed.tensor.parallel"))}
    known |= vars(import_module("torch.distributed.tensor"))
    return {name: eval(style, known) for name, style in plan.items()}


# --- Search ---------------------------------------------------------------------------------------


def _form(module: Any) -> str:
    """What modules that are alike have in common."""
    shapes: dict[str, Any] = {key: value.shape for key, value in module.state_dict().items()}
    return f"{type(module)} {shapes}"


@dataclass
class _Search:
    model: Any
    arguments: Sequence[Any]
    board: str
    budget: int
    count: int = 0

    def __post_init__(self) -> None:
        """Find what is divided together, and layers that are alike."""
        torch: Any = import_module("torch")
        self._moves = self._find_moves(torch)
        self._layers = self._find_layers(torch)

    def _find_moves(self, torch: Any) -> list[Plan]:
        """What is divided together, in all layers alike."""
        groups = dict[str, dict[str, str]]()
        for name, module in self.model.named_modules():
            linear = [
                f"{name}.{own}" if name else own
                for own, each in module.named_children()
                if type(each) is torch.nn.Linear
            ]
            tables = [
                f"{name}.{own}" if name else own
                for own, each in module.named_children()
                if type(each) is torch.nn.Embedding
            ]
            group = groups.setdefault(pattern(name), {})
            if len(linear) > 1:
                group |= {**dict.fromkeys(linear[:-1], COLUMNS), linear[-1]: ROWS}
            elif linear:
                group[linear[0]] = _ALONE
            for table in tables:
                groups.setdefault(pattern(table), {})[table] = _TABLE
        return [group for group in groups.values() if group]

    def _find_layers(self, torch: Any) -> str:
        """The name of the longest list of three or more layers that are alike; empty for none."""
        found = dict[str, int]()
        for name, module in self.model.named_modules():
            layers: list[Any] = [*module] if isinstance(module, torch.nn.ModuleList) else []
            forms = {_form(each) for each in layers}
            if len(forms) == 1 and len(layers) > 2:
                found[name] = len(layers)
        return max(found, key=lambda name: found[name], default="")

    def search(self, mesh: Mesh) -> PlanTrial:
        """The best plan for a mesh."""
        best = self._try(mesh, {})
        if mesh[1] == 1:
            return best
        for move in self._moves:
            if self.count >= self.budget:
                break
            trial = self._try(mesh, {**best.plan, **move})
            best = min(best, trial, key=lambda each: each.rank)
        divided = divide_sequences(self.model, best.plan, self._calls, self._layers)
        if divided and self.count < self.budget:
            best = min(best, self._try(mesh, divided), key=lambda each: each.rank)
        return best

    def _try(self, mesh: Mesh, plan: Plan) -> PlanTrial:
        self.count += 1
        whole = len(self.model.get_submodule(self._layers)) if self._layers else 0
        counts = (1, 2) if whole else (whole,)
        try:
            # What one layer computes right two do.
            times = [self._estimate(mesh, plan, n, is_run=n == counts[0]) for n in counts]
        except (CompilationError, ValueError, RuntimeError, AssertionError) as error:
            return PlanTrial(mesh=mesh, plan=plan, problem=str(error).partition("\n")[0])
        first, last = times[0], times[-1]
        if math.inf in (first[0], last[0]):
            problem = "the model computes something else with this plan"
            return PlanTrial(mesh=mesh, plan=plan, problem=problem)
        more = max(0, whole - 1)
        time, exchanges, size = (
            one + more * (two - one) for one, two in zip(first, last, strict=True)
        )
        return PlanTrial(
            mesh=mesh, plan=plan, nanoseconds=time, exchanges=exchanges, fits=size <= 1
        )

    def _estimate(
        self, mesh: Mesh, plan: Plan, layers: int, *, is_run: bool
    ) -> tuple[float, float, float]:
        """Nanoseconds, those of exchanges, and the share of memory, of so many layers of a list."""
        torch: Any = import_module("torch")
        model = self._shortened(layers)
        leaves: Callable[[Any], list[Any]] = torch.utils._pytree.tree_leaves
        if mesh == (1, 1):
            # As programs of several devices are compiled, so that their times are comparable.
            compiled = compile(
                model, *self._given, board=self.board, weights="arguments", spelling="2026"
            )
            return _figures(compiled.estimate(self.board))
        arguments = self._numbered_arguments if is_run else self._given
        with virtual_devices(math.prod(mesh)):
            given = _numbered(model) if is_run else model
            divided, spread = _divide(given, mesh, plan, arguments)
            compiled = compile(divided, *spread, board=self.board, weights="arguments")
            found: list[Any] = leaves(compiled.reference(*arguments)) if is_run else []
        expected = self._expected if is_run else []
        agrees = len(found) == len(expected) and all(map(_agree, found, expected))
        return _figures(compiled.estimate(self.board)) if agrees else _WRONG

    @property
    def _expected(self) -> list[Any]:
        """What the model computes undivided, with the layers of the first estimate."""
        return self._run[0]

    @property
    def _calls(self) -> Mapping[str, ModuleCall]:
        """How its modules are called."""
        return self._run[1]

    @cached_property
    def _run(self) -> tuple[list[Any], Mapping[str, ModuleCall]]:
        torch: Any = import_module("torch")
        model = _numbered(self._shortened(1 if self._layers else 0))
        with torch.no_grad(), recording(model) as calls:
            results = model(*self._numbered_arguments)
        return torch.utils._pytree.tree_leaves(results), calls

    @cached_property
    def _given(self) -> Sequence[Any]:
        """The arguments where the model is: on the device meta, if it has no numbers."""
        torch: Any = import_module("torch")
        if not any(each.is_meta for each in (*self.model.parameters(), *self.model.buffers())):
            return self.arguments
        return torch.utils._pytree.tree_map_only(torch.Tensor, _without_numbers, self.arguments)

    @cached_property
    def _numbered_arguments(self) -> Sequence[Any]:
        """The arguments with numbers."""
        torch: Any = import_module("torch")
        return torch.utils._pytree.tree_map_only(torch.Tensor, _with_numbers, self.arguments)

    def _shortened(self, layers: int) -> Any:
        """A copy of the model with so many layers of those that are alike; 0 for all."""
        model = copy.deepcopy(self.model)
        if layers:
            torch: Any = import_module("torch")
            path, _, own = self._layers.rpartition(".")
            kept = model.get_submodule(self._layers)[:layers]
            setattr(model.get_submodule(path), own, torch.nn.ModuleList(kept))
        return model


def _numbered(model: Any) -> Any:
    """A module, of which those tensors get random numbers that have none; always the same."""
    for module in model.modules():
        for tensors in (module._parameters, module._buffers):
            for name, tensor in tensors.items():
                if tensor is not None and tensor.is_meta:
                    torch: Any = import_module("torch")
                    numbers = _with_numbers(tensor.detach())
                    is_parameter = isinstance(tensor, torch.nn.Parameter)
                    tensors[name] = torch.nn.Parameter(numbers) if is_parameter else numbers
    return model


def _without_numbers(tensor: Any) -> Any:
    return tensor.to("meta")


def _with_numbers(tensor: Any) -> Any:
    """Numbers around 0, as large as weights are; of one dimension around 1; integers are 0."""
    if not tensor.is_meta:
        return tensor
    torch: Any = import_module("torch")
    if not tensor.is_floating_point():
        return torch.zeros(tensor.shape, dtype=tensor.dtype)
    drawn = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(tensor.numel()))
    drawn = drawn / math.sqrt(tensor.shape[-1]) if tensor.dim() > 1 else 1 + drawn / 4
    return drawn.to(tensor.dtype)


_WRONG = (math.inf, math.inf, math.inf)


def _agree(found: Any, expected: Any) -> bool:
    """True for results that differ as sums of parts do from sums, which are rounded once more."""
    torch: Any = import_module("torch")
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    rtol, atol = 1e-3, 1e-4
    if expected.dtype.is_floating_point and expected.numel():
        step, largest = torch.finfo(expected.dtype).eps, float(expected.abs().max())
        rtol = max(rtol, step)
        atol = max(atol, step * largest if math.isfinite(largest) else 0.0)
    return torch.allclose(found, expected, rtol=rtol, atol=atol)


def _figures(estimate: Estimate) -> tuple[float, float, float]:
    share = 0.0 if estimate.memory is None else estimate.memory.dram.share
    return estimate.total.mid, estimate.exchanges.mid, share


def _divide(
    model: Any, mesh: Mesh, plan: Plan, arguments: Sequence[Any]
) -> tuple[Any, Sequence[Any]]:
    """A module of all devices, and its arguments: the first one lies over the rows of the mesh."""
    torch: Any = import_module("torch")
    tensor: Any = import_module("torch.distributed.tensor")
    devices: Any = import_module("torch.distributed.device_mesh").init_device_mesh(
        "cpu", mesh, mesh_dim_names=AXES
    )
    there = {name for name, _ in model.named_modules()}
    if styles := {name: style for name, style in _styles(plan).items() if name in there}:
        parallel: Any = import_module("torch.distributed.tensor.parallel")
        parallel.parallelize_module(model, devices["model"], styles)
    places = [tensor.Shard(0) if mesh[0] > 1 else tensor.Replicate(), tensor.Replicate()]

    class Divided(torch.nn.Module):
        """The model of the part of the batch that a row of devices has."""

        def __init__(self) -> None:
            torch.nn.Module.__init__(self)
            self.model = model

        def forward(self, first: Any, *others: Any) -> Any:
            """Give the model its part, and join what it returns."""

            def join(part: Any) -> Any:
                return tensor.DTensor.from_local(part, devices, places, run_check=False)

            returned = self.model(first.to_local(), *others)
            return torch.utils._pytree.tree_map_only(torch.Tensor, join, returned)

    first, *others = arguments
    return Divided(), [tensor.distribute_tensor(first, devices, places), *others]
