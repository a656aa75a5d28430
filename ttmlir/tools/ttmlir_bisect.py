"""`ttmlir-bisect`: finds the operation with which a program begins to compute something else."""

from __future__ import annotations

import json
import sys

import click

from ttmlir.tools.start_up import run_once
from ttmlir.version import VERSION


@click.command()
@click.argument("model")
@click.option("--function", help="Function to run; default: main, or else the first.")
@click.option("--seed", default=0, help="Seed of the random inputs.", show_default=True)
@click.option("--inputs", multiple=True, help="A .npz or .npy file with inputs, in order.")
@click.option(
    "--numerics",
    type=click.Choice(("exact", "device")),
    default="exact",
    help="How the .ttnn file computes.",
    show_default=True,
)
@click.option("--pcc", type=click.FloatRange(0, 1), help="Least correlation.")
@click.option("--rtol", type=float, help="Relative tolerance that is accepted without --pcc.")
@click.option("--atol", type=float, help="Absolute tolerance that is accepted without --pcc.")
@click.option("--framework-result", multiple=True, help="A .npz or .npy file with the results.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.version_option(VERSION, prog_name="ttmlir-bisect")
def cli(
    model: str,
    function: str | None,
    seed: int,
    inputs: tuple[str, ...],
    numerics: str,
    pcc: float | None,
    rtol: float | None,
    atol: float | None,
    framework_result: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run the program of the file MODEL at each level of lowering, on the same inputs.

    Prints how many operations differ at each level and the first one that does, with statistics of
    both results. The exit status is 1 if one differs.
    """
    from ttmlir.compiler import read_source
    from ttmlir.interpreter.bisection import bisect, tolerance_for
    from ttmlir.runtime.element import Numerics
    from ttmlir.runtime.ttrt.inputs import load_inputs

    report = bisect(
        read_source(model),
        load_inputs(inputs) if inputs else None,
        seed=seed,
        function=function,
        numerics=Numerics(numerics),
        tolerance=tolerance_for(Numerics(numerics), pcc=pcc, rtol=rtol, atol=atol),
        framework_results=load_inputs(framework_result) if framework_result else None,
        file_name=model,
    )
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))
    return 0 if report.agrees else 1


def _run(arguments: list[str]) -> int:
    from ttmlir.mlir.files.text_files import FileError
    from ttmlir.mlir.reporting.diagnostics import DiagnosticError
    from ttmlir.runtime.errors import RuntimeFailure

    try:
        return cli.main(arguments, prog_name="ttmlir-bisect", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
    except DiagnosticError as error:
        click.echo(str(error), err=True)
    except (FileError, RuntimeFailure) as error:
        click.echo(f"ttmlir-bisect: error: {error}", err=True)
    except click.Abort:
        pass
    return 1


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-bisect", lambda: _run(given))


if __name__ == "__main__":
    sys.exit(main())
