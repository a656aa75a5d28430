"""The catalogue of public models, and the page about them, without their libraries."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from model_zoo.catalogue import ENTRIES
from model_zoo.entry import LIBRARIES, frameworks
from model_zoo.exported import WAYS, read_record
from model_zoo.measure import LEAST_PCC, TRACED_OTHERWISE
from model_zoo.results import read_results
from models_page import models_page, reason

ROOT = Path(__file__).resolve().parents[2]
MODELS = read_results()["models"]
LEAST_MODELS = 320


def test_models_are_of_known_libraries() -> None:
    """Each library that is named has some, and most have many."""
    counts = Counter(entry.library for entry in ENTRIES.values())
    assert set(counts) == set(LIBRARIES)
    assert len(ENTRIES) >= LEAST_MODELS
    assert counts["transformers"] >= 200
    assert counts["timm"] >= 90
    assert counts["torchvision"] >= 30
    assert counts["diffusers"] >= 25
    assert counts["flax"] >= 8


def test_keys_say_library_and_name() -> None:
    """A key is what the command takes, and what the results are kept under."""
    for key, entry in ENTRIES.items():
        assert key == f"{entry.library}/{entry.name}"
        assert entry.kind


def test_measured_models_are_in_the_catalogue() -> None:
    """`make docs-models` brings them up to date; those that are new may wait for it."""
    assert set(MODELS) <= set(ENTRIES)


@pytest.mark.parametrize("key", sorted(MODELS))
def test_result_is_complete(key: str) -> None:
    """Numbers of what is right, the reason of what is refused."""
    model = MODELS[key]
    assert model["state"] in ("right", "refused", "wrong")
    assert not re.search(r"(^|\s)/\w", model.get("message", "")), "a place on somebody's machine"
    if model["state"] == "right":
        assert model["pcc"] >= LEAST_PCC
        assert model["operations"] > 0
        assert {"difference", "device_pcc"} <= set(model)
        assert "message" not in model
    else:
        assert reason(model["message"])


def test_most_models_are_right() -> None:
    """What is refused is for reasons that the page gives; only others' mistakes are wrong."""
    states = Counter(model["state"] for model in MODELS.values())
    wrong = {model["message"] for model in MODELS.values() if model["state"] == "wrong"}
    assert wrong <= {TRACED_OTHERWISE}
    assert states["right"] >= 0.97 * len(MODELS)


def test_exported_models_are_right() -> None:
    """Most; what is refused is refused in words, and none has other numbers."""
    record = read_record()
    assert len(record) >= 40
    assert set(record) <= set(ENTRIES)
    states = Counter(each["state"] for each in record.values())
    assert set(states) <= {"right", "refused", "broken"}
    assert states["right"] >= 0.9 * len(record)
    for each in record.values():
        assert each["message"] in WAYS if each["state"] == "right" else each["message"]


def test_page_names_versions_and_models() -> None:
    """A line with the versions of all packages; each model in a list or a row, sorted."""
    page = models_page()
    line = next(line for line in page.split("\n") if line.startswith("Versions: "))
    for name in frameworks():
        assert re.search(rf"\b{name} \d+\.\d+", line), name
    sections = page.split("\n## ")[1:]
    lists = [re.search(r"^Right: ([^.]+(?:\.\d[^.]*)*)\.$", each, re.M) for each in sections]
    right = [[*" ".join(found[1].split()).split(", ")] for found in lists if found]
    rows = [
        re.findall(r"^\| ([^|]+) \| [^|]+ \| (?:refused: [^|]+|wrong: [^|]+) \|", each, re.M)
        for each in sections
    ]
    assert sum(map(len, [*right, *rows])) == len(MODELS) >= LEAST_MODELS
    for names in (*right, *rows):
        assert names == sorted(names, key=str.lower)


def test_versions_are_pinned_in_one_place() -> None:
    """The requirements have each library once, with its version."""
    lines = (ROOT / "test/model_zoo/requirements.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = read_results()["versions"]
    for name in LIBRARIES:
        assert pinned[name] == versions[name].partition("+")[0]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "CompilationError: a.py:1:2: error: 'aten.index.Tensor': the shape u0x7 depends on the "
            "numbers in a tensor",
            "shapes depend on data",
        ),
        (
            "CompilationError: a.py:1:2: error: torch cannot trace this: what it does depends on "
            "the numbers in a tensor; torch.where(condition, a, b) chooses",
            "Python decides by data",
        ),
        ("CompilationError: x: error: tensors of complex64 are not supported", "complex numbers"),
        ("TypeError: 'model' takes no list", "'model' takes no list"),
        ("ValueError: " + "very long " * 20, "very long " * 6 + "very ..."),
    ],
)
def test_reasons_are_short(message: str, words: str) -> None:
    """The page has a few words for each message."""
    assert reason(message) == words
