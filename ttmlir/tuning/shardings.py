"""`ttmlir.tune_shardings`: a search for the mesh and the shardings with which a model is fastest.

Each candidate is compiled for all devices of a board, and estimated; nothing runs. A candidate says
which dimension of the inputs lies over the rows of the mesh (its axis `data`), and of some weights
which dimension lies over which axis; what else follows from that by propagation is part of it.

For each mesh the search starts from inputs alone, then divides weights, the largest first and all
layers alike: each way to divide them is tried, and what fits better, or takes less time, stays. Of
layers that are alike a candidate has one, and two; what that takes says what all take. The whole
program is compiled for the best of each mesh.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import StringAttr, TensorType

from ttmlir.compiler import spell_pipeline, transform, write_ttnn
from ttmlir.cost import Estimate, estimate_program
from ttmlir.dialects.sdy import MeshAttr, MeshOp, TensorShardingAttr, find_division
from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr
from ttmlir.errors import CompilationError, check_whole, plural
from ttmlir.explorer.shardings import divide
from ttmlir.files import write_file
from ttmlir.frontend.calls import CallableModel
from ttmlir.frontend.compiled import (
    CompiledModel,
    ImportedModel,
    divide_options,
    lower_model,
    mark_parameters,
    public_function,
)
from ttmlir.frontend.summary import align_left
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reporting import listening
from ttmlir.passes.shardy.spreading.shardings import Dimension, Sharding, set_argument, sharding_of
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.system_desc import find_system
from ttmlir.terminal import ShownAsText, show_wait
from ttmlir.tuning.layers import find_layers

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.runtime.binary import BinaryProgram

AXES = ("data", "model")
"""The axes of the meshes that are tried: rows, columns."""
Spec = tuple[tuple[str, ...], ...]
"""The axes that each dimension of an array is divided over."""
Mesh = tuple[int, int]
_PASSED_ON = {
    *("stablehlo.transpose", "stablehlo.convert", "stablehlo.reshape"),
    "stablehlo.broadcast_in_dim",
}
"""What a weight may go through before it is the operand of a product."""
_PRODUCTS = {"stablehlo.dot_general", "stablehlo.dot"}
_OWN_OPTIONS = re.compile(r"\b(?:spelling|system[-_]desc[-_]path)=(?:\"[^\"]*\"|\S*)")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A mesh, how arguments are divided over it, and what became of it."""

    mesh: Mesh
    specs: Mapping[str, Spec] = field(repr=False)
    """Of all arguments by their names, such as `(("data",), ())`."""
    inputs: str
    """What of the inputs lies over rows, such as `dimension 0`; empty if they are whole."""
    divided: int = 0
    """Weights that are divided."""
    estimate: Estimate | None = field(default=None, repr=False)
    """None if the compiler refuses it."""
    further: float = field(default=0.0, repr=False)
    """Nanoseconds of layers that the program of the estimate has not."""
    further_bytes: int = field(default=0, repr=False)
    """Bytes of a bank of DRAM that these take."""
    problem: str = ""

    @property
    def fits(self) -> bool:
        """True if the memory of each device is large enough."""
        memory = None if self.estimate is None else self.estimate.memory
        if memory is None or not memory.fits:
            return False
        return memory.dram.peak + self.further_bytes <= memory.dram.capacity

    @property
    def rank(self) -> tuple[float, float]:
        """What is smaller is better: bytes of a bank if they are too many, then the time."""
        if self.estimate is None or self.estimate.memory is None:
            return math.inf, math.inf
        too_much = 0 if self.fits else self.estimate.memory.dram.peak + self.further_bytes
        return too_much, self.estimate.total.mid + self.further


