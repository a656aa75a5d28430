"""The command line of `ttmlir-bisect`."""

from __future__ import annotations

import json
import sys

import click

from ttmlir.tools.click_command import FiniteFloat
from ttmlir.version import VERSION


@click.command()
@click.argument("model")
@click.option("--function", help="Function to run; default: main, or else the first.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    help="Seed of the random inputs.",
    show_default=True,
)
@click.option("--inputs", multiple=True, help="A .npz or .npy file with inputs, in order.")
@click.option(
    "--target",
    type=click.Choice(("ttnn", "kernels")),
    default="ttnn",
    help="Lower to library calls in a .ttnn file, or to kernels in a .ttm file.",
    show_default=True,
)
@click.option(
    "--numerics",
    type=click.Choice(("exact", "device")),
    default="exact",
    help="How the file computes.",
    show_default=True,
)
@click.option("--pcc", type=FiniteFloat(0, 1), help="Least correlation.")
@click.option(
    "--rtol", type=FiniteFloat(min=0), help="Relative tolerance that is accepted without --pcc."
)
@click.option(
    "--atol", type=FiniteFloat(min=0), help="Absolute tolerance that is accepted without --pcc."
)
@click.option("--framework-result", multiple=True, help="A .npz or .npy file with the results.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.version_option(VERSION, prog_name="ttmlir-bisect")
def cli(
    model: str,
    function: str | None,
    seed: int,
    inputs: tuple[str, ...],
    target: str,
    numerics: str,
    pcc: float | None,
    rtol: float | None,
    atol: float | None,
    framework_result: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run the program of the file MODEL at each level of lowering, on the same inputs.

    Prints how many operations differ at each level and the first one that does, with statistics of
    both results, and of programs of several devices the device. The exit status is 1 if one
    differs.
    """
    from ttmlir.compiler import parse, read_source
    from ttmlir.dialects.sdy import find_division
    from ttmlir.errors import FileError, show_cause
    from ttmlir.interpreter.bisection import bisect_module, tolerance_for
    from ttmlir.mlir.reporting import DiagnosticError, Source, render_all, uses_colour
    from ttmlir.mlir.text_files import input_name
    from ttmlir.runtime.errors import InputError
    from ttmlir.runtime.tensor import Numerics
    from ttmlir.runtime.ttrt.running import load_inputs

    name = input_name(model)
    try:
        text = read_source(model)
    except FileError as error:
        raise InputError(str(error)) from error
    try:
        given = load_inputs(inputs) if inputs else None
        results = load_inputs(framework_result) if framework_result else None
        chosen = Numerics(numerics)
        tolerance = tolerance_for(chosen, pcc=pcc, rtol=rtol, atol=atol)
        module = parse(text, file_name=name)
        if find_division(module) is not None:
            from ttmlir.frontend.mesh_bisection import bisect_mesh
            from ttmlir.frontend.text import import_text

            if target != "ttnn" or function is not None:
                raise InputError(
                    f"{name} is for several devices, of which the whole program is compared, for "
                    "target ttnn; leave --target and --function out"
                )
            report = bisect_mesh(
                import_text(text, file_name=name),
                given,
                seed=seed,
                numerics=chosen,
                tolerance=tolerance,
                framework_results=results,
            )
        else:
            report = bisect_module(
                module,
                given,
                seed=seed,
                function=function,
                numerics=chosen,
                tolerance=tolerance,
                framework_results=results,
                target=target,
            )
    except DiagnosticError as error:
        show_cause(error)
        shown = (diagnostic.without_operation() for diagnostic in error.diagnostics)
        coloured = uses_colour(sys.stderr)
        sys.stderr.write(render_all(shown, {name: Source(text)}, coloured=coloured))
        return 1
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))
    return 0 if report.agrees else 1
