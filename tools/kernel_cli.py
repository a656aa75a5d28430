"""The command line of `ttmlir-kernel`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ttmlir.limits import DEFAULT_CYCLE_LIMIT
from ttmlir.terminal import print_error, show_wait, shown_name
from ttmlir.version import VERSION

if TYPE_CHECKING:
    from ttmlir.kernel_tool.checking import Verdict
    from ttmlir.kernel_tool.running import RunReport

_AUTO = "auto"
_ROLES = ("compute", "reader", "writer")
_DEFINE = re.compile(r"[A-Za-z_]\w*(?:\([^()]*\))?", re.ASCII)


_of_release = click.option(
    "--tt-metal",
    "release",
    type=click.Choice(["2024.10", "2025.6", "2026.2", "0.81"]),
    help="The state of tt-metal whose meaning calls have, instead of what headers say.",
)


@click.group()
@click.version_option(VERSION, prog_name="ttmlir-kernel")
def cli() -> None:
    """Compile and run kernels in C++ without a host program."""


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--role",
    type=click.Choice([*_ROLES, _AUTO]),
    default=_AUTO,
    show_default=True,
    help="What the kernels are for; auto: what calls, headers and names of each say.",
)
@click.option("--board", default="n150", show_default=True, help="The board to compile for.")
@click.option("-I", "include_folders", multiple=True, metavar="DIR", help="A folder with headers.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="A macro.")
@click.option(
    "--compile-args", default="", metavar="N,...", help="Compile-time arguments, in order."
)
@click.option(
    "--named-compile-args", default="", metavar="NAME=N,...", help="Those that have names."
)
@_of_release
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each file.")
def check(
    files: tuple[str, ...],
    role: str,
    board: str,
    include_folders: tuple[str, ...],
    defines: tuple[str, ...],
    compile_args: str,
    named_compile_args: str,
    release: str | None,
    as_json: bool,
) -> int:
    """Compile kernels; exit status 1 if one of them does not.

    FILE may be a folder: all .cpp files below it that hold kernels are compiled. Headers are looked
    for beside the kernel, in the folders of -I, and below TT_METAL_HOME, if it is set.

    Compile-time arguments that are not given are taken as 1, or as 2, 4 or 32 where 1 makes a
    kernel wrong, circular buffers have tiles of bf16, and macros such as REDUCE_OP, which host
    programs pass, have defaults.
    """
    from ttmlir.collector import without_collections
    from ttmlir.cpp.include_path import HOME_VARIABLE
    from ttmlir.errors import show_cause
    from ttmlir.kernel_tool.checking import (
        CheckOptions,
        KernelRole,
        KernelToolError,
        check_kernel,
        find_kernels,
        summarize,
    )
    from ttmlir.layout.system import BOARD_NAMES
    from ttmlir.optable.kernel.releases import RELEASES

    if board not in BOARD_NAMES:
        raise click.UsageError(f"unknown board '{board}'; known are {', '.join(BOARD_NAMES)}")
    _check_folders(include_folders)
    options = CheckOptions(
        role=None if role == _AUTO else KernelRole[role.upper()],
        board=board,
        include_folders=include_folders,
        home=os.environ.get(HOME_VARIABLE, ""),
        defines=dict(_read_define(each) for each in defines),
        compile_time_args=tuple(
            _read_word(each, "--compile-args") for each in _split(compile_args)
        ),
        named_compile_time_args=dict(_read_named(each) for each in _split(named_compile_args)),
        release=None if release is None else RELEASES[release],
    )
    try:
        kernels = find_kernels(files)
    except KernelToolError as error:
        show_cause(error)
        print_error(error)
        return 1
    failures = list[str]()
    assumed = Counter[int]()
    macros = Counter[str]()
    for path in kernels:
        with without_collections(), show_wait(f"compiling {shown_name(str(path))}"):
            verdict = check_kernel(path, options)
        _print_verdict(verdict, as_json)
        if not verdict.compiles:
            failures.append(verdict.message)
        else:
            assumed[verdict.assumed.number] += bool(verdict.assumed.describe())
            macros.update(iter(verdict.assumed_macros))
    if not as_json:
        print(summarize(failures, len(kernels)))
        if assumed.total():
            print(_note_assumed(assumed))
        if macros:
            print(_note_macros(macros))
    return int(bool(failures))


@cli.command()
@click.argument("spec", metavar="SPEC.toml")
@click.option("-I", "include_folders", multiple=True, metavar="DIR", help="A folder with headers.")
@click.option("--no-sanitize", is_flag=True, help="Run faster, without the checks of accesses.")
@click.option(
    "--cycle-limit",
    type=click.IntRange(1),
    default=DEFAULT_CYCLE_LIMIT,
    show_default=True,
    help="Cycles that the program may take.",
)
@_of_release
@click.option("--json", "as_json", is_flag=True, help="One line of JSON instead of the report.")
def run(
    spec: str,
    include_folders: tuple[str, ...],
    no_sanitize: bool,
    cycle_limit: int,
    release: str | None,
    as_json: bool,
) -> int:
    """Run kernels with the buffers and arguments of a specification.

    Prints for each buffer with expected numbers whether it has them, what the sanitizer found, and
    the cycles. Exit status 1 if numbers are wrong or the program stops. Files that SPEC.toml names
    stand in its folder or below.
    """
    from ttmlir.errors import show_cause
    from ttmlir.kernel_tool.checking import KernelToolError
    from ttmlir.kernel_tool.running import run_spec

    _check_folders(include_folders)
    printed = list[str]()
    try:
        # What kernels print goes to the terminal as they print it.
        with show_wait(f"running {shown_name(spec)}", quiet=not as_json):
            report = run_spec(
                spec,
                include_folders=include_folders,
                sanitize=not no_sanitize,
                cycle_limit=cycle_limit,
                tt_metal=release,
                print_line=printed.append if as_json else print,
            )
    except KernelToolError as error:
        show_cause(error)
        sys.stdout.flush()
        if as_json:
            text = str(error)
            print(json.dumps({"spec": spec, "verdict": "error", "message": text} | _NO_RESULTS))
        else:
            print_error(error)
        return 1
    print(json.dumps(_describe_run(spec, report, printed)) if as_json else report)
    return int(not report.passes)


_NO_RESULTS: dict[str, object] = {
    name: None for name in ("buffers", "findings", "warnings", "printed", "cycles", "cores")
}
"""What is not known of a program that stopped."""


def _describe_run(spec: str, report: RunReport, printed: Sequence[str]) -> dict[str, object]:
    return {
        "spec": spec,
        "verdict": "pass" if report.passes else "fail",
        "message": None,
        "buffers": [
            {"name": each.name, "passes": each.passes, "text": each.text} for each in report.results
        ],
        "findings": [each.text() for each in report.findings],
        "warnings": [*report.warnings],
        "printed": [*printed],
        "cycles": report.cycles,
        "cores": report.num_cores,
    }


def _print_verdict(verdict: Verdict, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_describe(verdict)), flush=True)
    elif not verdict.compiles:
        print_error(verdict.text)
    else:
        for warning in verdict.warnings:
            print_error(warning)


def _check_folders(folders: Sequence[str]) -> None:
    for each in folders:
        if not os.path.isdir(each):
            raise click.UsageError(f"-I: there is no folder '{each}'")


def _note_assumed(counts: Counter[int]) -> str:
    """`counts` has how many kernels compile with each number for missing arguments."""
    count = counts.total()
    subject = "kernel compiles" if count == 1 else "kernels compile"
    used = sorted(number for number in counts if counts[number])
    numbers = ", ".join(
        str(number) if len(used) == 1 else f"{number} (x{counts[number]})" for number in used
    )
    return (
        f"note: {count} {subject} with compile-time arguments that were not given, taken as "
        f"{numbers}; give them by --compile-args and --named-compile-args"
    )


def _note_macros(counts: Counter[str]) -> str:
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    listed = (name if count == 1 else f"{name} x{count}" for name, count in ordered)
    return f"note: macros that were not given are assumed; give them by -D: {', '.join(listed)}"


def _describe(verdict: Verdict) -> dict[str, object]:
    first = verdict.mistakes[0] if verdict.mistakes else None
    place = None if first is None else first.position
    return {
        "file": verdict.file,
        "role": None if verdict.role is None else verdict.role.word,
        "verdict": "compiles" if verdict.compiles else "error",
        "message": verdict.message or None,
        "message_file": None if place is None else place.file,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "errors": [
            {
                "message": each.message,
                "file": each.position.file,
                "line": each.position.line,
                "column": each.position.column,
                "processors": [name.lower() for name in each.processors],
            }
            for each in verdict.mistakes
        ],
        "assumed_macros": dict(verdict.assumed_macros),
        "assumed_args": [*sorted(verdict.assumed.positions), *sorted(verdict.assumed.names)],
        "assumed_number": verdict.assumed.number,
        "warnings": [*verdict.warnings],
        "seconds": round(verdict.seconds, 6),
    }


def _split(listed: str) -> Sequence[str]:
    return [each.strip() for each in listed.split(",")] if listed.strip() else ()


def _read_define(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not _DEFINE.fullmatch(name):
        raise click.UsageError(f"-D takes NAME or NAME=VALUE, not '{text}'")
    return name, value if equals else "1"


def _read_named(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.UsageError(f"--named-compile-args takes NAME=N, not '{text}'")
    return name, _read_word(value, "--named-compile-args")


def _read_word(text: str, option: str) -> int:
    """A number of 32 bits, also in hexadecimal."""
    try:
        number = int(text, 0)
    except ValueError:
        raise click.UsageError(f"{option} takes whole numbers, not '{text}'") from None
    if not -(1 << 31) <= number < 1 << 32:
        raise click.UsageError(f"{option}: {text} has more than 32 bits")
    return number & 0xFFFF_FFFF
