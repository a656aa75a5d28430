"""The command line of `ttmlir-tune`."""

from __future__ import annotations

import os
import sys

import click

from ttmlir.tools.click_command import FiniteFloat
from ttmlir.version import VERSION


@click.command()
@click.argument("model")
@click.option(
    "--board",
    default="n150",
    show_default=True,
    help="What to tune for: a name such as n150 or p150, or a .ttsys file.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 100_000),
    default=50,
    show_default=True,
    help="Candidates to compile, the default among them.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Processes that work at once; the result is the same.",
)
@click.option("--cluster", default="", help="Address of a Dask scheduler to work on.")
@click.option(
    "--pcc",
    type=FiniteFloat(0, 1),
    default=0.99,
    show_default=True,
    help="Least correlation of the results, as the device computes, with exact ones.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of random inputs and of the search.",
)
@click.option("--inputs", multiple=True, help="A .npz or .npy file with inputs, in order.")
@click.option("--keep-formats", is_flag=True, help="Keep all formats and fidelities.")
@click.option(
    "--simulate",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Fastest candidates to run on the simulator, where kernels have their form.",
)
@click.option(
    "--result-file",
    default="",
    help="JSON file for all candidates; given again after an interruption, it goes on.",
)
@click.option(
    "--shardings",
    is_flag=True,
    help="Search meshes of the board's chips, and shardings, for a file of StableHLO.",
)
@click.option(
    "-o",
    "--output",
    default="",
    help="File of overrides; default: MODEL.overrides. With --shardings, the sharded program "
    "(.mlir; default: MODEL.sharded.mlir), or Python for JAX (.py).",
)
@click.version_option(VERSION, prog_name="ttmlir-tune")
def cli(
    model: str,
    board: str,
    budget: int,
    jobs: int,
    cluster: str,
    pcc: float,
    seed: int,
    inputs: tuple[str, ...],
    keep_formats: bool,
    simulate: int,
    result_file: str,
    shardings: bool,
    output: str,
) -> int:
    """Search layouts, formats and fidelities for the file MODEL that take less estimated time.

    Prints the gain, and writes a file of flags that ttmlir-opt takes as @FILE. With --shardings it
    searches meshes of the board's chips, and how arguments are divided over them.
    """
    from ttmlir.compiler import read_source
    from ttmlir.errors import InputError, show_cause
    from ttmlir.files import require_folder
    from ttmlir.mlir.reporting import DiagnosticError, Source, render_all, uses_colour
    from ttmlir.tuning.shardings import ShardingReport, form_of, tune_shardings
    from ttmlir.tuning.tuning import Report, Request, tune

    def search() -> Report | ShardingReport:
        if shardings:
            return tune_shardings(model, board=board, budget=budget)
        return tune(request)

    read = {os.path.realpath(each) for each in (model, *inputs)}
    for option, path in (("--output", output), ("--result-file", result_file)):
        if path and os.path.realpath(path) in read:
            raise InputError(f"{option} would replace {path}, which is read; give another name")
        if path:
            require_folder(path)
    if shardings and output:
        form_of(output)
    request = Request(
        model,
        board=board,
        budget=budget,
        jobs=jobs,
        cluster=cluster,
        least_pcc=pcc,
        seed=seed,
        inputs=inputs,
        formats=not keep_formats,
        simulate=simulate,
        result_file=result_file,
    )
    try:
        report = search()
    except DiagnosticError as error:
        show_cause(error)
        texts = {model: Source(read_source(model))}
        shown = (diagnostic.without_operation() for diagnostic in error.diagnostics)
        sys.stderr.write(render_all(shown, texts, coloured=uses_colour(sys.stderr)))
        return 1
    click.echo(str(report))
    path = report.write(output)
    use = "ttmlir.compile takes it" if shardings else f"ttmlir-opt @{path} {model} compiles with it"
    click.echo(f"wrote {path}: {use}")
    return 0
