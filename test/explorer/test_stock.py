"""The package as it is: its data classes take our graphs, its own server our extension."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import dacite
import pytest
from model_explorer import graph_builder, node_data_builder
from model_explorer.extension_manager import ExtensionManager

from ttmlir.explorer import server
from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.session import Session

ROOT = Path(__file__).resolve().parents[2]
LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"
STRICT = dacite.Config(strict=True)
FIELDS = dacite.Config(strict=True, check_types=False)
"""The page shows words, too, where the class says numbers."""


def test_its_classes_have_all_fields_of_graphs() -> None:
    """None that they do not know."""
    session = Session(open_documents([str(LAYERS)]))
    answer = session.run(
        {"cmdId": "convert", "extensionId": "tt_adapter", "modelPath": "layers.mlir"}
    )
    for each in answer["graphCollections"]:
        dacite.from_dict(graph_builder.GraphCollection, each, STRICT)
    number = 0
    while "content" in (data := session.node_data(number)):
        for values in json.loads(data["content"]).values():
            dacite.from_dict(node_data_builder.GraphNodeData, values, FIELDS)
        number += 1
    assert number == 10


@pytest.fixture(scope="module")
def manager() -> ExtensionManager:
    """That of the package, with our extension alone."""
    manager = ExtensionManager(["ttmlir.explorer"])
    manager.load_extensions()
    return manager


def ask(manager: ExtensionManager, **command: Any) -> Any:
    """The answer of the package's own server."""
    return json.loads(json.dumps(manager.run_cmd({"modelPath": str(LAYERS), **command})))


def test_its_server_shows_the_same_graphs(manager: ExtensionManager) -> None:
    """Through the package's own extension manager."""
    shown = ask(manager, extensionId="tt_adapter", cmdId="convert", settings={})
    session = Session(open_documents([str(LAYERS)]))
    ours = session.run(
        {"cmdId": "convert", "extensionId": "tt_adapter", "modelPath": "layers.mlir"}
    )
    assert shown["graphCollections"] == ours["graphCollections"]


def test_its_server_lists_and_runs_the_panel(manager: ExtensionManager) -> None:
    """Providers, their editors, and data."""
    listed = {each["id"]: each for each in manager.get_extensions_metadata()}
    assert listed["tt_adapter"]["fileExts"] == ["mlir", "ttir", "ttnn", "ttm"]
    assert listed["tt_estimate"]["filter"]["adapterIds"] == ["tt_adapter"]
    ask(manager, extensionId="tt_adapter", cmdId="convert", settings={})
    editors = ask(manager, extensionId="tt_overrides", cmdId="get_config_editors")
    assert [each["id"] for each in editors["configEditors"]] == [
        *("operation", "memory_space", "memory_layout", "grid", "page_layout", "data_type"),
        *("board", "action"),
    ]
    answer = ask(
        manager,
        extensionId="tt_estimate",
        cmdId="run",
        graphId="net",
        configValues={"board": "n150"},
        graph={"id": "net", "nodes": [{"id": "op1", "label": "x"}]},
    )
    assert answer["error"] == ""
    assert "time on n150 (us)" in {each["name"] for each in answer["result"]}


def test_its_server_shows_what_goes_wrong(manager: ExtensionManager, tmp_path: Path) -> None:
    """As an error of the conversion."""
    with pytest.raises(Exception, match="cannot open input file"):
        manager.run_cmd(
            {
                "extensionId": "tt_adapter",
                "cmdId": "convert",
                "modelPath": str(tmp_path / "x.mlir"),
                "settings": {},
            }
        )


def test_one_release_everywhere() -> None:
    """The Makefile installs the release that messages and guides name."""
    for name in ("Makefile", "pyproject.toml", "docs/explorer.md"):
        text = (ROOT / name).read_text()
        assert {*re.findall(r"ai-edge-model-explorer==[\d.]+", text)} == {server.REQUIREMENT}, name


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(server.MissingPackageError, match="pip install --no-deps ai-edge-model-exp"):
        server.page_files()


def test_only_files_of_the_page_are_served() -> None:
    """By paths below the page's folder."""
    files = server.page_files()
    assert "index.html" in files
    assert all(".." not in name and not name.startswith("/") for name in files)
