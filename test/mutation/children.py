"""Children of this process: forks that have imported what does not change, with a time limit."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from hook.import_hook import JOB
from product import CACHE, ROOT, TESTS, import_packages

HOOK = Path(__file__).resolve().parent / "hook"
_MEMORY = 12 << 30
_NOT_BEFORE_A_FORK = ("jax", "jaxlib")
"""jax warns where a process forks that has imported it."""

_OF_TESTS = ("pytest", "hypothesis", "lit.main", "lit.formats", "torch", "torch.export")
_ALL_MODULES = """
import sys, importlib, pkgutil
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
print(*(name for name, module in sys.modules.items() if getattr(module, "__file__", None)))
"""


def warm_up() -> None:
    """Import what the product and its tests import from elsewhere, so that children have it."""
    packages = [name for name in import_packages() if (ROOT / import_packages()[name]).is_dir()]
    run = subprocess.run(
        [sys.executable, "-c", _ALL_MODULES, *packages],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    sys.path.insert(0, str(HOOK))
    for name in [*run.stdout.split(), *_OF_TESTS]:
        top = name.partition(".")[0]
        if top in packages or top in _NOT_BEFORE_A_FORK or top.startswith("_"):
            continue
        try:
            import_module(name)
        except ImportError:
            continue
    gc.collect()
    gc.freeze()


def write_job(path: Path, job: Mapping[str, Any]) -> None:
    """Write what the import hook has to do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"packages": list(import_packages()), **job}), encoding="utf-8")


def run_in_child(job: Path, log: Path, seconds: float, work: Callable[[], None]) -> bool:
    """Fork, install the hook for `job` and do `work`; False if the time was not enough.

    What the child and its programs print goes to `log`.
    """
    pid = os.fork()
    if pid == 0:
        _be_child(job, log, work)
    return _wait_for(pid, seconds)


def _be_child(job: Path, log: Path, work: Callable[[], None]) -> None:
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        path = [str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(path)
        os.environ[JOB] = str(job)
        os.chdir(ROOT)
        import import_hook

        import_hook.install()
        work()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _wait_for(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    finished = False
    while not finished and time.monotonic() < deadline:
        finished = os.waitpid(pid, os.WNOHANG)[0] == pid
        if not finished:
            time.sleep(0.02)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if not finished:
        os.waitpid(pid, 0)
    return finished


def lit_files() -> list[str]:
    """The files with RUN lines, from the root of the project."""
    excluded = {"Inputs", "models", "support", "bench", "golden"}
    paths = (path.relative_to(ROOT) for path in TESTS.rglob("*.mlir"))
    return sorted(str(path) for path in paths if not excluded & set(path.parts))


def scratch() -> Path:
    """A folder for this process's files."""
    folder = CACHE / "scratch" / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    return folder
