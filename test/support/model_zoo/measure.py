"""Compile one model of the catalogue, run it, and compare it with its framework."""

from __future__ import annotations

import contextlib
import io
import random
import re
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from model_zoo.entry import LIBRARIES, SEED, Entry, Sample

State = Literal["right", "refused", "wrong", "broken"]

LEAST_PCC = 0.9999
MOST_DIFFERENCE = 1e-3
"""Of the greatest number of a result, in exact numerics: rounding to f32 in another order."""


TRACED_OTHERWISE = "the numbers of torch.export, where the library takes another way"


@dataclass(frozen=True)
class Finding:
    """What became of a model."""

    state: State
    """"broken" is a model that its own library cannot make or run."""
    message: str = ""
    """Why it is refused, wrong or broken."""
    operations: int | None = None
    """In the program."""
    pcc: float | None = None
    """The least of all results, in exact numerics."""
    difference: float | None = None
    """The greatest of all results, in exact numerics."""
    device_pcc: float | None = None
    seconds: float | None = None
    """Of processors, for all of it."""

    def as_json(self) -> dict[str, Any]:
        """Without what is not known."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}


def measure(entry: Entry) -> Finding:
    """Make the model, compile it as a user would, and call it with what it was compiled for."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            sample = make(entry)
            inputs = _Inputs(sample)
            wanted = _leaves(entry, _call_library(entry, sample))
        except Exception as error:
            return Finding("broken", first_line(error))
        return _measure(entry, inputs, wanted)


class _Inputs:
    """The arguments of a call. Each call has its own, as it may change them."""

    def __init__(self, sample: Sample) -> None:
        self._values = deepcopy((sample.args, dict(sample.kwargs)))

    def give(self, function: Callable[..., Any], **more: Any) -> Any:
        """What comes of the function."""
        args, kwargs = deepcopy(self._values)
        return function(*args, **more, **kwargs)


def _measure(entry: Entry, inputs: _Inputs, wanted: Sequence[Any]) -> Finding:
    import ttmlir

    try:
        compiled = _compile(entry)
    except (ttmlir.CompilationError, TypeError, ValueError) as error:
        return Finding("refused", first_line(error))
    except Exception as error:
        return Finding("wrong", first_line(error))
    operations = sum(len(each.operations) for each in compiled.binary.programs)
    try:
        exact, device = (
            _leaves(entry, inputs.give(compiled, numerics=numerics))
            for numerics in ("exact", "device")
        )
    except ttmlir.Error as error:
        # Too large for the board: else what was compiled can be run.
        state = "refused" if "does not fit:" in str(error) else "wrong"
        return Finding(state, first_line(error), operations)
    except Exception as error:
        return Finding("wrong", first_line(error), operations)
    if mistake := _mistake(exact, wanted):
        return Finding("wrong", mistake, operations)
    pairs = list(zip(exact, wanted, strict=True))
    pcc = min((_pcc(*pair) for pair in pairs), default=1.0)
    difference = max((_difference(*pair) for pair in pairs), default=0.0)
    relative = _relative(exact, wanted)
    device_pcc = min((_pcc(*pair) for pair in zip(device, wanted, strict=True)), default=1.0)
    right = pcc >= LEAST_PCC and relative <= MOST_DIFFERENCE
    return Finding(
        "right" if right else "wrong",
        "" if right else _cause(entry, compiled, inputs, exact),
        operations,
        round(pcc, 7),
        float(f"{difference:.0e}"),
        round(device_pcc, 6),
    )


def _compile(entry: Entry) -> Any:
    import ttmlir

    sample = make(entry)
    return ttmlir.compile(sample.model, *sample.args, example_kwargs=sample.kwargs)


def save(entry: Entry, path: Path) -> Finding:
    """Compile the model, and save it as its path says."""
    import ttmlir

    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            _compile(entry).save(path, golden=True)
        except (ttmlir.CompilationError, TypeError, ValueError) as error:
            return Finding("refused", first_line(error))
        except Exception as error:
            return Finding("wrong", first_line(error))
    return Finding("right")


def _cause(entry: Entry, compiled: Any, inputs: _Inputs, found: Sequence[Any]) -> str:
    """Whose the other numbers are."""
    traced = _leaves(entry, inputs.give(compiled.reference))
    agree = all(
        _difference(*pair) <= MOST_DIFFERENCE * _greatest(pair[1])
        for pair in zip(found, traced, strict=True)
    )
    return TRACED_OTHERWISE if agree else "other numbers"