@dataclass(frozen=True, kw_only=True)
class ShardingReport(ShownAsText):
    """What a search for shardings has found."""

    name: str
    board: str
    best: Trial
    by_mesh: Sequence[Trial] = field(repr=False)
    """The best of each mesh, one device first."""
    trials: int
    """How many candidates there were."""
    source: ImportedModel = field(repr=False)
    """The program without shardings."""

    @property
    def specs(self) -> Mapping[str, Spec]:
        """Of all arguments by their names: the axes of each dimension."""
        return self.best.specs

    @property
    def mesh(self) -> Mesh:
        """Rows (`data`) and columns (`model`) of devices."""
        return self.best.mesh

    def shard(self, *args: Any) -> tuple[Any, ...]:
        """The arguments of a call of JAX with these shardings, for `ttmlir.compile`.

        Each `ShapeDtypeStruct` gets its sharding. Arrays are put on the devices of JAX, of which
        there have to be enough (`XLA_FLAGS=--xla_force_host_platform_device_count=8`).
        """
        jax: Any = import_module("jax")
        leaves, tree = jax.tree_util.tree_flatten(args)
        names = self.source.signature.leaf_names
        if len(leaves) != len(names):
            raise InputError(f"{self.name} takes {plural(len(names), 'array')}, got {len(leaves)}")
        mesh = self._make_mesh(all(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves))

        def place(leaf: Any, name: str) -> Any:
            spec = jax.sharding.PartitionSpec(*(each or None for each in self.specs.get(name, ())))
            where = jax.sharding.NamedSharding(mesh, spec)
            if isinstance(leaf, jax.ShapeDtypeStruct):
                return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=where)
            return jax.device_put(leaf, where)

        return tuple(jax.tree_util.tree_unflatten(tree, list(map(place, leaves, names))))

    def _make_mesh(self, is_abstract: bool) -> Any:
        jax: Any = import_module("jax")
        axis_types = (jax.sharding.AxisType.Auto,) * len(AXES)
        if is_abstract:
            return jax.sharding.AbstractMesh(self.mesh, AXES, axis_types=axis_types)
        count, found = math.prod(self.mesh), len(jax.devices())
        if found < count:
            raise InputError(
                f"the shardings are for {count} devices, JAX has {found}: give shapes "
                f"(jax.ShapeDtypeStruct), or set "
                f"XLA_FLAGS=--xla_force_host_platform_device_count={count} before JAX is imported"
            )
        return jax.make_mesh(self.mesh, AXES, axis_types=axis_types)

    @property
    def python(self) -> str:
        """The mesh and the shardings as Python for JAX."""
        rows, columns = self.mesh
        lines = [
            f"# {self.name} on {self.board}: {_time(self.best)} us by the estimate.",
            "import jax",
            "from jax.sharding import AxisType, PartitionSpec as P",
            "",
            f"mesh = jax.make_mesh(({rows}, {columns}), {AXES}, axis_types=(AxisType.Auto,) * 2)",
            "specs = {",
            *(f"    {name!r}: {spell_spec(spec)}," for name, spec in self.specs.items()),
            "}",
        ]
        return "\n".join(lines) + "\n"

    @property
    def stablehlo(self) -> str:
        """The program with the mesh and the shardings, which `ttmlir.compile` takes."""
        module = cloned(self.source.module)
        if math.prod(self.mesh) > 1:
            _say(module, self.mesh, dict(enumerate(self.specs.values())))
        return print_module(module, debuginfo=True)

    @property
    def file_name(self) -> str:
        """Where the program is written if nothing else is said."""
        return f"{self.name}.sharded.mlir"

    def write(self, path: str | Path = "") -> Path:
        """Write the shardings as Python for JAX (`.py`), or the program with them (`.mlir`)."""
        path = path or self.file_name
        write_file(path, getattr(self, form_of(path)).encode())
        return Path(path)

    def __str__(self) -> str:
        """A row for each mesh, then what the fastest one divides."""
        head = ("mesh", "inputs", "divided", "us", "exchanges", "gain", "GB of DRAM", "fits")
        rows = [head, *(self._row(each) for each in self.by_mesh)]
        lines = [
            f"{self.name} on {self.board}: {plural(self.trials, 'candidate')}",
            *align_left(rows),
            f"  fastest: {'x'.join(map(str, self.mesh))} devices as (data, model)"
            + ("" if self.best.fits else ", which does not fit either"),
        ]
        lines += [f"  {name}: {spell_spec(spec)}" for name, spec in self.specs.items() if any(spec)]
        return "\n".join(lines)

    def _row(self, trial: Trial) -> Sequence[str]:
        mesh = "x".join(map(str, trial.mesh))
        estimate = trial.estimate
        if estimate is None or estimate.memory is None:
            return (mesh, trial.problem)
        dram = estimate.memory.dram
        first = self.by_mesh[0].estimate
        gain = "" if first is None else f"{first.total.mid / estimate.total.mid:.2f}"
        return (
            *(mesh, trial.inputs or "whole", plural(trial.divided, "weight"), _time(trial)),
            *(f"{estimate.exchanges.mid / 1e3:,.1f}", gain),
            f"{dram.total_bytes / 1e9:,.2f} of {dram.capacity * dram.banks / 1e9:,.1f}",
            "yes" if trial.fits else "no",
        )


