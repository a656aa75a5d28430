"""The whole of `ttmlir-opt`: command line, files, reports, and a compilation in between."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.errors import FileError, show_cause
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.text_files import Chunk, input_name, read_input, write_output
from ttmlir.passes.core.manager import (
    Nest,
    Timer,
    make_items,
    nest_implicitly,
    parse_passes,
    parse_pipeline,
    pipelines_ask,
    read_reproducer,
    statistics_report,
    timing_report,
    with_environment,
)
from ttmlir.passes.core.registry import PASSES, Names, all_passes
from ttmlir.terminal import print_error, show_wait
from ttmlir.tools.command_line import CommandLine, parse_command_line
from ttmlir.tools.opt.flags import OptFlags

if TYPE_CHECKING:
    from ttmlir.mlir.long_strings import PrintedText
    from ttmlir.mlir.printing import PrintOptions
    from ttmlir.passes.core.compilation import Compilation
    from ttmlir.passes.core.manager import PassLog

PROGRAM = "ttmlir-opt"
MODULE = "builtin.module"


def run_opt(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run `ttmlir-opt` with command-line arguments; the exit status, 0 or 1."""
    try:
        line = parse_command_line(OptFlags, arguments, program=PROGRAM, named=Names())
        _refuse_unsupported(line.flags)
        if line.flags.asks_for_information:
            from ttmlir.tools.opt.help import information

            write_output("-", information(line.flags, PROGRAM).encode("utf-8"))
            return 0
        return _compile(line, environment)
    except (OptionError, FileError) as error:
        show_cause(error)
        print_error(f"{PROGRAM}: {error}")
        return 1


def _refuse_unsupported(flags: OptFlags) -> None:
    """Raise OptionError for what the flags ask and this tool cannot do."""
    if flags.emit_bytecode:
        raise OptionError("--emit-bytecode is not supported: MLIR is written as text only")
    if flags.load_dialect_plugin or flags.load_pass_plugin:
        raise OptionError(
            "plugins are shared libraries of MLIR and cannot be loaded into Python; installed"
            " packages add dialects, passes and pipelines by entry points (docs/extending.md)"
        )
    if flags.xdsl_target != "mlir":
        raise OptionError(
            f"for the --target option: '{flags.xdsl_target}' is not supported, only mlir is;"
            " ttmlir-translate writes other formats"
        )
    for when, passes in (
        ("before", flags.mlir_print_ir_before),
        ("after", flags.mlir_print_ir_after),
    ):
        for name in passes:
            if name not in PASSES and name not in all_passes():
                raise OptionError(
                    f"for the --mlir-print-ir-{when} option: Cannot find option named '{name}'!"
                )


def _compile(line: CommandLine[OptFlags], environment: Mapping[str, str]) -> int:
    flags = line.flags
    timer = Timer("root")
    with timer.running():
        text = read_input(flags.input)
        verify_each = flags.verify_each
        if flags.run_reproducer:
            reproducer = read_reproducer(text)
            text, verify_each = text.part(reproducer.text), reproducer.verify_each
            nest = parse_pipeline(reproducer.pipeline)
        else:
            with pipelines_ask(environment):
                nest = _requested_nest(line)
        nest = with_environment(nest, environment)
        if flags.dump_pass_pipeline:
            count = len(nest.items)
            sys.stderr.write(f"Pass Manager with {count} passes:\n{nest}\n\n")
        succeeded = _process(_compilation(flags, nest, timer, verify_each), line, text)
    if flags.mlir_pass_statistics:
        sys.stderr.write(statistics_report(nest, flags.mlir_pass_statistics_display))
    if flags.mlir_timing:
        sys.stderr.write(timing_report(timer, flags.mlir_timing_display))
    return 0 if succeeded else 1


def _requested_nest(line: CommandLine[OptFlags]) -> Nest:
    """The passes that the command line names, in one of the three ways."""
    flags = line.flags
    ways = [bool(flags.pass_pipeline), bool(flags.xdsl_passes), bool(line.named)]
    if sum(ways) > 1:
        raise OptionError("'-pass-pipeline' option can't be used with individual pass options")
    if "pass_pipeline" in line.given:
        return parse_pipeline(flags.pass_pipeline)
    if flags.xdsl_passes:
        return parse_passes(flags.xdsl_passes, MODULE)
    return nest_implicitly(
        MODULE, (item for name, options in line.named for item in make_items(name, options, MODULE))
    )


