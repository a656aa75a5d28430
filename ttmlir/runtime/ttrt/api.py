"""All commands under the name that scripts use: `API.Run(args={"binary": "mlp.ttnn"})()`."""

from __future__ import annotations

from typing import Any, ClassVar

from ttmlir.errors import ArgumentTypeError
from ttmlir.runtime.ttrt import commands
from ttmlir.runtime.ttrt.commands import Command

_REQUIRED = (
    "initialize_api",
    "preprocess",
    "check_constraints",
    "execute",
    "postprocess",
    "__call__",
    "__getitem__",
    "register_arg",
    "get_upstream_apis",
    "generate_subparser",
    "exit_code",
)


class _RegisteredArgs:
    """The arguments of all registered commands by name, in a new dictionary each time."""

    def __get__(self, instance: object, owner: type[API]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for api in owner.registered_apis.values():
            found |= api.registered_args
        return found


class API:
    """The commands of ttrt.

    `API.registered_args` has the arguments of all of them by name, `API.Run.registered_args` those
    of one, to be filled in and passed on.
    """

    Query = commands.Query
    Read = commands.Read
    Run = commands.Run
    Perf = commands.Perf
    Check = commands.Check

    registered_args: ClassVar[_RegisteredArgs] = _RegisteredArgs()
    registered_apis: ClassVar[dict[str, type[Command]]] = {}

    @staticmethod
    def initialize_apis() -> None:
        """Register the commands; calling it again changes nothing."""
        for api in (API.Query, API.Read, API.Run, API.Perf, API.Check):
            API.register_api(api)

    @staticmethod
    def register_api(api: type[Command]) -> None:
        """Add a command; TypeError if it lacks something that commands need."""
        missing = [name for name in _REQUIRED if not hasattr(api, name)]
        if missing:
            raise ArgumentTypeError(f"{api.__name__} lacks {', '.join(missing)}")
        api.initialize_api()
        API.registered_apis[api.name] = api