def spell_spec(spec: Spec) -> str:
    """A `PartitionSpec` as JAX spells it, with `P` for its name."""
    names = [repr(each[0]) if len(each) == 1 else repr(each or None) for each in spec]
    while names and names[-1] == "None":
        names.pop()
    return f"P({', '.join(names)})"


def _time(trial: Trial) -> str:
    return "" if trial.estimate is None else f"{trial.estimate.total.mid / 1e3:,.1f}"


_FORMS = {".py": "python", ".mlir": "stablehlo"}


def form_of(path: str | Path) -> str:
    """What of a report is written to a path; InputError for a name with another end."""
    if (suffix := Path(path).suffix) not in _FORMS:
        raise InputError(f"{path}: shardings are written as {' or '.join(_FORMS)}")
    return _FORMS[suffix]


def tune_shardings(
    model: object,
    *,
    board: str = "t3000",
    meshes: Sequence[Mesh] = (),
    budget: int = 60,
) -> ShardingReport:
    """Search the mesh and the shardings with which a model takes least time on a board.

    `model` is what `ttmlir.compile` returned for a function of JAX or for StableHLO, for one
    device; shapes (`jax.ShapeDtypeStruct`) are enough. Weights are the arguments that it was
    compiled with as `resident`, or else those that products have as operands; they are on the
    devices before a call. `meshes` are those to try, by default all of as many devices as the board
    has. `budget` is the number of programs that are compiled.

    InputError for a model that has shardings already, or no StableHLO.
    """
    check_whole("budget", budget, 1, 100_000)
    imported, options = _source_of(model)
    count = find_system(board).num_chips
    tried = tuple(meshes) or _meshes_of(count)
    for mesh in tried:
        if math.prod(mesh) > count or min(mesh) < 1:
            shape = "x".join(map(str, mesh))
            raise InputError(f"a mesh of {shape} devices is none of {board}, which has {count}")
    search = _Search(imported, options, board, budget)
    with show_wait(f"tuning the shardings of {imported.name}"):
        search.run(tried)
    return ShardingReport(
        name=imported.name,
        board=board,
        best=min(search.best.values(), key=lambda trial: trial.rank),
        by_mesh=tuple(search.best.values()),
        trials=search.count,
        source=imported,
    )


