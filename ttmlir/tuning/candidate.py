"""Compiles a model with some overrides, estimates it, and runs it where it may be better.

A candidate is a command of the engine of sweeps, so that it runs in any of its processes, and its
result is one of the results file.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ttmlir.cost import estimate_program
from ttmlir.explorer.documents import ModuleDocument, open_documents
from ttmlir.explorer.overrides import Overrides, computing_by_name
from ttmlir.layout.element_type import is_block_float
from ttmlir.layout.enums import MathFidelity
from ttmlir.mlir.reporting.diagnostics import DiagnosticError
from ttmlir.runtime.accuracy import compare
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.device import open_device
from ttmlir.runtime.element import Array, Numerics
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.operations import read_call
from ttmlir.runtime.session import submit
from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.option import BINARY, COMMON_OPTIONS, Option, result_file
from ttmlir.runtime.ttrt.reports.results import Outcome
from ttmlir.runtime.ttrt.running.inputs import fit_inputs, generate_inputs, load_inputs


class Model(NamedTuple):
    """What is compiled."""

    path: str
    board: str
    options: str = ""
    """Of the pipeline, besides the board."""


class Candidate(Command):
    """One choice of overrides: its estimated time, its memory and its accuracy."""

    name = "tune"
    summary = "Try overrides."
    options = (
        BINARY,
        *COMMON_OPTIONS,
        Option(name="--board", type=str, help="What to compile and estimate for."),
        Option(name="--pipeline-options", type=str, default="", help="Besides the board."),
        Option(name="--overrides", type=str, default="", help="As options of a pipeline."),
        Option(name="--time-limit", type=float, help="Nanoseconds from which on nothing is run."),
        Option(name="--seed", type=int, default=0, help="Of random inputs."),
        Option(name="--given", type=str, default=(), multiple=True, help="Files with inputs."),
        result_file(name),
    )

    def execute(self) -> None:
        """Note what the overrides bring."""
        [path] = self["binary"]
        overrides = Overrides.parse(self["overrides"])
        details: dict[str, Any] = {"overrides": self["overrides"]}
        model = Model(path, self["board"], self["pipeline_options"])
        document = open_model(model)
        try:
            program = document.compile_with_overrides(overrides).program(0)
        except DiagnosticError as error:
            reason = error.diagnostics[0].message
            self.note(path, outcome=Outcome.SKIP, exception=reason, details=details)
            return
        estimate = estimate_program(program, self["board"])
        memory = estimate.memory
        if memory is not None and not memory.fits:
            reason = str(memory.first_overflow)
            self.note(path, outcome=Outcome.SKIP, exception=reason, details=details)
            return
        by_index = {each.index: each.mid for each in estimate.operations}
        details |= {
            "time": estimate.total.mid,
            "low": estimate.total.low,
            "high": estimate.total.high,
            "times": {
                name: sum(by_index.get(operation.index, 0.0) for operation in operations)
                for name, operations in computing_by_name(program).items()
            },
        }
        limit = self["time_limit"]
        if limit is None or estimate.total.mid < limit:
            run = document.compile_with_overrides(_with_low_fidelity(overrides, program))
            given = tuple(self["given"])
            details["pcc"] = _measure_pcc(run.program(0), model, self["seed"], given)
        self.note(path, details=details)


def forget_models() -> None:
    """Read files again, which may have changed since an earlier search."""
    open_model.cache_clear()
    _golden.cache_clear()


@cache
def open_model(model: Model) -> ModuleDocument:
    """The module of a file, for a board; InputError for what has no overrides.

    DiagnosticError if it cannot be compiled.
    """
    path = model.path
    if path == "-":
        raise InputError("standard input cannot be read by several processes; give a file")
    if path.endswith((".ttnn", ".ttm", ".ttsys")):
        raise InputError(
            f"{path} is no model: give the .mlir file that the program was compiled from"
        )
    [document] = open_documents([path])
    if not isinstance(document, ModuleDocument):
        raise InputError(f"{path} is a folder; give one .mlir file")
    if document.pipeline is None:
        raise InputError(
            f"{path} is {document.stage} already; layouts are chosen on the way from ttir, "
            "stablehlo, tosa or linalg to ttnn: give the module from before"
        )
    document.settings = replace(document.settings, board=model.board)
    document.options = model.options
    program = document.compile_with_overrides(Overrides())
    if not program.programs:
        raise InputError(f"{path} has no function; give a module with one")
    return document


def _with_low_fidelity(overrides: Overrides, program: BinaryProgram) -> Overrides:
    """The overrides, with LoFi for products of block floats without a fidelity.

    So the library multiplies them, and so they are estimated.
    """
    for name, operations in computing_by_name(program).items():
        for call in map(read_call, operations) if name not in overrides.fidelities else ():
            pair = [ref.desc.data_type for ref in call.operands[:2] if ref is not None]
            if call.row.multiplies and all(map(is_block_float, pair)):
                overrides = overrides.with_fidelity(name, MathFidelity.LOFI)
                break
    return overrides


def _measure_pcc(program: BinaryProgram, model: Model, seed: int, given: tuple[str, ...]) -> float:
    """The least correlation of a result, in device numerics, with that of the model without
    overrides in exact ones; 1 for results that are equal."""
    inputs, expected = _golden(model, seed, given)
    results = _run(program, inputs, Numerics.DEVICE)
    pairs = zip(results, expected, strict=True)
    return min((compare(*pair, rtol=0, atol=0).pcc for pair in pairs), default=1.0)


@cache
def _golden(model: Model, seed: int, given: tuple[str, ...]) -> tuple[list[Array], list[Array]]:
    """Inputs, and the results of the model without overrides."""
    program = open_model(model).compile_with_overrides(Overrides()).program(0)
    if given:
        inputs = fit_inputs(program, load_inputs(given))
    else:
        inputs = generate_inputs(program, "randn", np.random.default_rng(seed))
    return inputs, _run(program, inputs, Numerics.EXACT)


def _run(program: BinaryProgram, inputs: list[Array], numerics: Numerics) -> list[Array]:
    device = open_device(numerics=numerics)
    return [each.to_numpy() for each in submit(device, program.binary, program.index, inputs)]
