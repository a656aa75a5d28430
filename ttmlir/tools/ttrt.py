"""`ttrt`: reads, runs, queries, checks and times binaries.

Every option of a command is declared by its class in `ttmlir.runtime.ttrt`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from ttmlir.runtime.errors import RuntimeFailure
from ttmlir.runtime.ttrt.commands.option import Option
from ttmlir.version import VERSION

_COMMANDS = {
    "read": "ttmlir.runtime.ttrt.commands.read:Read",
    "run": "ttmlir.runtime.ttrt.commands.run:Run",
    "query": "ttmlir.runtime.ttrt.commands.query:Query",
    "perf": "ttmlir.runtime.ttrt.commands.perf:Perf",
    "check": "ttmlir.runtime.ttrt.commands.check:Check",
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
    if not option.name.startswith("-"):
        return click.Argument([option.name], type=click.Path())
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
    _LazyGroup("ttrt", help=__doc__, no_args_is_help=False)
)


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; returns the exit status: 0, 1, or 42 if only numbers were wrong."""
    try:
        return cli.main(arguments, prog_name="ttrt", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return 1
    except RuntimeFailure as error:
        click.echo(f"error: {error}", err=True)
        return 1
    except click.Abort:
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    sys.exit(main())
