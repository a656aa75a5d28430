"""Times candidates on the simulator, as far as kernels of the compiler's own can have their form.

The road to kernels has one fidelity for all products and chooses places and grids by itself, so
only candidates that ask for no more than that have a form in kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ttmlir.compiler import PIPELINES, transform, write_ttm
from ttmlir.explorer.overrides import Overrides
from ttmlir.frontend.model_profile import run_recorded
from ttmlir.mlir.attributes.resources import cloned
from ttmlir.mlir.reporting.diagnostics import DiagnosticError
from ttmlir.passes.pipelines.ttir_to_ttmetal import TTIRToTTMetalPipeline
from ttmlir.runtime.element import Numerics
from ttmlir.runtime.errors import InputError, RuntimeFailure
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.ttrt.running.inputs import generate_inputs
from ttmlir.tuning.candidate import Model, open_model
from ttmlir.tuning.moves import Place

_TO_TTIR = {
    "ttir": "",
    "stablehlo": "stablehlo-to-ttir-pipeline,",
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
        name = _describe(self.overrides)
        if self.time is None:
            return f"{name}: no form in kernels: {self.problem}"
        return f"{name}: {self.time / 1000:,.1f} us"


def _describe(overrides: Overrides) -> str:
    """Of a candidate with the same words for all its operations, the words."""
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
    except DiagnosticError as error:
        return Simulated(overrides=overrides, problem=error.diagnostics[0].message)
    except (RuntimeFailure, InputError) as error:
        return Simulated(overrides=overrides, problem=str(error).splitlines()[0])
    return Simulated(overrides=overrides, time=sum(each.times.total_ns for each in runs.programs))


def _kernel_options(overrides: Overrides, places: Sequence[Place]) -> str | None:
    """The options of the road to kernels that mean the same; None if there are none."""
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
