"""All commands under the name that scripts use: `API.Run(args={"binary": "mlp.ttnn"})()`."""

from __future__ import annotations

from typing import ClassVar

from ttmlir.runtime.ttrt.commands import check, perf, query, read, run
from ttmlir.runtime.ttrt.commands.command import Command

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


class API:
    """The commands of ttrt."""

    Query = query.Query
    Read = read.Read
    Run = run.Run
    Perf = perf.Perf
    Check = check.Check

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
            raise TypeError(f"{api.__name__} lacks {', '.join(missing)}")
        api.initialize_api()
        API.registered_apis[api.name] = api
