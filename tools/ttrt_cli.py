"""The command line of `ttrt`: click commands for the commands of `ttmlir.runtime.ttrt`.

Every option of a command is declared by its class there.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from ttmlir.runtime.ttrt.options import SUMMARIES, Option
from ttmlir.version import VERSION

_HELP = "Read, run, query, check and time binaries."


class _LazyGroup(click.Group):
    """Loads a command's class when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(SUMMARIES)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without their options."""
        commands = {name: click.Command(name, help=text) for name, text in SUMMARIES.items()}
        listed = click.Group(commands=commands)
        listed.list_commands = self.list_commands
        listed.format_commands(ctx, formatter)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The click command for a command class."""
        if cmd_name not in SUMMARIES:
            return None
        command = getattr(import_module("ttmlir.runtime.ttrt.commands"), cmd_name.capitalize())
        return click.Command(
            cmd_name,
            params=[_parameter(option) for option in command.options if not option.api_only],
            callback=_callback(command),
            help=command.summary,
        )


def _parameter(option: Option) -> click.Parameter:
    if option.is_positional:
        return click.Argument(
            [option.name], nargs=-1 if option.multiple else 1, required=True, type=click.Path()
        )
    names = [option.name, *option.aliases, option.attribute]
    if option.is_flag:
        return click.Option(names, is_flag=True, default=False, help=option.help)
    kind = click.Choice(option.choices) if option.choices else option.type
    return click.Option(
        names,
        type=kind,
        default=option.default,
        multiple=option.multiple,
        help=option.help,
        show_default=option.default not in ("", ()),
    )


def _callback(command: Any) -> Callable[..., int]:
    def run(**arguments: Any) -> int:
        return command(args=arguments)()

    return run


cli = click.version_option(VERSION, prog_name="ttrt")(
    _LazyGroup("ttrt", help=_HELP, no_args_is_help=False)
)
