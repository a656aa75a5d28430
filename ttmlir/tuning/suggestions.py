"""`ttmlir.suggest`: changes with which a compiled model takes less time, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ttmlir.compiler import LEVEL_OPTION, MOST_OPTIMIZED, find_level, find_spelling
from ttmlir.cost import Estimate, estimate_program
from ttmlir.dialects.sdy import find_division
from ttmlir.errors import CompilationError
from ttmlir.frontend.compiled import CompiledModel, ImportedModel, public_function
from ttmlir.frontend.residents import keep_on_device
from ttmlir.frontend.summary import align_left
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.golden import least_correlation
from ttmlir.runtime.tensor import Array, Numerics
from ttmlir.runtime.ttrt.running import generate_inputs
from ttmlir.terminal import ShownAsText, show_wait
from ttmlir.tuning.search import run_program
from ttmlir.tuning.shardings import compile_program, find_root, find_weights

if TYPE_CHECKING:
    from ttmlir.runtime.binary import BinaryProgram

CHANGES = (
    ("weights in bfp_bf8", "experimental-weight-dtype=bfp_bf8"),
    ("weights in bfp_bf4", "experimental-weight-dtype=bfp_bf4"),
    ("products in HiFi2", "compute-cfg-math-fidelity=hifi2"),
    ("products in LoFi", "compute-cfg-math-fidelity=lofi"),
    (
        "weights in bfp_bf8, products in LoFi",
        "experimental-weight-dtype=bfp_bf8 compute-cfg-math-fidelity=lofi",
    ),
    ("layers fused, and results in L1", f"{LEVEL_OPTION}={MOST_OPTIMIZED}"),
)
"""What may be changed, smaller changes first, and the options of the pipeline that do it."""
LEAST_GAIN = 1.02
"""Of a change, beside the model as it is and beside changes that cost less."""
MOST_FLOPS = 2e9
"""Of a model that is run for its accuracy."""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A change, and what it brings."""

    change: str
    how: str
    """What to give to `ttmlir.compile`, in the place of what was given for it before."""
    estimate: Estimate = field(repr=False)
    gain: float
    """How many times less the model takes by the estimate."""
    pcc: float | None
    """The least correlation of a result with the exact one; None if nothing was run."""


@dataclass(frozen=True, kw_only=True)
class Suggestions(ShownAsText):
    """Changes of a model, the one with the most gain first; printed as a table."""

    name: str
    estimate: Estimate = field(repr=False)
    """Of the model as it is."""
    pcc: float | None
    changes: Sequence[Suggestion]

    def __str__(self) -> str:
        """The model as it is, then a row for each change."""
        head = ("change", "us", "gain", "PCC", "how")
        rows = [("as it is", *_numbers(self.estimate, 1.0, self.pcc), "")]
        rows += [
            (each.change, *_numbers(each.estimate, each.gain, each.pcc), each.how)
            for each in self.changes
        ]
        return "\n".join([f"{self.name} on {self.estimate.place}", *align_left([head, *rows])])


def _numbers(estimate: Estimate, gain: float, pcc: float | None) -> tuple[str, str, str]:
    accuracy = "-" if pcc is None else f"{pcc:.5f}"
    return f"{estimate.total.mid / 1e3:,.1f}", f"{gain:.2f}", accuracy


def suggest(model: object, *, most: int = 5, seed: int = 0) -> Suggestions:
    """Compile a model with changes that may help, and keep those that take less time.

        print(ttmlir.suggest(compiled))

    `model` is what `ttmlir.compile` returned, for ttnn; it is estimated for the board that it was
    compiled for. Changes are formats of weights, fidelities of products, the optimization level,
    and arguments that could stay on the device. Those that the model has already are left out, and
    those that bring hardly more than others that cost less. A model of at most 2 GFLOP runs
    with its examples, or else random inputs of this `seed`, rounded as the device rounds, for the
    correlation of its results with exact ones.
    """
    if not isinstance(model, CompiledModel) or model.target != "ttnn":
        raise InputError(
            f"a {type(model).__name__} has nothing to change: give what ttmlir.compile returned, "
            "compiled for ttnn"
        )
    program, estimate = model.binary.program(0), model.estimate()
    is_divided = find_division(model.source.module) is not None
    is_measured = estimate.flops <= MOST_FLOPS and not is_divided
    accuracy = _Accuracy.of(model, program, seed) if is_measured else None
    found = list[Suggestion]()
    with show_wait(f"changing {model.name}"):
        for change, how, imported, options in _list_changes(model):
            try:
                changed = compile_program(imported, options)
            except CompilationError:
                continue
            changed_estimate = estimate_program(changed)
            memory, total = changed_estimate.memory, changed_estimate.total.mid
            if memory is None or not memory.fits or not total:
                continue
            gain = estimate.total.mid / total
            if gain >= LEAST_GAIN:
                pcc = None if accuracy is None else accuracy.measure(changed)
                made = Suggestion(
                    change=change, how=how, estimate=changed_estimate, gain=gain, pcc=pcc
                )
                found.append(made)
    worthwhile = _leave_out_beaten(found)
    # Of those with the same gain the most accurate one.
    worthwhile.sort(key=lambda each: (-round(each.gain, 2), -(each.pcc or 0)))
    pcc = None if accuracy is None else accuracy.measure(program)
    return Suggestions(name=model.name, estimate=estimate, pcc=pcc, changes=worthwhile[:most])


