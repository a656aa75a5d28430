"""Formats of weights and fidelities of products, as narrow as the accuracy of a model allows.

Products of one place in the source are a group, as are those of layers that differ in their numbers
alone, `layers/0/up` and `layers/1/up`. Group by group, from the one with most to multiply, the
narrowest choice stays with which the model is faster by the estimate, and its results, rounded as
the device rounds, correlate well enough with those of float32.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.formats import FormatChoice, Formats
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.reporting import op_diagnostic, override_name, warn
from ttmlir.runtime.golden import least_correlation
from ttmlir.runtime.session import submit
from ttmlir.runtime.tensor import Array, Numerics, open_device
from ttmlir.runtime.ttrt.running import generate_inputs

_CHOICES = (("bfp_bf4", "lofi"), ("bfp_bf8", "lofi"), ("bfp_bf8", "hifi2"))
"""Formats of weights and fidelities, the narrowest first."""
_PRODUCTS = ("ttnn.matmul", "ttnn.linear")
_NAME = re.compile(r"[^\s,='\"{}\\\\]+")
"""Names that stand in options as they are."""
_NUMBER = re.compile(r"(?<![^/])\d+(?![^/])")
"""Parts of a path that number layers."""
_LAST_NUMBER = re.compile(r"_\d+$")
"""What tells operations of one name apart."""


def check_accuracy(accuracy: object) -> float:
    """The least correlation; ArgumentError unless it is one."""
    if isinstance(accuracy, bool) or not isinstance(accuracy, int | float):
        raise ArgumentTypeError(
            f"accuracy is a {type(accuracy).__name__}; give the least correlation, such as 0.99"
        )
    if not 0 < accuracy <= 1:
        raise ArgumentError(f"accuracy={accuracy:g} is no correlation; give one of up to 1")
    return float(accuracy)


def narrow_formats(compile_with: Callable[[str], CompiledModel], accuracy: float) -> CompiledModel:
    """The fastest model that was found, with its `formats`; `compile_with` takes more options.

    The inputs are those of the example, or else random numbers. Warns if the model is less accurate
    as it is. ArgumentError for a result without finite numbers.
    """
    model = compile_with("")
    program = model.binary.program(0)
    if program.mesh != (1, 1):
        raise ArgumentError("accuracy is for models of one device; leave it out")
    given = model.example_arrays()
    rng = np.random.default_rng(0)
    inputs = given or generate_inputs(program, "randn", rng)
    exact = _run(model, inputs, Numerics.EXACT)
    for number, result in enumerate(exact):
        if result.size and not np.isfinite(result).any():
            raise ArgumentError(
                f"accuracy: result {number} has no finite number to compare; give examples with "
                "which it has some, or leave accuracy out"
            )

    def measure(other: CompiledModel) -> float:
        return least_correlation(_run(other, inputs, Numerics.DEVICE), exact)

    found = Formats(
        name=model.name,
        accuracy=accuracy,
        pcc=measure(model),
        us=_microseconds(model),
        choices=(),
    )
    best, least = model, found.us
    # Where the model itself is less accurate, narrower numbers only leave it less so.
    groups = _groups_of(model) if found.is_reached else {}
    for name, places in groups.items():
        for weights, fidelity in _CHOICES:
            choice = FormatChoice(name=name, places=places, weights=weights, fidelity=fidelity)
            changed = compile_with(_with(found, choice).options)
            us = _microseconds(changed)
            if us >= least:
                continue
            pcc = measure(changed)
            if pcc >= accuracy:
                found = _with(found, replace(choice, pcc=pcc, us=us))
                best, least = changed, us
                break
    if not found.is_reached:
        text = (
            f"accuracy={accuracy:g} is not reached: with all formats as they are, the PCC is "
            f"{found.pcc:.6f}, as the device rounds"
        )
        warn(op_diagnostic(model.lowered, text, severity="warning", with_name=False))
    best.formats = found
    return best


def _with(found: Formats, choice: FormatChoice) -> Formats:
    return replace(found, choices=(*found.choices, choice))


def _microseconds(model: CompiledModel) -> float:
    return model.estimate().total.mid / 1e3


def _run(model: CompiledModel, inputs: list[Array], numerics: Numerics) -> list[Array]:
    device = open_device(numerics=numerics)
    return [each.to_numpy() for each in submit(device, model.binary, 0, inputs)]


def _groups_of(model: CompiledModel) -> dict[str, tuple[str, ...]]:
    """The places of products by their groups, that with most multiplications first."""
    places: dict[str, dict[str, None]] = {}
    work: dict[str, int] = {}
    for op in model.lowered.walk():
        name = override_name(op.location) if op.name in _PRODUCTS else None
        if name is not None and _NAME.fullmatch(name):
            group = _NUMBER.sub("*", _LAST_NUMBER.sub("", name))
            places.setdefault(group, {})[name] = None
            inner = value_shape(op.operands[0])[-1:]
            count = math.prod((*value_shape(op.results[0]), *inner))
            work[group] = work.get(group, 0) + count
    return {group: tuple(places[group]) for group in sorted(work, key=lambda each: -work[each])}
