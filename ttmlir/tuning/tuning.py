"""Tunes a model: the search, on the engine that `ttrt --jobs` and `--cluster` have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ttmlir.compiler import PIPELINES, transform, write_ttm
from ttmlir.cost import find_machine
from ttmlir.errors import ArgumentError, CompilationError, Error, check_whole
from ttmlir.explorer.documents import Settings
from ttmlir.explorer.overrides import Overrides
from ttmlir.explorer.panel import overrides_file_name, overrides_text
from ttmlir.files import write_file
from ttmlir.frontend.summary import run_recorded
from ttmlir.mlir.attributes import cloned
from ttmlir.passes.pipelines.ttir_to_ttmetal import TTIRToTTMetalPipeline
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.system_desc import find_system
from ttmlir.runtime.tensor import Numerics
from ttmlir.runtime.ttrt.reports import Outcome, results_as_json
from ttmlir.runtime.ttrt.running import generate_inputs
from ttmlir.runtime.ttrt.sweeps import (
    Case,
    Journal,
    make_order,
    result_from_json,
    run_case,
    run_on_cluster,
    run_on_processes,
)
from ttmlir.terminal import ShownAsText, show_wait
from ttmlir.tuning.search import (
    Candidate,
    Model,
    Place,
    Search,
    Trial,
    forget_models,
    list_places,
    open_model,
)

# --- Times on the simulator -----------------------------------------------------------------------
# Times candidates on the simulator, as far as kernels of the compiler's own can have their form.
#
# The lowering path to kernels has one fidelity for all products and chooses places and grids by
# itself, so only candidates that ask for no more than that have a form in kernels.

_TO_TTIR = {
    "ttir": "",
    "stablehlo": "stablehlo-to-ttir-pipeline{spelling=2024},",
    "tosa": "tosa-to-ttir-pipeline,",
    "linalg": "linalg-to-ttir-pipeline,",
}
_WEIGHTS = "experimental_weight_dtype"


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What became of a candidate on the simulator."""

    overrides: Overrides
    time: float | None = None
    """Nanoseconds of its kernels and their launches; None if there are none."""
    problem: str = ""

    def __str__(self) -> str:
        """One line."""
        name = _describe_times(self.overrides)
        if self.time is None:
            return f"{name}: no form in kernels: {self.problem}"
        return f"{name}: {self.time / 1000:,.1f} us"


def _describe_times(overrides: Overrides) -> str:
    """Of a candidate with the same keywords for all its operations, the keywords."""
    if not overrides:
        return "default"
    words = dict.fromkeys(overrides.words(name) for name in overrides.names)
    first = next(iter(words))
    return first if len(words) == 1 else f"{first} and {len(words) - 1} others"


def simulate(model: Model, overrides: Overrides, places: Sequence[Place], seed: int) -> Simulated:
    """Compile a candidate to kernels, and run it on random inputs."""
    options = _kernel_options(overrides, places)
    if options is None:
        return Simulated(
            overrides=overrides,
            problem="they take one fidelity for all products, and no layouts",
        )
    document = open_model(model)
    module = cloned(document.module)
    options = f"{options} system-desc-path={model.board}".strip()
    try:
        transform(module, f"{_TO_TTIR[document.stage]}{PIPELINES['kernels']}{{{options}}}")
        program = read_binary(write_ttm(module), model.path).program(0)
        inputs = generate_inputs(program, "randn", np.random.default_rng(seed))
        _, runs = run_recorded(program, inputs, Numerics.EXACT)
    except CompilationError as error:
        return Simulated(overrides=overrides, problem=error.diagnostics[0].message)
    except Error as error:
        return Simulated(overrides=overrides, problem=str(error).splitlines()[0])
    return Simulated(overrides=overrides, time=sum(each.times.total_ns for each in runs.programs))


def _kernel_options(overrides: Overrides, places: Sequence[Place]) -> str | None:
    """The options of the lowering path to kernels with the same effect; None if there are none."""
    products = {each.name for each in places if "fidelity=lofi" in each.words}
    weighted = {each.name for each in places if "weight=bfp_bf8" in each.words}
    fidelities, weights = set(overrides.fidelities.values()), set(overrides.weights.values())
    has_weights = any(each.name == _WEIGHTS for each in fields(TTIRToTTMetalPipeline))
    if (
        overrides.layouts
        or (fidelities and (len(fidelities) > 1 or set(overrides.fidelities) != products))
        or (weights and (len(weights) > 1 or set(overrides.weights) != weighted))
        or (weights and not has_weights)
    ):
        return None
    parts = [f"set-math-fidelity={each.keyword}" for each in fidelities]
    parts += [f"experimental-weight-dtype={each.keyword}" for each in weights]
    return " ".join(parts)


