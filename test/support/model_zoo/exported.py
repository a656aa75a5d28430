"""Models of the catalogue as torch's exporter writes them as ONNX: `make onnx-models`.

Those are taken that are right as modules, every fourth of them by name.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model_zoo.catalogue import ENTRIES
from model_zoo.entry import Entry, Sample
from model_zoo.measure import MOST_DIFFERENCE, Finding, compare, first_line, make
from model_zoo.results import ROOT, read_results

RECORD = ROOT / "test" / "model_zoo" / "onnx.json"
STEP = 4
WAYS: Mapping[str, bool] = {"dynamo": True, "torchscript": False}
"""Of the exporter, in the order in which they are tried: names, and its argument `dynamo`."""

COLOURS = re.compile(r"\x1b\[\d*m")


def chosen() -> list[Entry]:
    """The models of the record."""
    return [ENTRIES[key] for key in _right()[::STEP]]


def count_right() -> int:
    """How many models the chosen ones are taken from."""
    return len(_right())


def _right() -> list[str]:
    """Keys of models of torch that are right as modules."""
    models = read_results()["models"]
    keys = (key for key, entry in ENTRIES.items() if entry.is_torch and key in models)
    return sorted(key for key in keys if models[key]["state"] == "right")


def measure_exported(entry: Entry) -> Finding:
    """Export the model, compile the file, and compare with the module.

    "broken" is a model that the exporter does not write. The message of one that is right is the
    way of the exporter.
    """
    import torch

    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        tempfile.TemporaryDirectory() as room,
        torch.no_grad(),
    ):
        warnings.simplefilter("ignore")
        module, inputs = _flatten(make(entry))
        wanted = [each.numpy() for each in module(*inputs)]
        file = Path(room) / "model.onnx"
        message = ""
        for way, dynamo in WAYS.items():
            try:
                torch.onnx.export(module, inputs, file, dynamo=dynamo, verbose=False)
            except Exception as error:
                message = message or COLOURS.sub("", first_line(error))
                continue
            return _measure(file, inputs, wanted, way)
        return Finding("broken", message)


def _measure(file: Path, inputs: Sequence[Any], wanted: Sequence[Any], way: str) -> Finding:
    import ttmlir

    try:
        compiled = ttmlir.compile(file, *inputs)
        found = compiled(*inputs, numerics="exact")
    except ttmlir.Error as error:
        return Finding("refused", first_line(error).replace(f"{file.parent}/", ""))
    except Exception as error:
        return Finding("wrong", first_line(error))
    mistake, difference = compare(found if isinstance(found, tuple) else (found,), wanted)
    if mistake or not difference <= MOST_DIFFERENCE:
        return Finding("wrong", mistake or f"other numbers: {difference:.0e}")
    return Finding("right", way)


def _flatten(sample: Sample) -> tuple[Any, tuple[Any, ...]]:
    """A module whose arguments and results are tensors alone, as files of ONNX have them."""
    import torch
    from torch.utils import _pytree

    config: Any = getattr(sample.model, "config", None)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    leaves, spec = _pytree.tree_flatten((sample.args, dict(sample.kwargs)))
    places = [i for i, each in enumerate(leaves) if isinstance(each, torch.Tensor)]

    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = sample.model

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            given = [*leaves]
            for place, tensor in zip(places, tensors, strict=True):
                given[place] = tensor
            args, kwargs = _pytree.tree_unflatten(given, spec)
            results = _pytree.tree_leaves(self.model(*args, **kwargs))
            return tuple(each for each in results if isinstance(each, torch.Tensor))

    return Flat().eval(), tuple(leaves[place] for place in places)


def read_record() -> dict[str, dict[str, str]]:
    """State and message of each model by its key."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def main(names: Sequence[str]) -> int:
    """Measure those with one of the names in their keys, or all; keep what was found."""
    entries = [each for each in chosen() if any(name in each.key for name in names or [""])]
    record = read_record() if RECORD.exists() else {}
    for entry in entries:  # in one process: the exporter takes long to start
        finding = measure_exported(entry)
        print(f"{entry.key}: {finding.state} {finding.message}", flush=True)
        record[entry.key] = {"state": finding.state, "message": finding.message}
        text = json.dumps(dict(sorted(record.items())), indent=1)
        RECORD.write_text(text + "\n", encoding="utf-8")
    return int(any(record[each.key]["state"] == "wrong" for each in entries))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
