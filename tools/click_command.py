"""How the tools that are click commands run: the exit status instead of click's own endings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import click

from ttmlir.errors import Error, show_cause
from ttmlir.terminal import print_error

FAILURE = 1


def run_command(command: click.Command, arguments: Sequence[str], program: str) -> int:
    """Run a command; the exit status.

    What the user got wrong is said in a sentence on standard error, with status 1; everything else
    is for `run_once`.
    """
    try:
        return command.main(list(arguments), prog_name=program, standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
    except Error as error:
        show_cause(error)
        print_error(f"{program}: error: {error}")
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return FAILURE


class FiniteFloat(click.FloatRange):
    """A number in a range; click takes NaN for one of any range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; fails for NaN and infinities as for numbers out of range."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number", param, ctx)
        return number