def _leave_out_beaten(found: Sequence[Suggestion]) -> list[Suggestion]:
    """The changes without those that bring hardly more than one that costs less accuracy, or than
    an earlier, smaller one that costs no more."""
    by_cost = sorted(found, key=lambda each: -round(each.pcc or 0, 5))
    kept = list[Suggestion]()
    for each in by_cost:
        if all(each.gain >= other.gain * LEAST_GAIN for other in kept):
            kept.append(each)
    return kept


def _list_changes(model: CompiledModel) -> Iterator[tuple[str, str, ImportedModel, str]]:
    """What is changed, what says so, and the model and the options that do it."""
    imported, options = model.source, model.options
    for change, more in CHANGES:
        changed = _with_options(options, more)
        if changed is not None:
            yield change, _how(changed), imported, changed
    signature = imported.signature
    if imported.stage == "stablehlo" and not signature.resident:
        function = public_function(imported.module)
        numbers = find_weights(function, signature.input_names)
        roots = (find_root(signature.input_names[number]) for number in numbers)
        names = list(dict.fromkeys(roots))
        if names and set(names) < {find_root(name) for name in signature.input_names}:
            held, how = keep_on_device(imported, names), f"resident={names!r}"
            change = f"{', '.join(names)} on the device between calls"
            yield change, how, held, options
            narrow, more = CHANGES[0]
            changed = _with_options(options, more)
            if changed is not None:
                yield f"{change}, {narrow}", f"{how}, {_how(changed)}", held, changed


def _with_options(options: str, more: str) -> str | None:
    """The options of a model with more of them; None if they say something about that already."""
    if more.startswith(LEVEL_OPTION):
        # Programs of 2024 have no levels, and the most that levels do needs no more.
        if "spelling=2024" in options.split() or find_level(options) == MOST_OPTIMIZED:
            return None
        options = " ".join(word for word in options.split() if not word.startswith(LEVEL_OPTION))
    known = {word.partition("=")[0] for word in options.split()}
    if known.isdisjoint(word.partition("=")[0] for word in more.split()):
        return f"{options} {more}".lstrip()
    return None


def _how(options: str) -> str:
    """The arguments of `ttmlir.compile` for options of the pipeline; the board stays."""
    words = [word for word in options.split() if not word.startswith("system-desc-path=")]
    level = [word for word in words if word == f"{LEVEL_OPTION}={MOST_OPTIMIZED}"]
    rest = " ".join(word for word in words if word not in level and not _is_default(word, words))
    said = [f"optimization_level={MOST_OPTIMIZED}"] if level else []
    return ", ".join([*said, *([f"options={rest!r}"] if rest else [])])


def _is_default(word: str, words: Sequence[str]) -> bool:
    """True for the year that a model is compiled to without saying it."""
    if not word.startswith("spelling="):
        return False
    others = " ".join(each for each in words if each != word)
    return word == f"spelling={find_spelling(others)}"


@dataclass(frozen=True)
class _Accuracy:
    """Inputs, and the exact results of a model as it is."""

    inputs: list[Array]
    results: list[Array]

    @classmethod
    def of(cls, model: CompiledModel, program: BinaryProgram, seed: int) -> _Accuracy:
        """Run a program on the examples of its model, or else on random numbers."""
        given = model.example_arrays()
        inputs = given or generate_inputs(program, "randn", np.random.default_rng(seed))
        return cls(inputs, run_program(program, inputs, Numerics.EXACT))

    def measure(self, program: BinaryProgram) -> float:
        """The least correlation of a result of the device."""
        return least_correlation(run_program(program, self.inputs, Numerics.DEVICE), self.results)