def make(entry: Entry) -> Sample:
    """The model and its arguments, the same each time."""
    random.seed(SEED)
    np.random.seed(SEED)
    if not entry.is_torch:
        return entry.make()
    import torch

    import model_zoo.torchvision_operators  # noqa: F401

    torch.manual_seed(SEED)
    sample = entry.make()
    _vary(sample)
    return sample


def _vary(sample: Sample) -> None:
    """Make a new model alike to a trained one: no parameter is constant, and numbers stay near 1.

    New scales of residual branches and weights of the last layer are often zeros, so that most of a
    model would make no difference, and without statistics numbers vanish in deep networks.
    """
    import torch

    if not isinstance(sample.model, torch.nn.Module):
        return
    sample.model.eval()
    with torch.no_grad():
        for parameter in sample.model.parameters():
            if parameter.is_floating_point() and (parameter == parameter.flatten()[:1]).all():
                parameter += 0.1 * torch.randn_like(parameter)
    norms = [
        module
        for module in sample.model.modules()
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.track_running_stats
    ]
    for norm in norms:
        norm.train()
        norm.momentum = 1.0
    if norms:
        with torch.no_grad():
            sample.model(*sample.args, **sample.kwargs)
    for norm in norms:
        norm.eval()


def _call_library(entry: Entry, sample: Sample) -> Any:
    if not entry.is_torch:
        return sample.model(*sample.args, **sample.kwargs)
    import torch

    with torch.no_grad():
        return sample.model(*sample.args, **sample.kwargs)


def _leaves(entry: Entry, results: Any) -> list[Any]:
    """The arrays of results, in the order of their containers."""
    from ttmlir.frontend.calls import read_layout

    if entry.is_torch:
        from ttmlir.frontend.torch.containers import OPENER
    else:
        from ttmlir.frontend.calls import OPENER
    leaves = read_layout(results, OPENER)[1]
    return [leaf.numpy() if hasattr(leaf, "numpy") else np.asarray(leaf) for leaf in leaves]


def compare(found: Sequence[Any], wanted: Sequence[Any]) -> tuple[str, float]:
    """What is not even alike, or nothing; and the greatest difference, relative to the greatest
    number of its result.
    """
    found = [np.asarray(each) for each in found]
    if mistake := _mistake(found, wanted):
        return mistake, float("inf")
    if any(_pcc(*pair) == 0.0 for pair in zip(found, wanted, strict=True)):
        return "", float("inf")
    return "", _relative(found, wanted)


def _relative(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    pairs = zip(found, wanted, strict=True)
    return max((_difference(*pair) / _greatest(pair[1]) for pair in pairs), default=0.0)


def _mistake(found: Sequence[Any], wanted: Sequence[Any]) -> str:
    """What is not even alike, or nothing."""
    if len(found) != len(wanted):
        return f"{len(found)} results instead of {len(wanted)}"
    for number, (each, one) in enumerate(zip(found, wanted, strict=True)):
        if each.shape != one.shape or each.dtype != one.dtype:
            return (
                f"result {number} is {each.dtype}{list(each.shape)} instead of "
                f"{one.dtype}{list(one.shape)}"
            )
    return ""


def _pcc(found: Any, wanted: Any) -> float:
    """The correlation; 1 or 0 where it is not defined, or where only equality counts."""
    if not np.issubdtype(wanted.dtype, np.floating):
        return 1.0
    usable = np.isfinite(wanted)
    if not np.array_equal(usable, np.isfinite(found)):
        return 0.0
    first = found[usable].astype(np.float64)
    second = wanted[usable].astype(np.float64)
    if first.size < 2 or first.std() == 0 or second.std() == 0:
        return float(np.allclose(first, second, rtol=0.05, atol=1e-3))
    return float(np.corrcoef(first, second)[0, 1])


def _difference(found: Any, wanted: Any) -> float:
    usable = np.isfinite(wanted.astype(np.float64))
    distance = np.abs(found.astype(np.float64) - wanted.astype(np.float64))[usable]
    return float(distance.max(initial=0.0))


def _greatest(wanted: Any) -> float:
    """The scale of a result, to which differences are compared; of whole numbers none."""
    if not np.issubdtype(wanted.dtype, np.floating):
        return 1e-3
    values = np.abs(wanted[np.isfinite(wanted)])
    return max(float(values.max(initial=0.0)), 1e-3)


def first_line(error: Exception) -> str:
    """The first line of a message, with the places of libraries as in any installation."""
    first = f"{type(error).__name__}: {error}".split("\n")[0]
    names = "|".join([*LIBRARIES, "torch", "ttmlir"])
    return re.sub(rf"/\S*/(?={names})", "", first)
