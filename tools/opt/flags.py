"""The flags of `ttmlir-opt`: those of MLIR's optimizer drivers, and xDSL's names for some."""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.mlir.option_values import STRINGS
from ttmlir.mlir.text_files import DEFAULT_MARKER
from ttmlir.passes.core.manager import StatisticsDisplay, TimingDisplay
from ttmlir.tools.command_line import flag

_NO_EFFECT = "Accepted for compatibility, has no effect"


@dataclass(frozen=True, kw_only=True)
class OptFlags:
    """What the command line of `ttmlir-opt` says, apart from the passes."""

    input: str = "-"

    # Input and output.
    output: str = flag("-", "Output filename", name="o", aliases=("output-file",))
    allow_unregistered_dialect: bool = flag(False, "Allow operation with no registered dialects")
    no_implicit_module: bool = flag(
        False, "Disable implicit addition of a top-level module op during parsing"
    )
    split_input_file: str = flag(
        "",
        "Split the input file into chunks using the given or default marker and process each"
        " chunk independently",
        implied=DEFAULT_MARKER,
    )
    output_split_marker: str = flag(DEFAULT_MARKER, "Split marker to use for merging the output")

    # What to run.
    pass_pipeline: str = flag("", "Textual description of the pass pipeline to run")
    xdsl_passes: str = flag(
        "", "Passes to run on the module: a,b{x=1}", name="passes", aliases=("p",), hidden=True
    )
    xdsl_target: str = flag(
        "mlir", "What to print; only mlir", name="target", aliases=("t",), hidden=True
    )
    dump_pass_pipeline: bool = flag(False, "Print the pipeline that will be run")
    run_reproducer: bool = flag(False, "Run the pipeline stored in the reproducer")
    mlir_pass_pipeline_crash_reproducer: str = flag(
        "", "Generate a .mlir reproducer file at the given output path if the pass manager fails"
    )

    # Checks.
    verify_diagnostics: bool = flag(
        False, "Check that emitted diagnostics match expected-* lines on the corresponding line"
    )
    verify_each: bool = flag(True, "Run the verifier after each transformation pass")
    verify_roundtrip: bool = flag(False, "Round-trip the IR after parsing and ensure it succeeds")

    # Printing around passes.
    mlir_print_ir_before: tuple[str, ...] = flag(
        (), "Print IR before specified passes", type=STRINGS
    )
    mlir_print_ir_after: tuple[str, ...] = flag((), "Print IR after specified passes", type=STRINGS)
    mlir_print_ir_before_all: bool = flag(False, "Print IR before each pass")
    mlir_print_ir_after_all: bool = flag(
        False, "Print IR after each pass", aliases=("print-between-passes",)
    )
    mlir_print_ir_after_change: bool = flag(
        False, "When printing the IR after a pass, only print if the IR changed"
    )
    mlir_print_ir_after_failure: bool = flag(
        False, "When printing the IR after a pass, only print if the pass failed"
    )
    mlir_print_ir_module_scope: bool = flag(
        False, "When printing IR around passes, always print the top-level operation"
    )
    mlir_print_ir_tree_dir: str = flag(
        "", "When printing IR around passes, print a file tree rooted at this directory"
    )

    # Reports.
    mlir_timing: bool = flag(False, "Display execution times", aliases=("time-passes",))
    mlir_timing_display: TimingDisplay = flag(TimingDisplay.TREE, "Display method for timing data")
    mlir_pass_statistics: bool = flag(False, "Display the statistics of each pass")
    mlir_pass_statistics_display: StatisticsDisplay = flag(
        StatisticsDisplay.PIPELINE, "Display method for pass statistics"
    )

    # The form of the output.
    mlir_print_op_generic: bool = flag(
        False, "Print the generic op form", aliases=("print-op-generic",)
    )
    mlir_print_debuginfo: bool = flag(
        False, "Print debug info in MLIR output", aliases=("print-debuginfo",)
    )
    mlir_pretty_debuginfo: bool = flag(False, "Print pretty debug info in MLIR output")
    mlir_print_local_scope: bool = flag(
        False,
        "Print with local scope and inline information, eliding aliases for attributes, types"
        " and locations",
    )
    mlir_print_value_users: bool = flag(
        False, "Print users of operation results and block arguments as a comment"
    )
    mlir_print_unique_ssa_ids: bool = flag(
        False,
        "Print unique SSA ID numbers for values, block arguments and naming conflicts across all"
        " regions",
    )
    mlir_print_assume_verified: bool = flag(
        False, "Skip op verification when using custom printers"
    )
    mlir_print_skip_regions: bool = flag(False, "Skip regions when printing ops")
    mlir_elide_elementsattrs_if_larger: int = flag(
        -1, 'Elide ElementsAttrs with "..." that have more elements than the given upper limit'
    )
    mlir_elide_resource_strings_if_larger: int = flag(
        -1, "Elide printing value of resources if string is too long in chars"
    )
    mlir_print_elementsattrs_with_hex_if_larger: int = flag(
        100, "Print DenseElementsAttrs with a hex string that have more elements than this limit"
    )
    mlir_print_op_on_diagnostic: bool = flag(
        True,
        "When a diagnostic is emitted on an operation, also print the operation as an attached"
        " note",
    )

    color: bool = flag(
        False,
        "Colour diagnostics; the default is to do so on a terminal, unless the variable NO_COLOR is"
        " set",
    )
    debug: bool = flag(
        False, "Say on standard error what each pass does to the numbers of operations"
    )
    debug_only: tuple[str, ...] = flag(
        (),
        "The same for these passes only; other names, such as those of LLVM's libraries, select"
        " nothing",
        type=STRINGS,
    )

    # Information; the tool ends after it.
    show_dialects: bool = flag(False, "Print the list of registered dialects and exit")
    list_passes: bool = flag(False, "Print the names of passes and pipelines and exit")
    help: bool = flag(False, "Display available options (--help-hidden for more)", aliases=("h",))
    help_list: bool = flag(False, "Display list of available options")
    help_hidden: bool = flag(False, "Display all available options")
    version: bool = flag(False, "Display the version of this program", aliases=("v",))

    # Refused with a text that says why.
    emit_bytecode: bool = flag(False, "Refused: only text is written", hidden=True)
    load_dialect_plugin: str = flag("", "Refused: shared libraries cannot be loaded", hidden=True)
    load_pass_plugin: str = flag("", "Refused: shared libraries cannot be loaded", hidden=True)

    # Accepted, without effect.
    mlir_disable_threading: bool = flag(False, _NO_EFFECT, hidden=True)
    mlir_print_stacktrace_on_diagnostic: bool = flag(False, _NO_EFFECT, hidden=True)
    syntax_highlight: bool = flag(False, _NO_EFFECT, hidden=True)
    parsing_diagnostics: bool = flag(False, _NO_EFFECT, hidden=True)
    shrink: bool = flag(False, _NO_EFFECT, hidden=True)

    @property
    def asks_for_information(self) -> bool:
        """True if the tool says something about itself and does nothing else."""
        return (
            self.show_dialects
            or self.list_passes
            or self.help
            or self.help_list
            or self.help_hidden
            or self.version
        )
