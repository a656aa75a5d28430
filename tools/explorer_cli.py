"""The command line of `tt-explorer`."""

from __future__ import annotations

import sys

import click

from ttmlir.version import VERSION


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "-p",
    "--port",
    type=click.IntRange(0, 65535),
    help="Port; default: the first free from 8080 on.",
)
@click.option("-q", "--no-browser", is_flag=True, help="Print the address, but open no browser.")
@click.option("--check", is_flag=True, help="Load the page as a browser would, say what it shows.")
@click.option(
    "--save-folder",
    default=".",
    show_default=True,
    help="Where overrides are saved, for ttmlir-opt @NAME.overrides.",
)
@click.option(
    "--overrides",
    metavar="FILE",
    help="Begin with the overrides that an earlier explorer has saved.",
)
@click.version_option(VERSION, prog_name="tt-explorer")
def cli(
    files: tuple[str, ...],
    port: int | None,
    no_browser: bool,
    check: bool,
    save_folder: str,
    overrides: str | None,
) -> int:
    """Show programs as graphs in the browser: MLIR, .ttnn and .ttm files, and folders of them.

    Only this machine can ask, and only the files named here are read.
    """
    from ttmlir.errors import InputError, show_cause
    from ttmlir.explorer.documents import load_overrides, open_documents
    from ttmlir.explorer.server import open_explorer
    from ttmlir.mlir.reporting import DiagnosticError, Source, render_all, uses_colour
    from ttmlir.terminal import show_wait

    if not files:
        raise click.UsageError("give at least one file or folder to show")
    try:
        with show_wait("reading programs"):
            documents = open_documents(files)
            if overrides is not None:
                load_overrides(overrides, documents)
        explorer = open_explorer(documents, port=port, save_folder=save_folder)
    except DiagnosticError as error:
        show_cause(error)
        texts = {name: Source(_text_of(name)) for name in files}
        sys.stderr.write(render_all(error.diagnostics, texts, coloured=uses_colour(sys.stderr)))
        return 1
    except OSError as error:
        raise InputError(f"port {port} cannot be used: {error.strerror}") from error
    with explorer:
        if check:
            click.echo("\n".join(explorer.check()))
            return 0
        click.echo(f"{explorer.address}\nPress Ctrl+C to stop.")
        if not no_browser:
            explorer.open_browser()
        explorer.wait()
    return 0


def _text_of(name: str) -> str:
    from ttmlir.compiler import read_source
    from ttmlir.errors import FileError

    try:
        return read_source(name)
    except FileError:
        return ""