def _process(compilation: Compilation, line: CommandLine[OptFlags], text: str) -> bool:
    from ttmlir.mlir.chunk_processing import process_chunks
    from ttmlir.mlir.reporting import uses_colour

    flags = line.flags

    # Nothing else writes to the terminal while the bar is there.
    prints = any(name.startswith(("mlir_print_ir", "debug")) for name in line.given)

    def compile_chunk(chunk: Chunk) -> PrintedText:
        with show_wait(PROGRAM, quiet=prints):
            return compilation.compile(chunk)

    done = process_chunks(
        text,
        compilation.file,
        compile_chunk,
        marker=flags.split_input_file,
        verify_diagnostics=flags.verify_diagnostics,
        show_operations=flags.mlir_print_op_on_diagnostic,
        coloured=flags.color if "color" in line.given else uses_colour(sys.stderr),
    )
    if done.succeeded:
        write_output(flags.output, _chunks(done.results, f"{flags.output_split_marker}\n"))
    elif not flags.verify_diagnostics:
        for failure in compilation.failures:
            print_error(f"{PROGRAM}: {failure}")
    return done.succeeded


def _chunks(results: Sequence[PrintedText | None], separator: str) -> Iterator[bytes]:
    for index, result in enumerate(results):
        if index:
            yield separator.encode("utf-8")
        if result is not None:
            yield from result.chunks()


def _compilation(flags: OptFlags, nest: Nest, timer: Timer, verify_each: bool) -> Compilation:
    # The IR library is imported here, after everything that can be refused without it.
    from ttmlir.passes.core.compilation import Compilation
    from ttmlir.passes.core.manager import PrintFilter

    return Compilation(
        file=input_name(flags.input),
        nest=nest,
        print_options=_print_options(flags),
        print_filter=PrintFilter(
            before=flags.mlir_print_ir_before,
            after=flags.mlir_print_ir_after,
            before_all=flags.mlir_print_ir_before_all,
            after_all=flags.mlir_print_ir_after_all,
            only_on_change=flags.mlir_print_ir_after_change,
            only_on_failure=flags.mlir_print_ir_after_failure,
            module_scope=flags.mlir_print_ir_module_scope,
        ),
        print_tree=Path(flags.mlir_print_ir_tree_dir) if flags.mlir_print_ir_tree_dir else None,
        allow_unregistered=flags.allow_unregistered_dialect,
        implicit_module=not flags.no_implicit_module,
        verify_each=verify_each,
        verify_roundtrip=flags.verify_roundtrip,
        reproducer=flags.mlir_pass_pipeline_crash_reproducer,
        timer=timer,
        log=_pass_log(flags),
    )


def _pass_log(flags: OptFlags) -> PassLog | None:
    if not (flags.debug or flags.debug_only):
        return None
    from ttmlir.passes.core.manager import PassLog

    return PassLog(f"{PROGRAM}: debug: ", flags.debug_only)


def _print_options(flags: OptFlags) -> PrintOptions:
    from ttmlir.mlir.printing import PrintOptions

    def limit(value: int) -> int | None:
        return None if value < 0 else value

    return PrintOptions(
        generic=flags.mlir_print_op_generic,
        debuginfo=flags.mlir_print_debuginfo,
        pretty_debuginfo=flags.mlir_pretty_debuginfo,
        local_scope=flags.mlir_print_local_scope,
        elide_larger_than=limit(flags.mlir_elide_elementsattrs_if_larger),
        elide_resources_larger_than=limit(flags.mlir_elide_resource_strings_if_larger),
        hex_larger_than=flags.mlir_print_elementsattrs_with_hex_if_larger,
        unique_ssa_ids=flags.mlir_print_unique_ssa_ids,
        value_users=flags.mlir_print_value_users,
        skip_regions=flags.mlir_print_skip_regions,
    )
