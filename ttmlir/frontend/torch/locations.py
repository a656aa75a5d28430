"""Where in the user's program a node of an exported graph comes from."""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from ttmlir.files import PACKAGE_FOLDER
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.replacing import attributes_replaced
from ttmlir.mlir.reporting import LocatedError, file_location, name_location

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def source_location_of(node: Any) -> LocationAttr:
    """The innermost line outside torch that led to a node; unknown if torch kept none."""
    return location_of_trace(node.meta.get("stack_trace") or "")


def location_of_trace(trace: str) -> LocationAttr:
    """The innermost line outside of libraries that a text of Python's frames has, or unknown."""
    frames = [(match["file"], int(match["line"])) for match in _FRAME.finditer(trace)]
    own = [frames[i] for i in _own([file for file, _ in frames])]
    return _location(*own[-1]) if own else UNKNOWN_LOC


def location_of_here() -> LocationAttr:
    """The innermost line outside of torch that has led here."""
    return _location_of_frames(traceback.extract_stack())


def location_of_error(error: BaseException) -> LocationAttr:
    """The innermost line outside of torch that an exception came through."""
    # The frames that lead here, then those from here to the error.
    inner = traceback.extract_tb(error.__traceback__)
    return _location_of_frames([*traceback.extract_stack(), *inner])


def _location_of_frames(frames: Sequence[traceback.FrameSummary]) -> LocationAttr:
    own = [frames[i] for i in _own([frame.filename for frame in frames])]
    if not own or own[-1].lineno is None:
        return UNKNOWN_LOC
    return _location(own[-1].filename, own[-1].lineno)


def _own(files: Sequence[str]) -> list[int]:
    """The frames to show, by the files of all, the outermost first.

    Those of the user's model, or of a library's model; where it is one of torch itself, those that
    compile it. Frames of `<string>` are functions that torch has written, or the user's in
    `python -c`, where there are no files.
    """
    start = max((i + 1 for i, file in enumerate(files) if _is_ours(file)), default=0)
    kinds = [_kind_of(file) for file in files]
    model = range(start, len(files))
    for kind, among in (
        (_USER, model),
        (_LIBRARY, model),
        (_USER, range(start)),
        (_TEXT, range(len(files))),
    ):
        if found := [i for i in among if kinds[i] == kind]:
            return found
    return []


_PASSED_THROUGH: set[str] = set()


def pass_through(file: str) -> None:
    """Say of a file of ours that calls go through it which the user has made."""
    _PASSED_THROUGH.add(file)


def _is_ours(file: str) -> bool:
    """True for files that call models, which those that all calls of torch pass through do not."""
    return file.startswith(PACKAGE_FOLDER) and file not in _PASSED_THROUGH


_USER, _LIBRARY, _TEXT, _HIDDEN = "user", "library", "text", "hidden"


@cache
def _kind_of(file: str) -> str:
    """Whose a file is: the user's, a library's, of no file, or one that no user would look at."""
    if file == _STRING:
        return _TEXT
    torch = os.path.dirname(torch_package().__file__) + os.sep
    # Beside torch is what it computes sizes with.
    sympy = os.path.join(os.path.dirname(torch.rstrip(os.sep)), "sympy") + os.sep
    if file.startswith(("<", torch, sympy, PACKAGE_FOLDER)):
        return _HIDDEN
    # Python's own folder holds that of installed packages.
    for kinds, kind in ((("purelib", "platlib"), _LIBRARY), (("stdlib", "platstdlib"), _HIDDEN)):
        if file.startswith(tuple(sysconfig.get_path(each) + os.sep for each in kinds)):
            return kind
    return _USER


_STRING = "<string>"
"""Python's name of code that is in no file."""


def _location(file: str, line: int) -> LocationAttr:
    text = linecache.getline(file, line)
    return file_location(file, line, len(text) - len(text.lstrip()) + 1)


def location_of(node: Any) -> LocationAttr:
    """The place of a node, under its path."""
    place = source_location_of(node)
    return name_location(path_of(node), None if place is UNKNOWN_LOC else place)


def path_of(node: Any) -> str:
    """The modules that a node is in, and its name: `encoder/fc1/linear`."""
    return "/".join(part for part in (*module_of(node).split("."), node.name) if part)


def module_of(node: Any) -> str:
    """The path of the innermost module whose `forward` led to a node; empty for the outermost."""
    stack: dict[str, tuple[str, Any]] = node.meta.get("nn_module_stack") or {}
    paths = [path for path, _ in stack.values()]
    return paths[-1] if paths else ""


def refuse_node(node: Any, reason: str) -> NoReturn:
    """Fail at the user's own line with the name of what a node calls."""
    is_call = getattr(node, "op", "") == "call_function"
    name = _name_of_call(node.target) if is_call else str(getattr(node, "name", node))
    location: LocationAttr = source_location_of(node)
    path = module_of(node) if is_call else ""
    where = f" (in the module '{path}')" if path else ""
    raise LocatedError(location, f"'{name}'{where}: {reason}")


def _name_of_call(target: Any) -> str:
    """Of an ATen overload all of its name, of a function of Python its own."""
    return str(target) if hasattr(target, "_schema") else str(getattr(target, "__name__", target))


@contextmanager
def user_frames_kept() -> Generator[None]:
    """Let torch keep the user's frames of what it traces inside, not those of `forward` alone."""
    proxy: Any = import_module("torch.fx.proxy")
    replaced = (
        # torch looks up the text of each frame, of which there are a hundred, for each operation.
        (proxy, "CapturedTraceback", _UserFrames),
        (proxy.TracerBase, "_filter_traceback_frames", _all_frames),
    )
    if not all(hasattr(owner, name) for owner, name, _ in replaced):
        yield
        return
    with ExitStack() as stack:
        for owner, name, replacement in replaced:
            stack.enter_context(attributes_replaced(owner, {name: replacement}))
        yield


class _UserFrames:
    """The innermost frames outside of libraries."""

    @staticmethod
    def extract() -> _UserFrames:
        """Nothing yet."""
        return _UserFrames()

    def summary(self) -> traceback.StackSummary:
        """Those of who asks."""
        # Frames themselves are not held: what they hold would live as long as they do.
        frames = [
            (frame.f_code.co_filename, line, frame.f_code.co_name)
            for frame, line in traceback.walk_stack(inspect.currentframe())
        ]
        # The first one is this function, in a file that calls models.
        frames = frames[:0:-1]
        own = [frames[i] for i in _own([file for file, _, _ in frames])]
        return traceback.StackSummary.from_list(
            traceback.FrameSummary(*frame) for frame in own[-_FRAMES_KEPT:]
        )


def _all_frames(_: object, summary: traceback.StackSummary) -> traceback.StackSummary:
    """All: they are chosen already."""
    return summary


_FRAMES_KEPT = 3
