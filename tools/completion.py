"""Shell completion of the tools that are no click commands, in click's protocol.

    eval "$(_TTMLIR_OPT_COMPLETE=bash_source ttmlir-opt)"

The environment variable asks for the script (`bash_source`, `zsh_source`, `fish_source`), and the
script asks with it for the words that may follow (`bash_complete`, ...).
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import shell_complete

from ttmlir.tools.command_line import Flag, dash, flags_of


def complete(program: str, instruction: str, flags: type, named: Iterable[str]) -> int:
    """Print the script or the words that the shell asks for; the exit status.

    `named` are registered names, such as passes, that are given like flags.
    """
    options = [_option_of(flag) for flag in flags_of(flags)]
    switches = [
        click.Option([f"named{number}", dash(name)], is_flag=True)
        for number, name in enumerate(named)
    ]
    file = click.Argument(["input"], type=click.Path())
    command = click.Command(program, params=[*options, *switches, file], add_help_option=False)
    return shell_complete(command, {}, program, variable_of(program), instruction)


def variable_of(program: str) -> str:
    """The environment variable with which a shell asks, by click's rule."""
    return f"_{program.replace('-', '_').upper()}_COMPLETE"


def _option_of(flag: Flag) -> click.Option:
    option = flag.option
    names = [option.field, *map(dash, (option.name, *flag.aliases))]
    if flag.implied is not None:
        return click.Option(names, is_flag=True, hidden=flag.hidden)
    choices = option.type.choices
    kind = click.Choice(choices) if choices else click.Path()
    return click.Option(names, type=kind, multiple=True, hidden=flag.hidden)
