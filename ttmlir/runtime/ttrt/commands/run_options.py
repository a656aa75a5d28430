"""Options of `ttrt run`, which `ttrt perf` shares."""

from __future__ import annotations

from ttmlir.runtime.ttrt.commands.option import BINARY, COMMON_OPTIONS, Option, result_file
from ttmlir.runtime.ttrt.sweeps.options import SWEEP_OPTIONS

_ACCEPTED = "Accepted for compatibility; changes nothing here."


def _flag(name: str, help: str, *aliases: str) -> Option:
    return Option(name=name, type=bool, default=False, help=help, aliases=aliases)


def _accepted(*names: str) -> tuple[Option, ...]:
    return tuple(_flag(name, _ACCEPTED) for name in names)


def _number(name: str, default: float, help: str, most: float | None = None) -> Option:
    return Option(name=name, type=float, default=default, help=help, least=0, most=most)


_PROGRAM = (
    Option(
        name="--program-index",
        type=str,
        default="all",
        help="Program to run by number, or 'all'.",
    ),
    Option(name="--loops", type=int, default=1, least=1, help="Runs of each program."),
    Option(
        name="--board",
        type=str,
        help="Run only files compiled for this board; default: simulate what each asks for. perf "
        "--device estimates for it, or for a .ttsys file, whatever files were compiled for.",
    ),
    Option(
        name="--numerics",
        type=str,
        default="exact",
        choices=("exact", "device"),
        help="Keep all digits, or round every result to its storage format as the device does.",
    ),
    _flag("--ignore-version", "Run files of any version, whatever their numbers mean."),
)
_DATA = (
    Option(
        name="--init",
        type=str,
        default="randn",
        choices=("randn", "arange", "zeros", "ones", "rand"),
        help="How inputs are made up.",
    ),
    Option(
        name="--seed",
        type=int,
        default=0,
        least=0,
        help="Seed of the random numbers (NumPy PCG64).",
    ),
    Option(
        name="--inputs",
        type=str,
        default=(),
        multiple=True,
        help="A .npy or .npz file with inputs, in order; may be given several times.",
    ),
    Option(
        name="--outputs",
        type=str,
        default="",
        aliases=("--save-outputs",),
        help="A .npz (or, for one output, .npy) file for the outputs.",
    ),
    _flag("--print-input-output-tensors", "Print inputs and outputs."),
)
_CHECKS = (
    _flag("--identity", "Fail (exit 42) unless outputs equal inputs, within --rtol and --atol."),
    _flag("--non-zero", "Fail (exit 42) if an output is all zeros."),
    _number("--rtol", 1e-05, "Relative tolerance of --identity."),
    _number("--atol", 1e-08, "Absolute tolerance of --identity."),
    _flag(
        "--golden",
        "Run each operation's reference in float64 as well and fail (exit 42) if one is off, or if "
        "the outputs differ from those that the file or --golden-file holds.",
        "--enable-golden",
    ),
    Option(
        name="--golden-file",
        type=str,
        default="",
        help="A .npz file with inputs (input_0, ...) and expected outputs (output_0, ...), or the "
        "inputs and then the outputs in order.",
    ),
    _number("--pcc", 0.99, "Least correlation of --golden.", most=1),
    _number("--rtol-allclose", 5e-02, "Relative tolerance that --golden accepts without --pcc."),
    _number("--atol-allclose", 1e-03, "Absolute tolerance that --golden accepts without --pcc."),
    _flag("--save-golden-tensors", "Save golden results with the artifacts; implies --golden."),
    _flag("--memory", "Report the peak of device memory."),
)
_SIMULATOR = (
    _flag("--sanitize", "Check every access of kernels; the default."),
    _flag("--no-sanitize", "Do not check the accesses of kernels, which is faster."),
    Option(
        name="--schedule-seed",
        type=int,
        least=0,
        help="Run the threads of kernels in a random order that this number fixes.",
    ),
    _flag("--delay-copies", "Let asynchronous copies of kernels move bytes at their barriers."),
    Option(
        name="--lenient",
        type=str,
        default=(),
        multiple=True,
        help="Name of a finding to let pass; default: what kernels of tt-mlir need, in .ttm files.",
    ),
    Option(
        name="--cycle-limit",
        type=int,
        default=2_000_000_000,
        least=1,
        help="Cycles that a program of kernels may take.",
    ),
)
_IGNORED = _accepted(
    "--load-kernels-from-disk",
    "--disable-async-ttnn",
    "--disable-golden",
    "--enable-program-cache",
    "--disable-eth-dispatch",
)

RUN_OPTIONS = (
    BINARY,
    *COMMON_OPTIONS,
    *SWEEP_OPTIONS,
    *_PROGRAM,
    *_DATA,
    *_CHECKS,
    *_SIMULATOR,
    *_IGNORED,
    result_file("run"),
)

_ESTIMATES = (
    _flag(
        "--host-only",
        "Time operations of .ttnn files on this computer's CPU; the default without --device.",
    ),
    _flag(
        "--device",
        "Estimate the operations of .ttnn files on the device, --board or what they were compiled "
        "for, without running them; .ttm files are simulated anyway.",
    ),
    _flag(
        "--untraced",
        "With --device: the host calls the operations one by one, instead of replaying a trace.",
    ),
    Option(
        name="--batch",
        type=int,
        least=1,
        help="With --device: items in a run of a program, for items per second.",
    ),
    Option(
        name="--unit",
        type=str,
        default="items",
        help="With --batch: what the items are called, such as tokens or images.",
    ),
)

PERF_OPTIONS = (
    *(option for option in RUN_OPTIONS if option.name != "--result-file"),
    *_ESTIMATES,
    result_file("perf"),
)
