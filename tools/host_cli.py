"""The command line of `ttmlir-host`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import click

from ttmlir.files import write_file
from ttmlir.limits import DEFAULT_CYCLE_LIMIT
from ttmlir.terminal import print_error
from ttmlir.tools.click_command import FiniteFloat
from ttmlir.version import VERSION

_DEFINE = re.compile(r"[A-Za-z_]\w*(?:\([^()]*\))?(=.*)?", re.ASCII)


@click.command()
@click.version_option(VERSION, prog_name="ttmlir-host")
@click.argument("source", metavar="MAIN.cpp")
@click.argument("arguments", nargs=-1, metavar="[-- ARG...]")
@click.option("--kernels", "kernel_folders", multiple=True, metavar="DIR", help="Has kernels.")
@click.option("-I", "include_folders", multiple=True, metavar="DIR", help="A folder with headers.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="A macro.")
@click.option("--with", "more", multiple=True, metavar="FILE", help="A further source file.")
@click.option("--board", default="n150", show_default=True, help="The board that there is.")
@click.option(
    "--numerics",
    type=click.Choice(["device", "exact"]),
    default="device",
    show_default=True,
    help="Every rounding of the chip, or float32 throughout.",
)
@click.option(
    "--tt-metal",
    "release",
    type=click.Choice(["2024.10", "2025.6", "2026.2", "0.81"]),
    help="The state of tt-metal whose meaning calls have, instead of what headers say.",
)
@click.option("--no-sanitize", is_flag=True, help="Run faster, without the checks of accesses.")
@click.option("--allow", multiple=True, metavar="RULE", help="Let a finding of the sanitizer pass.")
@click.option(
    "--max-findings",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Errors that are collected before the last of them stops a program.",
)
@click.option(
    "--cycle-limit",
    type=click.IntRange(1),
    default=DEFAULT_CYCLE_LIMIT,
    show_default=True,
    help="Cycles that a program may take.",
)
@click.option(
    "--timeout",
    type=FiniteFloat(min=0, min_open=True),
    metavar="SECONDS",
    help="How long the host program may take.",
)
@click.option("--perf", is_flag=True, help="Print the cycles of each program, and what binds it.")
@click.option("--trace", metavar="FILE", help="What every processor did, for ui.perfetto.dev.")
def cli(
    source: str,
    arguments: tuple[str, ...],
    kernel_folders: tuple[str, ...],
    include_folders: tuple[str, ...],
    defines: tuple[str, ...],
    more: tuple[str, ...],
    board: str,
    numerics: str,
    release: str | None,
    no_sanitize: bool,
    allow: tuple[str, ...],
    max_findings: int,
    cycle_limit: int,
    timeout: float | None,
    perf: bool,
    trace: str | None,
) -> int:
    """Compile a host program of TT-Metalium in C++ and run it on simulated devices.

    The compiler is that of the variable CXX, or c++, g++ or clang++. Kernels are looked for in the
    working directory, below TT_METAL_HOME, in the folders of --kernels, and in the folder of
    MAIN.cpp and those above it. Options come before `--`, arguments of the program after it. The
    exit status is that of the program. It runs as you: run only programs that you trust.
    """
    _check_board(board)
    _check_folders("--kernels", kernel_folders)
    _check_folders("-I", include_folders)
    _check_defines(defines)
    from ttmlir.host_tool.compiling import HostCompileError
    from ttmlir.host_tool.running import HostRunError, run_host
    from ttmlir.host_tool.serving import HostOptions

    try:
        run = run_host(
            source,
            arguments,
            more_sources=more,
            defines=defines,
            timeout=timeout,
            options=HostOptions(
                board=board,
                numerics=numerics,
                sanitize=not no_sanitize,
                cycle_limit=cycle_limit,
                leniencies=frozenset(allow),
                max_findings=max_findings,
                tt_metal=release,
                kernel_folders=kernel_folders,
                include_folders=include_folders,
                traced=trace is not None,
            ),
        )
    except (HostCompileError, HostRunError) as error:
        print_error(error)
        return 1
    if perf and run.server.reports:
        print(run.server.performance())
    if trace is not None:
        _write_trace(trace, run.server.trace())
    return run.status


def _check_board(board: str) -> None:
    from ttmlir.layout.system import BOARD_NAMES

    if board not in BOARD_NAMES:
        raise click.UsageError(f"unknown board '{board}'; known are {', '.join(BOARD_NAMES)}")


def _check_folders(option: str, folders: Sequence[str]) -> None:
    for each in folders:
        if not os.path.isdir(each):
            raise click.UsageError(f"{option}: there is no folder '{each}'")


def _check_defines(defines: Sequence[str]) -> None:
    for each in defines:
        if not _DEFINE.fullmatch(each):
            raise click.UsageError(f"-D takes NAME or NAME=VALUE, not '{each}'")


def _write_trace(path: str, text: str) -> None:
    try:
        write_file(path, text.encode())
    except OSError as error:
        raise click.UsageError(f"--trace: cannot write '{path}': {error.strerror}") from error
    print(f"trace written to {path}; open it in ui.perfetto.dev")
