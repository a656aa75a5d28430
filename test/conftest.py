"""Makes pytest run the lit tests: each `.mlir` file with RUN lines is one test.

A warm lit process beside each worker runs them, so that a tool starts in milliseconds.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from ctypes import CDLL
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

TEST_ROOT = Path(__file__).resolve().parent
NOT_TESTS = {"Inputs", "models", "support", "bench", "golden"}
sys.path.insert(0, str(TEST_ROOT / "support"))

# There is a worker for each core already; NumPy asks when it is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

from running import jax_cache, randomness, required_oracles, sampling  # noqa: E402
from running.lit_session import LitSession  # noqa: E402
from running.warm_shell import WarmShell  # noqa: E402

LIT = pytest.StashKey[LitSession]()
DONE = pytest.StashKey[int]()
"""How many tests this worker has run."""

# Results of JAX are compared with; how fast they come does not matter, but compiling them does.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

# What one process compiles of Python, those that tests start next read, as with `make test`.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Jobs in the background of a shell are started with interrupts ignored; tests interrupt tools.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no failure: tests that guard against hangs set a deadline of their own.
settings.register_profile("ttmlir", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "ttmlir")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the seeds of the order of the tests and of their numbers."""
    randomness.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Have a lit process for this worker, which starts when it is needed."""
    jax_cache.register(config)
    required_oracles.register(config)
    sampling.register(config)
    config.pluginmanager.register(randomness.Randomness(config))
    config.stash[LIT] = LitSession()


@pytest.fixture(autouse=True)
def devices_closed() -> Iterator[None]:
    """Close the devices of ttnn that a test has opened, which the next one would be given."""
    before = [*_open_devices().values()]
    yield
    for device in [*_open_devices().values()]:
        if device not in before:
            sys.modules["ttmlir.ttnn"].close_device(device)


def _open_devices() -> dict[int, Any]:
    opening = sys.modules.get("ttmlir.ttnn.device.opening")
    return {} if opening is None else opening._open


def pytest_collection() -> None:
    """Keep the garbage collector out of what stays until the end: modules and tests."""
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Leave parts of slow sweeps to `make test-all`, before marks are looked at, or tests moved."""
    sampling.leave_out(items)
    return (yield)


def pytest_collection_finish() -> None:
    """Search for garbage less often than Python does, and only among what tests make.

    torch, JAX and the tests are millions of objects; to search them takes a second.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 20)
    gc.enable()


TESTS_BETWEEN_TRIMS = 250


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Give memory back now and then, of which a worker would keep several GB.

    JAX holds every function that it has compiled, and glibc what was freed.
    """
    done = item.config.stash.setdefault(DONE, 0) + 1
    item.config.stash[DONE] = done
    if done % TESTS_BETWEEN_TRIMS:
        return
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    if trim := getattr(CDLL(None), "malloc_trim", None):
        trim(0)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the lit process."""
    config.stash[LIT].close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect `.mlir` files that lit would run."""
    if file_path.suffix != ".mlir" or NOT_TESTS & set(file_path.relative_to(TEST_ROOT).parts):
        return None
    return LitFile.from_parent(parent, path=file_path)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at the code of every kernel that a test compiles."""
    if "ttmlir.sim.kernels.compiler" in sys.modules:
        from running.generated_code import watch_compiler

        watch_compiler()


@pytest.fixture(scope="session")
def shell() -> Iterator[WarmShell]:
    """Where commands run in which the project's tools start fast."""
    shell = WarmShell()
    yield shell
    shell.close()


class LitFile(pytest.File):
    """A file with RUN lines."""

    def collect(self) -> Iterator[pytest.Item]:
        """The one test that the file is."""
        yield LitTest.from_parent(self, name="lit")


class LitTest(pytest.Item):
    """The RUN lines of one file."""

    def runtest(self) -> None:
        """Report what lit says about the file."""
        code, output = self.config.stash[LIT].run(self.path)
        if code == "UNSUPPORTED":
            pytest.skip(output.strip() or "a program that the test needs is missing")
        if code not in ("PASS", "XFAIL", "FLAKYPASS"):
            raise LitFailure(f"{code}: {self.path}\n{output}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The commands that lit ran and what they printed."""
        if isinstance(excinfo.value, LitFailure):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, None, str]:
        """The name of the test in reports."""
        return self.path, None, f"lit: {self.path.relative_to(TEST_ROOT)}"


class LitFailure(Exception):
    """A RUN line failed; the message is lit's account of it."""
