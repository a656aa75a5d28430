"""The command line, and compiled models."""

from __future__ import annotations

import socket
import stat
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import ttmlir
from ttmlir.compiler import compile_to_ttnn
from ttmlir.errors import InputError
from ttmlir.explorer import server
from ttmlir.tools.tt_explorer import main

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"


def test_check_says_what_the_page_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Graphs, their sizes and the data."""
    path = tmp_path / "layers.ttnn"
    path.write_bytes(compile_to_ttnn(LAYERS.read_text()))
    assert main(["--no-browser", "--check", str(path), str(LAYERS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "layers.ttnn",
        "  net: 19 nodes, 18 edges, 6 layers",
        "layers.mlir (ttnn)",
        "  net: 19 nodes, 18 edges, 6 layers",
        "layers.mlir (ttir)",
        "  net: 10 nodes, 9 edges, 6 layers",
    ]
    assert any(line.startswith("layers.ttnn: data 'time on ") for line in lines)


def test_mistakes_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At their place, with the line."""
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f(")
    assert main(["--check", str(path)]) == 1
    first, line, caret = capsys.readouterr().err.splitlines()[:3]
    assert first.startswith(f"{path}:1:14: error: ")
    assert (line, caret.strip()) == ("func.func @f(", "^")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give at least one file or folder to show"),
        (["missing.mlir"], "cannot open input file 'missing.mlir'"),
        (["missing.ttnn"], "missing.ttnn: No such file or directory"),
        (["--port", "x", str(LAYERS)], "'x' is not a valid integer range"),
    ],
)
def test_mistakes_on_the_command_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 1 and a sentence."""
    assert main(arguments) == 1
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    """The message names it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--check", "--port", str(port), str(LAYERS)]) == 1
    assert f"port {port} cannot be used: Address already in use" in capsys.readouterr().err


def test_without_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what to install."""
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    assert main(["--check", str(LAYERS)]) == 1
    assert f"pip install --no-deps {server.REQUIREMENT}" in capsys.readouterr().err


def test_explore_a_compiled_model(tmp_path: Path) -> None:
    """Of JAX: the program and the module that it comes from."""
    import jax
    import jax.numpy as jnp

    def net(w: jax.Array, x: jax.Array) -> jax.Array:
        with jax.named_scope("block"):
            return jnp.tanh(x @ w)

    compiled = ttmlir.compile(net, jnp.ones((70, 5)), jnp.ones((33, 70)))
    with ttmlir.explore(compiled, browser=False, save_folder=str(tmp_path)) as explorer:
        lines = explorer.check()
        assert repr(explorer) == f"Explorer({explorer.address})"
    assert [line for line in lines if "data" not in line] == [
        "net (ttnn)",
        "  main: 10 nodes, 9 edges, 3 layers",
        "net (stablehlo)",
        "  main: 5 nodes, 4 edges, 3 layers",
    ]


def test_the_browser_learns_the_address_from_a_private_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not from its command line, which all users can read; the file goes once it is used."""
    opened = list[str]()
    monkeypatch.setattr(webbrowser, "open_new_tab", opened.append)
    with ttmlir.explore(ttmlir.compile(LAYERS.read_text(), target="kernels")) as explorer:
        token = explorer.address.partition("token=")[2]
        (address,) = opened
        assert token not in address
        path = Path(unquote(urlsplit(address).path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert f"0; url={explorer.address}" in path.read_text()
        explorer.check()
        assert not path.parent.exists()
        explorer.open_browser()
        path = Path(unquote(urlsplit(opened[1]).path))
        assert path.exists()
    assert not path.parent.exists()


def test_explore_kernels() -> None:
    """A model of kernels shows its file."""
    text = LAYERS.read_text()
    compiled = ttmlir.compile(text, target="kernels")
    with ttmlir.explore(compiled, browser=False) as explorer:
        assert explorer.check()[0] == "net.ttm"


def test_a_loaded_model_is_shown_as_its_file(tmp_path: Path) -> None:
    """With the graph that tt-explorer shows of the file; its name is the model's."""
    path = tmp_path / "layers.ttnn"
    path.write_bytes(compile_to_ttnn(LAYERS.read_text()))
    with ttmlir.explore(ttmlir.load(path), browser=False) as explorer:
        assert explorer.check()[:2] == ["net.ttnn", "  net: 19 nodes, 18 edges, 6 layers"]


def test_what_is_no_model_is_not_explored() -> None:
    """Files are for the command."""
    with pytest.raises(InputError, match=r"ttmlir\.load return, not str; the command tt-explorer"):
        ttmlir.explore("layers.ttnn", browser=False)