# --- The search -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """What to tune, and how."""

    model: str
    """A file of StableHLO, TOSA, linalg or TTIR."""
    board: str = "n150"
    """A name, or the path of a `.ttsys` file."""
    budget: int = 50
    """Candidates to compile, the model without overrides among them."""
    jobs: int = 1
    least_pcc: float = 0.99
    """With what results correlate in exact numerics without overrides."""
    seed: int = 0
    inputs: tuple[str, ...] = ()
    """`.npy` and `.npz` files; random numbers without any."""
    formats: bool = True
    """Whether results and weights may be rounded to narrower formats, and products computed with
    less fidelity."""
    result_file: str = ""
    """JSON file with every candidate; what was interrupted goes on where it was."""
    cluster: str = ""
    """Address of a Dask scheduler, whose workers try the candidates."""
    options: str = ""
    """Of the pipeline, besides the board."""
    simulate: int = 0
    """How many of the fastest candidates are timed on the simulator, besides the default."""
    title: str = ""
    """What messages call the model, if it is not the file."""

    def __post_init__(self) -> None:
        """Check every number."""
        check_whole("budget", self.budget, 1, 100_000)
        check_whole("jobs", self.jobs, 1, 1024)
        check_whole("seed", self.seed, 0, 1 << 64)
        check_whole("simulate", self.simulate, 0, 100_000)
        least: Any = self.least_pcc
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= float(least) <= 1:
            raise ArgumentError(f"pcc is a correlation from 0 to 1, not {least!r}")

    @property
    def name(self) -> str:
        """The model in messages."""
        return self.title or self.model

    @property
    def source(self) -> Model:
        """What is compiled."""
        return Model(self.model, self.board, self.options)


@dataclass(frozen=True, kw_only=True)
class Report(ShownAsText):
    """What a search has found."""

    request: Request
    default: Trial
    best: Trial
    trials: Sequence[Trial] = field(repr=False)
    simulated: Sequence[Simulated] = field(repr=False)
    """The default and the fastest candidates on the simulator, if that was asked for."""
    flags: str = field(repr=False)
    """The flag of `ttmlir-opt` that compiles the model with the best overrides."""
    file_name: str
    """Where the flag is written if nothing else is said."""

    @property
    def options(self) -> str:
        """The overrides as `options` of `ttmlir.compile`."""
        return self.best.overrides.options

    @property
    def gain(self) -> float:
        """How many times the estimated time of the model is that of the best candidate."""
        assert self.default.time is not None, "a report has times"
        assert self.best.time is not None, "a report has times"
        return self.default.time / self.best.time

    def write(self, path: str | Path = "") -> Path:
        """Write the flag to a file that `ttmlir-opt` takes as `@FILE`."""
        target = Path(path or self.file_name)
        write_file(target, self.flags.encode())
        return target

    def __str__(self) -> str:
        """Times, accuracy, and the overrides, one per line."""
        refused = sum(trial.time is None for trial in self.trials)
        inaccurate = sum(
            trial.pcc is not None and trial.pcc < self.request.least_pcc for trial in self.trials
        )
        lines = [
            f"{Path(self.request.model).name} on {self.request.board}: {len(self.trials)} "
            f"candidates, {refused} refused, {inaccurate} of too little PCC",
            f"  default {_describe(self.default)}",
            f"  tuned   {_describe(self.best)}",
            f"  {self.gain:.2f} times faster by the estimate"
            + ("" if self.simulated else "; the simulator was not asked"),
            *(f"  simulated: {each}" for each in self.simulated),
        ]
        lines += [
            f"  {name}: {self.best.overrides.words(name)}" for name in self.best.overrides.names
        ]
        return "\n".join(lines)


def _describe(trial: Trial) -> str:
    assert trial.time is not None, "what is reported has a time"
    low, mid, high = (f"{each / 1000:,.1f}" for each in (trial.low, trial.time, trial.high))
    return f"{mid} us ({low} to {high}), PCC {trial.pcc:.5f}"


