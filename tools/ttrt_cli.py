"""The command line of `ttrt`: click commands for the commands of `ttmlir.runtime.ttrt`.

Every option of a command is declared by its class there.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from ttmlir.runtime.ttrt.options import Option
from ttmlir.version import VERSION

_HELP = "Read, run, query, check and time binaries."
_COMMANDS = {
    "read": "ttmlir.runtime.ttrt.commands:Read",
    "run": "ttmlir.runtime.ttrt.commands:Run",
    "query": "ttmlir.runtime.ttrt.commands:Query",
    "perf": "ttmlir.runtime.ttrt.commands:Perf",
    "check": "ttmlir.runtime.ttrt.commands:Check",
}


class _LazyGroup(click.Group):
    """Loads a command's class when the command is used or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The click command for a command class."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(module), name)
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
