"""Loads modules of the product with a change, or so that they record what is executed.

A job says what to do. It is a file, so that programs that tests start do the same: its name is in
the environment, and this folder is on their path.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.machinery
import json
import marshal
import mmap
import os
import sys
from pathlib import Path
from types import CodeType
from typing import Any

JOB = "TTMLIR_MUTATION_JOB"
"""Environment variable: path of the job, in JSON.

- `packages`: names under which the product is imported,
- `changed`: texts of modules by path,
- `bases`: number of the first statement of each module that records, by path,
- `hits`: file with a byte for each statement, shared between processes,
- `codes`: folder that keeps the code of recording modules.
"""


def install() -> None:
    """Do what the environment says, in this process and those it starts."""
    path = os.environ.get(JOB)
    if path is None:
        return
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    if "hits" in job:
        builtins.__hits__ = share_hits(job["hits"])
    sys.meta_path.insert(0, _Finder(job))


def share_hits(path: str) -> mmap.mmap:
    """The bytes of the file `path`, the same ones in all processes."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


class _Finder:
    """Finds the product's modules as usual, and loads some of them in another way."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module's own spec with a loader of this file."""
        if name.partition(".")[0] not in self.job["packages"]:
            return None
        others = (each for each in sys.meta_path if each is not self)
        specs = (each.find_spec(name, path, target) for each in others)
        spec = next((each for each in specs if each), None)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return spec
        if spec.origin in self.job.get("changed", {}):
            spec.loader = _ChangedLoader(name, spec.origin, self.job["changed"][spec.origin])
        elif spec.origin in self.job.get("bases", {}):
            spec.loader = _RecordingLoader(name, spec.origin, self.job)
        return spec


class _ChangedLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from another text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        """The code of the text."""
        return compile(self._text, self.path, "exec", dont_inherit=True)


class _RecordingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module whose statements record that they are executed."""

    def __init__(self, name: str, path: str, job: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._base = job["bases"][path]
        self._codes = Path(job["codes"])

    def get_code(self, fullname: str) -> CodeType:
        """The code with records, from an earlier process if there is one."""
        text = self.get_data(self.path)
        key = hashlib.sha256(b"%d %s " % (self._base, self.path.encode()) + text).hexdigest()
        cached = self._codes / key
        if cached.exists():
            return marshal.loads(cached.read_bytes())
        code = self._compile(text)
        fresh = cached.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(marshal.dumps(code))
        fresh.replace(cached)
        return code

    def _compile(self, text: bytes) -> CodeType:
        import ast

        from statements import Instrumenter, number_statements

        tree = ast.parse(text)
        number_statements(tree)
        return compile(Instrumenter(self._base).visit(tree), self.path, "exec", dont_inherit=True)
