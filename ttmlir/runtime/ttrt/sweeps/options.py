"""The options that make a sweep of a command."""

from __future__ import annotations

from ttmlir.runtime.ttrt.commands.option import Option

SWEEP_OPTIONS = (
    Option(
        name="--jobs",
        type=int,
        default=1,
        least=1,
        most=1024,
        help="Processes that work at once. With --result-file, what was interrupted goes on where "
        "it was when the same command is given again.",
    ),
    Option(
        name="--cluster",
        type=str,
        default="",
        help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
    ),
    Option(
        name="--sweep",
        type=str,
        default=(),
        multiple=True,
        help="Run every file with each of these values of an option, as in --sweep "
        "numerics=exact,device; several options make all combinations.",
    ),
)
