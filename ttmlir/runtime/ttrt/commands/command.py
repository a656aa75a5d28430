"""What all commands share: arguments, logger, artifacts, results and the order of the work."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from ttmlir.runtime.errors import InputError, RuntimeFailure
from ttmlir.runtime.ttrt.commands.option import Option, attribute_name, resolve
from ttmlir.runtime.ttrt.files.file_manager import (
    TTMETAL_EXTENSION,
    TTNN_EXTENSION,
    FileManager,
    check_writable,
)
from ttmlir.runtime.ttrt.files.sources import Source, find_sources, list_paths
from ttmlir.runtime.ttrt.reports.artifacts import Artifacts
from ttmlir.runtime.ttrt.reports.logger import Logger
from ttmlir.runtime.ttrt.reports.results import (
    REPORT_FILE,
    Outcome,
    Result,
    exit_status,
    results_as_json,
    results_as_junit,
)


class _RegisteredArgs:
    """A class attribute that is a new dictionary each time, so that callers may fill it in."""

    def __get__(self, instance: object, owner: type[Command]) -> dict[str, Any]:
        return {option.name: option for option in owner.options}


class Command:
    """One command of ttrt.

    `args` is a dictionary or an argparse namespace; keys may be spelled `clean-artifacts`,
    `--clean-artifacts` or `clean_artifacts`. Calling the object does the work; then `results` and
    `exit_code` tell how it went. Results of an earlier call are forgotten.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    registered_args: ClassVar[_RegisteredArgs] = _RegisteredArgs()
    api_only_arg: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        args: Mapping[str, Any] | argparse.Namespace | None = None,
        logging: Logger | None = None,
        artifacts: Artifacts | None = None,
        *,
        logger: Logger | None = None,
    ) -> None:
        """Take the arguments; raises KeyError for unknown ones."""
        given = vars(args) if isinstance(args, argparse.Namespace) else dict(args or {})
        self.arguments = resolve(self.options, given)
        self._check_outputs()
        log_file, quiet = self.arguments["log_file"], self.arguments["quiet"]
        self.logger = logging or logger or Logger(log_file, quiet=quiet)
        self.file_manager = FileManager(self.logger)
        self.artifacts = artifacts or Artifacts(
            self.logger, self.file_manager, self.arguments["artifact_dir"]
        )
        self.results: list[Result] = []
        self.after_results: Callable[[], None] = lambda: None
        """What is left to do when the results are written."""

    def __getitem__(self, key: str) -> Any:
        """Value of an argument, in any spelling."""
        return self.arguments[attribute_name(key)]

    def __getattr__(self, name: str) -> Any:
        """Value of an argument as an attribute."""
        arguments = self.__dict__.get("arguments", {})
        if name in arguments:
            return arguments[name]
        raise AttributeError(f"{type(self).__name__} has no argument or attribute '{name}'")

    def __call__(self) -> int:
        """Do the work; returns the exit status."""
        self.results = []
        self.after_results = lambda: None
        try:
            self.preprocess()
            self.check_constraints()
            if self.is_sweep:
                # Processes and clusters are loaded only for those who ask for them.
                from ttmlir.runtime.ttrt.sweeps.sweep import run_sweep

                run_sweep(self)
            else:
                self.execute()
        except RuntimeFailure as error:
            self.fail(", ".join(list_paths(self.arguments.get("binary", ""))), error)
        self.postprocess()
        return self.exit_code

    @property
    def is_sweep(self) -> bool:
        """True if there are several cases, or several processes to run them."""
        given = self.arguments
        return bool(given.get("jobs", 1) > 1 or given.get("cluster") or given.get("sweep"))

    @property
    def exit_code(self) -> int:
        """0, 1 or 42; see `exit_status`."""
        return exit_status(self.results)

    def preprocess(self) -> None:
        """Clear the artifacts folder if asked to."""
        if self["clean_artifacts"]:
            self._check_cleaning()
            self.artifacts.clean_artifacts()
        if self["save_artifacts"]:
            self.artifacts.create_artifacts()

    def _check_outputs(self) -> None:
        """Refuse to write where nobody can, or to a file that is read: the log would empty it."""
        inputs = [path for path in list_paths(self.arguments.get("binary", "")) if path]
        for option in ("result_file", "log_file"):
            path = self.arguments[option]
            if path and any(_are_same(path, each) for each in inputs):
                raise InputError(
                    f"--{option.replace('_', '-')} would replace {path}, which is read; give it "
                    "another name"
                )
        # A long run would otherwise be in vain.
        for option in ("result_file", "outputs"):
            if self.arguments.get(option):
                check_writable(self.arguments[option])

    def _check_cleaning(self) -> None:
        """Refuse to delete a folder with the current one, the user's or a given file in it."""
        try:
            current = Path.cwd()
        except OSError as error:
            raise InputError(f"the current folder: {error.strerror}") from error
        folder = Path(self.artifacts.get_artifacts_folder_path()).resolve()
        home = Path(os.path.expanduser("~"))
        kept = [current, home, *map(Path, list_paths(self.arguments.get("binary", "")))]
        for path in map(Path.resolve, kept):
            if folder == path or folder in path.parents:
                raise InputError(
                    f"--clean-artifacts would delete {folder} with {path}; give --artifact-dir a "
                    "folder that holds nothing else"
                )

    def check_constraints(self) -> None:
        """Refuse arguments out of range; commands also those that make no sense together."""
        for option in self.options:
            option.check(self.arguments[option.attribute])

    def execute(self) -> None:
        """Do the command's own work."""
        raise NotImplementedError(f"command '{self.name}' does nothing")

    def postprocess(self) -> None:
        """Write the JSON results and the JUnit report, if they were asked for."""
        path = self["result_file"]
        if not path:
            return
        report = str(Path(path).parent / REPORT_FILE)
        try:
            self.file_manager.write_bytes(path, results_as_json(self.results))
            self.file_manager.write_bytes(report, results_as_junit(self.name, self.results))
            self.after_results()
        except InputError as error:
            self.fail("", error)

    def fail(self, path: str, error: Exception, outcome: Outcome = Outcome.ERROR) -> Result:
        """Note that a file could not be dealt with, and say so."""
        self.logger.error(str(error))
        return self.note(path, outcome=outcome, exception=str(error))

    def note(self, path: str, **entries: Any) -> Result:
        """Add a result."""
        result = Result(
            file_path=path,
            log_file=self.logger.file_name,
            artifacts=self.artifacts.get_binary_folder_path(path) if path else "",
            **entries,
        )
        self.results.append(result)
        return result

    def sources(self, *extensions: str) -> list[Source]:
        """The files to work on; programs if no extensions are given; InputError without any."""
        return find_sources(
            self["binary"], extensions or (TTNN_EXTENSION, TTMETAL_EXTENSION), self.file_manager
        )

    def run_on_each(self, *extensions: str) -> None:
        """Do `execute_on` for every file; an error in one does not keep the others from running."""
        for source in self.sources(*extensions):
            try:
                self.execute_on(source)
            except RuntimeFailure as error:
                self.fail(source.name, error)

    def execute_on(self, source: Source) -> None:
        """Work on one file."""
        raise NotImplementedError(f"command '{self.name}' does not work on files")

    @classmethod
    def initialize_api(cls) -> None:
        """Nothing to do: arguments are registered when the class is defined."""

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """Commands whose work this one includes."""
        return []

    @classmethod
    def register_arg(
        cls,
        name: str,
        type: type,
        default: Any,
        choices: tuple[str, ...] | None = None,
        help: str = "",
        api_only: bool = True,
    ) -> None:
        """Add an argument to the command."""
        option = Option(
            name=name, type=type, default=default, choices=choices, help=help, api_only=api_only
        )
        kept = tuple(o for o in cls.options if o.attribute != option.attribute)
        cls.options = (*kept, option)
        if api_only:
            cls.api_only_arg = (*cls.api_only_arg, option.name)

    @classmethod
    def generate_subparser(cls, subparsers: Any) -> argparse.ArgumentParser:
        """Add the command to an argparse parser's subparsers."""
        parser: argparse.ArgumentParser = subparsers.add_parser(
            cls.name, help=cls.summary, description=cls.summary
        )
        parser.set_defaults(api=cls)
        for option in cls.options:
            if option.api_only:
                continue
            names = (option.name, *option.aliases)
            if option.is_flag:
                parser.add_argument(*names, action="store_true", help=option.help)
            elif option.is_positional and option.multiple:
                parser.add_argument(*names, type=option.type, nargs="+", help=option.help)
            else:
                parser.add_argument(
                    *names,
                    type=option.type,
                    default=option.default,
                    choices=option.choices,
                    action="append" if option.multiple else "store",
                    help=option.help,
                )
        return parser


def _are_same(one: str, other: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(one).st_mode) and os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