def _meshes_of(count: int) -> tuple[Mesh, ...]:
    return tuple((rows, count // rows) for rows in range(1, count + 1) if count % rows == 0)


def _source_of(model: object) -> tuple[ImportedModel, str]:
    """The program of a model, and the options that it was compiled with, but for the board."""
    if isinstance(model, str | os.PathLike):
        model = import_module("ttmlir.frontend.dispatch").compile(os.fspath(model))
    if not isinstance(model, CallableModel):
        raise InputError(
            f"a {type(model).__name__} is no model: give what ttmlir.compile returned, or the path "
            "of a .mlir file"
        )
    if not isinstance(model, CompiledModel) or model.target != "ttnn":
        raise InputError(f"{model} is not compiled for ttnn from its source: use ttmlir.compile")
    imported = model.source
    if imported.stage != "stablehlo":
        raise InputError(
            f"'{imported.name}' is no StableHLO, whose shardings are searched: give a function of "
            "JAX, or StableHLO; models of torch are divided by DTensors"
        )
    if find_division(imported.module) is not None:
        raise InputError(
            f"'{imported.name}' is for several devices already: compile it without shardings"
        )
    return imported, " ".join(_OWN_OPTIONS.sub("", model.options).split())


# --- Arguments ------------------------------------------------------------------------------------


def find_weights(function: FuncOp, names: Sequence[str]) -> list[int]:
    """The arguments that what is computed is multiplied with, and those that they come with.

    Of a product of two arguments the weight is the one that comes with such a one; or else whose
    last dimension is not summed over, that of more dimensions, or the second one.
    """
    sure, pairs = set[int](), list[list[tuple[int, bool]]]()
    for op in function.body.walk():
        if op.name not in _PRODUCTS:
            continue
        sides = [
            (number, _is_summed_last(op, side))
            for side, each in enumerate(op.operands)
            if (number := _argument_of(each)) is not None
        ]
        if len(sides) == 1:
            sure.add(sides[0][0])
        elif sides:
            pairs.append(sides)
    roots = {find_root(names[number]) for number in sure}
    arguments = function.body.block.args

    def likelihood(side: tuple[int, bool]) -> tuple[bool, bool, int]:
        number, is_summed_last = side
        rank = len(_shape(arguments[number].type))
        return find_root(names[number]) in roots, not is_summed_last, rank

    found = sure | {max(reversed(sides), key=likelihood)[0] for sides in pairs}
    return [n for n, name in enumerate(names) if n in found or find_root(name) in roots]


def _is_summed_last(op: Operation, side: int) -> bool:
    """True if a product sums over the last dimension of an operand."""
    numbers = op.properties.get("dot_dimension_numbers")
    if not isinstance(numbers, DotDimensionNumbersAttr):
        return side == 0
    summed = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)[side]
    return len(_shape(op.operands[side].type)) - 1 in summed


def find_root(name: str) -> str:
    """The argument of a call that an array is in."""
    return re.split(r"[\[.]", name)[0]


def _argument_of(value: SSAValue) -> int | None:
    """The number of the argument that a value is but for its form; None if it is computed."""
    from xdsl.ir import BlockArgument, Operation

    while isinstance(owner := value.owner, Operation) and owner.name in _PASSED_ON:
        value = owner.operands[0]
    return value.index if isinstance(value, BlockArgument) else None


def _pattern(name: str) -> str:
    """The name of an argument without numbers of layers."""
    return re.sub(r"\d+", "#", name)


def _shape(type_: Attribute) -> tuple[int, ...]:
    if not isinstance(type_, TensorType):
        return ()
    return cast("TensorType[Attribute]", type_).get_shape()


# --- Search ---------------------------------------------------------------------------------------

Seeds = Mapping[int, Spec]
"""What is said of arguments, by their numbers; of others it follows from that."""


@dataclass
class _Search:
    """Candidates of a model, mesh by mesh."""

    imported: ImportedModel
    options: str
    board: str
    budget: int
    best: dict[Mesh, Trial] = field(default_factory=dict[Mesh, Trial])
    count: int = 0

    def __post_init__(self) -> None:
        """Find out what arguments are."""
        signature = self.imported.signature
        function = public_function(self.imported.module)
        self._names = signature.input_names
        self._shapes = [_shape(argument.type) for argument in function.body.block.args]
        resident = signature.resident
        if resident:
            self._weights = list(resident[: len(resident) - len(signature.kept)])
        else:
            self._weights = find_weights(function, self._names)
            signature = replace(signature, resident=tuple(self._weights))
            module = cloned(self.imported.module)
            mark_parameters(module, self._weights)
            self.imported = replace(self.imported, module=module)
        self._signature = signature
        kept = {*self._weights, *signature.resident, *signature.bound}
        self._inputs = [number for number in range(len(self._names)) if number not in kept]
        self._seen = dict[tuple[Mesh, tuple[Spec, ...]], Trial]()
        self._layers = find_layers(self.imported.module)

    def run(self, meshes: Sequence[Mesh]) -> None:
        """Find the best of one device and of each mesh."""
        self.best[1, 1] = self._whole(self._compile((1, 1), "", {}))
        for number, mesh in enumerate(meshes):
            # The budget is shared by those that are still to be searched.
            end = self.count + max((self.budget - self.count) // (len(meshes) - number), 1)
            starts = [(self._compile(mesh, *each), each) for each in self._starts(mesh[0])]
            trial, (inputs, seeds) = min(starts, key=lambda each: each[0].rank)
            self.best[mesh] = self._whole(self._descend(trial, inputs, seeds, end))

    def _starts(self, rows: int) -> Iterator[tuple[str, Seeds]]:
        """What inputs may be divided by rows of devices."""
        first = max(self._inputs, key=lambda number: len(self._shapes[number]), default=None)
        leading = () if first is None or rows == 1 else self._shapes[first]
        found = [dim for dim in range(len(leading)) if leading[dim] % rows == 0]
        for dim in found[:2]:
            shapes = ((number, self._shapes[number]) for number in self._inputs)
            yield (
                f"dimension {dim}",
                {
                    number: _spec(len(shape), dim, AXES[0])
                    for number, shape in shapes
                    if shape[dim : dim + 1] == leading[dim : dim + 1]
                },
            )
        if not found:
            yield "", {}

    def _descend(self, best: Trial, inputs: str, seeds: Seeds, end: int) -> Trial:
        """Divide weights as long as that helps: whole ones, then others in another way."""
        extents = dict(zip(AXES, best.mesh, strict=True))
        for is_first, group, axis in itertools.product((True, False), self._groups(), AXES[::-1]):
            name, extent = self._names[group[0]], extents[axis]
            is_said = any(axis in each for each in best.specs.get(name, ()))
            # Rows that have other inputs share weights only where there is no room for them.
            is_shared = axis == AXES[0] and inputs != "" and best.fits
            if extent == 1 or is_shared or (is_first and is_said):
                continue
            found = list[tuple[Trial, Seeds]]()
            for dim, size in enumerate(self._shapes[group[0]]):
                said = _with_axis(best, name, dim, axis)
                if size % extent or said is None:
                    continue
                if self.count >= end:
                    return best
                more = {**seeds, **dict.fromkeys(group, said)}
                found.append((self._compile(best.mesh, inputs, more), more))
            trial, more = min(found, key=lambda each: each[0].rank, default=(best, seeds))
            if trial.rank < best.rank:
                best, seeds = trial, more
        return best

    def _groups(self) -> list[list[int]]:
        """Weights of the same name and shape in all layers, the largest first."""
        groups = dict[tuple[str, tuple[int, ...]], list[int]]()
        for number in self._weights:
            if len(self._shapes[number]) > 1:
                key = (_pattern(self._names[number]), self._shapes[number])
                groups.setdefault(key, []).append(number)
        return sorted(
            groups.values(), key=lambda each: -len(each) * math.prod(self._shapes[each[0]])
        )

    def _compile(self, mesh: Mesh, inputs: str, seeds: Seeds) -> Trial:
        """Complete a candidate, and estimate it if it is a new one."""
        specs: list[Spec] = [()] * len(self._names)
        if mesh != (1, 1):
            module = self._module(2)
            _say(module, mesh, seeds)
            divided = divide(module)
            found = None if divided is None else _specs_of(divided)
            if found is None:
                self.count += 1
                return Trial(mesh=mesh, specs={}, inputs=inputs, problem="refused")
            alike = {} if self._layers is None else self._layers.like(2)
            specs = [found[alike.get(number, number)] for number in range(len(found))]
        key = (mesh, tuple(specs))
        if key not in self._seen:
            self.count += 1
            self._seen[key] = self._estimate(mesh, inputs, specs, is_whole=False)
        return self._seen[key]

    def _module(self, layers: int) -> ModuleOp:
        """The program with so many layers of those that are alike; 0 for all."""
        if self._layers is None or layers == 0:
            return cloned(self.imported.module)
        return self._layers.shorten(self.imported.module, layers)

    def _whole(self, trial: Trial) -> Trial:
        """What the program takes with all layers."""
        if self._layers is None or trial.estimate is None:
            return trial
        specs = [trial.specs[name] for name in self._names]
        return self._estimate(trial.mesh, trial.inputs, specs, is_whole=True)

    def _estimate(self, mesh: Mesh, inputs: str, specs: Sequence[Spec], *, is_whole: bool) -> Trial:
        trial = Trial(
            mesh=mesh,
            specs=dict(zip(self._names, specs, strict=True)),
            inputs=inputs,
            divided=sum(any(specs[number]) for number in self._weights),
        )
        options = f"{self.options} spelling=2026 system-desc-path={self.board}".lstrip()
        counts = (0,) if is_whole or self._layers is None else (1, 2)
        estimates = list[Estimate]()
        for count in counts:
            module = self._module(count)
            if mesh != (1, 1):
                _say(module, mesh, dict(enumerate(specs)))
            imported = replace(self.imported, module=module, signature=self._signature)
            try:
                program = compile_program(imported, options)
            except CompilationError as error:
                return replace(trial, problem=error.diagnostics[0].message)
            estimates.append(estimate_program(program, self.board))
        one, last = estimates[0], estimates[-1]
        others = 0 if is_whole or self._layers is None else self._layers.count - 2
        further = others * (last.total.mid - one.total.mid)
        first, second = (each.memory for each in (one, last))
        more = 0 if first is None or second is None else second.dram.peak - first.dram.peak
        return replace(trial, estimate=last, further=further, further_bytes=others * more)


def compile_program(imported: ImportedModel, options: str) -> BinaryProgram:
    """The program of a model with these options, for estimates; CompilationError if refused."""
    module = cloned(imported.module)
    front, rest = divide_options(options, "ttnn")
    with listening():
        lower_model(module, imported.stage, imported.signature, "ttnn", options, front)
        transform(module, spell_pipeline("ttnn", rest))
    tables = {"": imported.signature.to_table()}
    data = write_ttnn(module, signatures=tables, readable=False)
    return read_binary(data, imported.name).program(0)


def _spec(rank: int, dim: int, axis: str) -> Spec:
    return tuple((axis,) if number == dim else () for number in range(rank))


def _with_axis(trial: Trial, name: str, dim: int, axis: str) -> Spec | None:
    """How an argument is divided if this dimension lies over an axis; None if it does already."""
    known = trial.specs.get(name, ())
    if dim >= len(known) or axis in known[dim]:
        return None
    return tuple(
        (*(each for each in axes if each != axis), *((axis,) if number == dim else ()))
        for number, axes in enumerate(known)
    )


def _say(module: ModuleOp, mesh: Mesh, seeds: Seeds) -> None:
    """Give a module a mesh, and arguments their shardings."""
    axes = ", ".join(f'"{name}"={extent}' for name, extent in zip(AXES, mesh, strict=True))
    devices = MeshOp.create(
        properties={"sym_name": StringAttr("mesh"), "mesh": MeshAttr(f"<[{axes}]>")}
    )
    block = module.body.block
    first = block.first_op
    assert first is not None, "a module has a function"
    block.insert_op_before(devices, first)
    function = public_function(module)
    for number, spec in seeds.items():
        dimensions = tuple(Dimension(tuple(f'"{axis}"' for axis in axes)) for axes in spec)
        said = TensorShardingAttr(str(Sharding("@mesh", dimensions)))
        set_argument(function, number, sdy__sharding=said)


def _specs_of(divided: ModuleOp) -> list[Spec] | None:
    """How arguments are divided; None if that is in parts of an axis, which JAX cannot say."""
    specs = list[Spec]()
    for argument in public_function(divided).body.block.args:
        found = sharding_of(argument)
        if found is None:
            specs.append(((),) * len(_shape(argument.type)))
            continue
        spec = tuple(tuple(axis.strip('"') for axis in each.axes) for each in found.dimensions)
        if any(axis not in AXES for axes in spec for axis in axes):
            return None
        specs.append(spec)
    return specs