def tune(request: Request) -> Report:
    """Search for overrides.

    Raises InputError for what cannot be tuned, DiagnosticError for a model that is refused.
    """
    forget_models()
    chip = find_system(request.board).chip(0)
    if request.cluster and request.inputs:
        raise InputError("workers of a cluster are sent the model alone: leave out the inputs")
    document = open_model(request.source)
    program = document.compile_with_overrides(Overrides()).program(0)
    find_machine(request.board, program)
    journal = Journal(request.result_file)
    engine = _Engine(request, journal)
    search = Search(engine.measure, request.budget, request.least_pcc, request.seed)
    default = search.default
    if default.time is None:
        raise InputError(f"{request.name}: {default.problem}")
    assert default.pcc is not None, "the default is run"
    if default.pcc < request.least_pcc:
        raise InputError(
            f"{request.name}: without overrides its results have a PCC of {default.pcc:.6f} "
            f"already; ask for a smaller one than {request.least_pcc}, or give other inputs"
        )
    places = list_places(program, chip.grid, request.formats)
    search.run(places, request.formats)
    simulated = [
        simulate(request.source, each.overrides, places, request.seed)
        for each in _fastest(search, request)
    ]
    settings = Settings(board=request.board, overrides=search.best.overrides)
    document = replace(document, settings=settings)
    report = Report(
        request=request,
        default=default,
        best=search.best,
        trials=search.trials,
        simulated=simulated,
        flags=overrides_text(document),
        file_name=overrides_file_name(document),
    )
    engine.write_results()
    return report


def _fastest(search: Search, request: Request) -> list[Trial]:
    """The default and the fastest accurate candidates, as many as are to be simulated."""
    if not request.simulate:
        return []
    accurate = [
        each
        for each in search.trials
        if each.overrides and each.pcc is not None and each.pcc >= request.least_pcc
    ]
    accurate.sort(key=lambda each: each.time or 0.0)
    return [search.default, *accurate[: request.simulate]]


class _Engine:
    """Tries candidates in processes, and keeps their results."""

    def __init__(self, request: Request, journal: Journal) -> None:
        self._request = request
        self._journal = journal
        self._cases: list[Case] = []

    def measure(self, candidates: Sequence[Overrides], limit: float | None) -> list[Trial]:
        """The trials of candidates, in their order."""
        cases = [self._case(each, limit) for each in candidates]
        left = [case for case in cases if case.id not in self._journal.done]
        with show_wait("ttmlir-tune", len(left)) as advance:
            for case, done in self._run(left):
                if isinstance(done, str):
                    raise InputError(f"{case.path}: {done}")
                # Candidates leave no artifacts, but each had another folder for them.
                results = [{**result, "artifacts": ""} for result in done["results"]]
                self._journal.add(case.id, results)
                advance()
        self._cases += cases
        return [
            _trial(overrides, self._journal.done[case.id][0])
            for overrides, case in zip(candidates, cases, strict=True)
        ]

    def _run(self, cases: Sequence[Case]) -> Any:
        if self._request.cluster:
            return run_on_cluster(cases, self._request.cluster)
        if self._request.jobs > 1 and len(cases) > 1:
            return run_on_processes(cases, self._request.jobs)
        return ((case, run_case(make_order(case, None))) for case in cases)

    def _case(self, overrides: Overrides, limit: float | None) -> Case:
        request = self._request
        arguments = {
            "board": request.board,
            "pipeline_options": request.options,
            "overrides": overrides.options,
            "time_limit": limit,
            "seed": request.seed,
            "given": list(request.inputs),
        }
        kind = (Candidate.__module__, Candidate.__qualname__)
        return Case(kind, request.model, {}, arguments, is_text=True)

    def write_results(self) -> None:
        """Write the results file, if one is asked for."""
        path = self._request.result_file
        if not path:
            return
        results = [
            result_from_json(values)
            for case in self._cases
            for values in self._journal.done[case.id]
        ]
        try:
            write_file(path, results_as_json(results))
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error
        self._journal.close()


def _trial(overrides: Overrides, result: dict[str, Any]) -> Trial:
    details = result["details"]
    outcome = Outcome(result["outcome"])
    if outcome is Outcome.ERROR:
        raise InputError(result["exception"])
    return Trial(
        overrides=overrides,
        time=details.get("time"),
        low=details.get("low", 0.0),
        high=details.get("high", 0.0),
        pcc=details.get("pcc"),
        times=details.get("times", {}),
        problem=result["exception"],
    )
