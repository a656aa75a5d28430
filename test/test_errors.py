"""The errors that users see: one root, public kinds below it, causes that are kept."""

from __future__ import annotations

import ast
import builtins
import inspect
import pickle
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir import errors
from ttmlir.frontend.pykernel.builder import PyKernelError
from ttmlir.frontend.pykernel.compilation import compute_thread
from ttmlir.frontend.pykernel.operation import PyKernelOp
from ttmlir.layout.errors import LayoutError
from ttmlir.metalium.errors import MetaliumError
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.program import DescriptionError
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.schema.types import FlatbufferError, PackError, SchemaError
from ttmlir.sim.errors import SimError
from ttmlir.ttnn.activate import activate
from ttmlir.ttnn.errors import (
    PlacedError,
    PlacedIndexError,
    PlacedTypeError,
    check_arguments,
    locate_errors,
)
from ttmlir.ttnn.operations.operation import Operation
from ttmlir.ttnn_jit.errors import JitError, PassManagerError, UnsupportedFunctionError

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for name in ("ttmlir", "tools") for path in (ROOT / name).rglob("*.py")]
PUBLIC = ("CompilationError", "InputError", "FileError", "ExecutionError", "KernelError")
INTERNAL = {
    # Caught where they are raised, or by the caller that makes a message of them.
    *("CannotEmitError", "RequestError", "GradientsAsked", "UnsupportedFloatError"),
    *("JumpError", "TooLongError", "WrongAnswerError"),
    *("DenseSyntaxError", "PassFailure", "TooManyTilesError", "TooManySteps"),
    *("KernelFault", "IrregularError", "DisagreementError", "RefusedError", "NumbersNeededError"),
}


def test_public_errors() -> None:
    """Their names are the package's, and all are below the root, which is no error of Python."""
    for name in PUBLIC:
        assert getattr(ttmlir, name) is getattr(errors, name)
        assert getattr(errors, name).__base__ is ttmlir.Error
    assert ttmlir.Error.__base__ is Exception


@pytest.mark.parametrize(
    ("found", "bases"),
    [
        (DiagnosticError, [errors.CompilationError]),
        (PyKernelError, [errors.CompilationError, errors.KernelError]),
        (JitError, [errors.CompilationError, RuntimeError]),
        (PassManagerError, [errors.CompilationError, RuntimeError]),
        (UnsupportedFunctionError, [errors.CompilationError, AssertionError]),
        (LayoutError, [errors.InputError, ValueError]),
        (MetaliumError, [errors.InputError, ValueError]),
        (OptionError, [errors.InputError]),
        (DescriptionError, [errors.InputError, ValueError]),
        (PackError, [errors.InputError, ValueError]),
        (PlacedError, [errors.InputError, RuntimeError]),
        (PlacedTypeError, [errors.InputError, TypeError]),
        (PlacedIndexError, [errors.InputError, IndexError]),
        (errors.ArgumentTypeError, [errors.InputError, TypeError]),
        (errors.IndexRangeError, [errors.InputError, IndexError]),
        (errors.MissingNameError, [errors.InputError, AttributeError]),
        (errors.UnknownKeyError, [errors.InputError, KeyError]),
        (errors.UsageError, [errors.InputError, RuntimeError]),
        (errors.MissingPackageError, [errors.InputError, ImportError]),
        (errors.IterationLimitError, [errors.ExecutionError, ValueError]),
        (errors.NotSupportedError, [errors.InputError, NotImplementedError]),
        (BinaryError, [errors.FileError]),
        (UnsupportedError, [errors.FileError]),
        (FlatbufferError, [errors.FileError, ValueError]),
        (SchemaError, [errors.FileError, ValueError]),
        (SimError, [errors.KernelError]),
    ],
)
def test_what_errors_are(found: type[Exception], bases: list[type[Exception]]) -> None:
    """Of a public kind, and what Python or ttnn has for the case."""
    assert all(issubclass(found, base) for base in bases)


def _is_error(found: object) -> bool:
    return inspect.isclass(found) and issubclass(found, Exception)


def test_every_class_is_below_the_root() -> None:
    """But those that no user sees."""
    others = set[str]()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                kinds = [getattr(builtins, ast.unparse(base), None) for base in node.bases]
                if kinds and all(
                    inspect.isclass(each) and issubclass(each, Exception) for each in kinds
                ):
                    others.add(node.name)
    assert others - {"Error"} == INTERNAL


def test_refusals_of_each_kind(tmp_path: Path) -> None:
    """A caller may take all by the root."""
    with pytest.raises(ttmlir.CompilationError, match="error: ") as caught:
        ttmlir.compile("module {\n  func.func @f(\n}")
    assert caught.value.diagnostics
    with pytest.raises(ttmlir.InputError):
        ttmlir.explore(3, browser=False)
    (tmp_path / "x.ttnn").write_bytes(b"no program")
    with pytest.raises(ttmlir.FileError):
        ttmlir.load(tmp_path / "x.ttnn")


def test_paths_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    """Errors of the project, which are still those of Python, however they travel."""
    text = "func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}"
    compiled = ttmlir.compile(text)
    loaded = ttmlir.load(compiled.save(tmp_path / "kept.ttnn"))
    missing, folder = tmp_path / "none" / "model.ttnn", tmp_path
    for call in (lambda path: ttmlir.compile(str(path)), compiled.save, loaded.save):
        with pytest.raises(ttmlir.FileError) as caught:
            call(missing)
        assert isinstance(caught.value, FileNotFoundError)
        assert str(caught.value) == f"{missing}: No such file or directory"
        assert isinstance(caught.value.__cause__, FileNotFoundError)
        with pytest.raises(ttmlir.FileError) as caught:
            call(folder)
        assert isinstance(caught.value, IsADirectoryError)
        assert str(caught.value) == f"{folder}: Is a directory"
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.ttnn"]


def test_names_of_choices() -> None:
    """Wrong ones are refused as other arguments are, and are still errors of values."""
    text = "func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}"
    compiled, wrong = ttmlir.compile(text), cast("Any", "wrong")
    for call in (
        lambda: ttmlir.compile(text, target=wrong),
        lambda: ttmlir.compile(text, weights=wrong),
        lambda: compiled(np.ones(3, np.float32), numerics=wrong),
        lambda: compiled.text(wrong),
    ):
        with pytest.raises(ttmlir.InputError, match="wrong") as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_causes_are_kept() -> None:
    """What led to an error of ttnn is seen; one that is of a compilation already is not changed."""

    def refuse_extent(_: int) -> object:
        raise errors.ArgumentError("an extent is not negative")

    with pytest.raises(PlacedError, match=r"ttnn.failing: an extent is not negative") as caught:
        Operation("failing", refuse_extent)(1)
    cause = caught.value.__cause__
    assert isinstance(cause, errors.ArgumentError)
    assert cause.__traceback__ is not None
    assert inspect.getinnerframes(cause.__traceback__)[-1].function == "refuse_extent"
    refused = JitError("no")

    def refuse(_: int) -> object:
        raise refused

    with pytest.raises(JitError) as again:
        Operation("failing", refuse)(1)
    assert again.value is refused


def divide_matrices(_: int, /) -> object:
    """A ValueError of NumPy."""
    return np.ones((2, 3)) @ np.ones((2, 3))


def subtract_text(_: int, /) -> object:
    """A TypeError of Python."""
    return cast("Any", "text") - 1


def look_up(_: int, /) -> object:
    """A KeyError, whose text a program could take for advice."""
    return dict[str, int]()["missing"]


def overflow(_: int, /) -> object:
    """A RuntimeError of Python."""
    raise RecursionError("maximum recursion depth exceeded")


FAULTS: dict[Callable[[int], object], type[Exception]] = {
    divide_matrices: ValueError,
    subtract_text: TypeError,
    look_up: KeyError,
    overflow: RecursionError,
}


@pytest.mark.parametrize("function", FAULTS)
@pytest.mark.parametrize("way", ["operation", "function", "method"])
def test_faults_are_not_refusals(function: Callable[[int], object], way: str) -> None:
    """A mistake of the project goes through unchanged, so that nobody looks for one of his own."""
    calls: dict[str, Callable[[int], object]] = {
        "operation": Operation("failing", function),
        "function": locate_errors(function, "ttnn.failing"),
        "method": check_arguments(function),
    }
    with pytest.raises(FAULTS[function]) as caught:
        calls[way](1)
    assert type(caught.value).__module__ == "builtins"
    assert caught.value.__cause__ is None
    assert inspect.getinnerframes(caught.tb)[-1].function == function.__name__


RAISED_BY_PYTHON = {
    # Methods of mappings, as Python wants them; inputs of programs are looked up by the project.
    ("frontend/complex_pairs.py", "KeyError"),
    ("frontend/onnx/keeping.py", "TypeError"),
    ("frontend/torch/model.py", "KeyError"),
    ("frontend/torch/model.py", "TypeError"),
    # An object in the place of one of torch's, which is asked for names that start with "__".
    ("frontend/torch/decompositions/packed_sequences.py", "AttributeError"),
    # Look-ups by names of files and of IR; the reader says what was read.
    ("frontend/torch/call.py", "KeyError"),
    ("layout/enums.py", "KeyError"),
    # Callers make a `PathError` of what they and the system raise alike.
    ("files.py", "FileNotFoundError"),
    ("files.py", "PermissionError"),
    # Readers of values, whose callers give the message its location.
    ("mlir/attribute_reader.py", "ValueError"),
    ("mlir/attributes.py", "ValueError"),
    ("mlir/option_values.py", "ValueError"),
    ("passes/d2m/references.py", "TypeError"),
    ("passes/general/argument_types.py", "ValueError"),
    ("passes/placement/layout_overrides.py", "ValueError"),
    ("passes/ttnn/optimizer/optimizer_options.py", "ValueError"),
    ("program.py", "ValueError"),
    ("tools/translate/flags.py", "ValueError"),
    # Methods of xDSL, replaced by equal ones.
    ("mlir/attributes.py", "NotImplementedError"),
    ("mlir/xdsl_internals.py", "TypeError"),
    # A script of a model, which is a program of its own.
    ("target/python/kernel_frame.py", "SystemExit"),
    ("target/python/script_frame.py", "SystemExit"),
    # A pass that fails on purpose, and the user's interruption.
    ("passes/general/failing.py", "ZeroDivisionError"),
    ("tools/click_command.py", "KeyboardInterrupt"),
}
"""Where an error of Python's is raised that no user sees as it is."""


def test_only_errors_of_the_project_are_raised() -> None:
    """A refusal is one of `ttmlir.errors`, so that what else is raised is known for a fault.

    Faults are AssertionErrors with a sentence; an abstract method is a bare NotImplementedError.
    """
    raised = set[tuple[str, str]]()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Raise) or node.exc is None:
                continue
            is_call = isinstance(node.exc, ast.Call)
            name = ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
            is_fault = name == "AssertionError" or (name == "NotImplementedError" and not is_call)
            if hasattr(builtins, name) and not is_fault:
                file = path.relative_to(ROOT).as_posix().removeprefix("ttmlir/")
                raised.add((file, name))
    assert raised == RAISED_BY_PYTHON


def _run_ttrt() -> object:
    from ttmlir.runtime.ttrt.api import API

    return API.Run(args={"--nosuch": 1})


def _call_operation() -> object:
    activate()
    return PyKernelOp()(np.ones(3))


ANY = partial(cast, Any)
WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no model": (lambda: ttmlir.compile(ANY(3)), TypeError, "cannot compile a int; it takes func"),
    "no buckets": (
        lambda: ttmlir.compile(abs, np.ones(3), buckets=ANY(3)),
        TypeError,
        "buckets are sizes by arguments and dimensions: {'x': {0: (1, 8)}}; got 3",
    ),
    "no programs": (
        lambda: ttmlir.compile_programs(ANY(3)),
        TypeError,
        "programs are given by names: {",
    ),
    "nothing to compute": (
        lambda: ttmlir.register_custom_call("x"),
        ValueError,
        "'x' has nothing that computes it: give a kernel, a function of NumPy, or both",
    ),
    "no function of a kernel": (
        lambda: compute_thread()(ANY(3)),
        TypeError,
        "3 is no function; a kernel is a 'def' under a decorator",
    ),
    "no invoke": (_call_operation, NotImplementedError, "PyKernelOp has no 'invoke'; define it"),
    "no argument of ttrt": (_run_ttrt, KeyError, "there is no argument '--nosuch'; supported are "),
    "no batch": (
        lambda: ttmlir.compile(jnp.abs, np.ones(3)).estimate().rate(0),
        ValueError,
        "a batch has at least one of the items, not 0",
    ),
    "no name": (
        lambda: ANY(ttmlir).nosuch,
        AttributeError,
        "module 'ttmlir' has no attribute 'nosuch'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_calls_are_refused_by_the_project(name: str) -> None:
    """With the sentence alone, and still as what Python has for the case."""
    call, kind, message = WRONG[name]
    with pytest.raises(ttmlir.Error) as caught:
        call()
    assert isinstance(caught.value, kind)
    assert message in str(caught.value)
    assert not str(caught.value).startswith(('"', "'there"))


REASONS = {
    # A look-up or conversion that failed says nothing that the message does not.
    **dict.fromkeys(
        [
            *("frontend/calls.py", "frontend/summary.py", "frontend/text.py"),
            *("host_tool/wire.py", "kernel_tool/checking.py", "mlir/reader.py"),
            *("runtime/ttrt/objects.py", "tools/kernel_cli.py", "ttnn/__init__.py"),
            *(
                "ttnn/model_preprocessing.py",
                "ttnn/tensor/conversion.py",
                "ttnn/operations/activations.py",
            ),
            *("ttnn/operations/elementwise/activations.py", "ttnn_jit/function.py"),
            *("sim/kernels/expressions/lvalues.py", "target/python/model_script.py"),
        ],
        1,
    ),
    **{
        **{"kernel_tool/spec_program.py": 3, "runtime/ttrt/sweeps.py": 2},
        **{"cpp/preprocess.py": 2, "mlir/option_values.py": 2},
        **{"mlir/attribute_reader.py": 2, "ttnn/namespace.py": 2},
    },
    # The same error again, with more notes, its place, or without our own frames.
    **{"compiler.py": 1, "cpp/parse.py": 1, "sim/execution/scheduler.py": 1},
    **{"frontend/pykernel/compilation.py": 1, "metalium/host_api.py": 3, "sim/kernels/unit.py": 1},
    **{"cpp/parse.py": 1, "metalium/meshes.py": 1},
    "sim/kernels/compiler.py": 3,
}
"""How often each file hides what led to an error, by the reasons above."""


def test_causes_are_hidden_for_a_reason() -> None:
    """Everywhere else an error names its cause."""
    found = {
        path.relative_to(ROOT).as_posix().removeprefix("ttmlir/"): count
        for path in SOURCES
        if (count := path.read_text("utf-8").count(" from None\n"))
    }
    assert found == REASONS


def test_tools_show_causes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the environment asks for them, and nowhere else."""
    from ttmlir.tools.ttrt import main

    monkeypatch.chdir(tmp_path)
    Path("x.ttnn").write_bytes(b"no program at all, but some bytes")
    assert main(["run", "x.ttnn"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    monkeypatch.setenv(errors.DEBUG_VARIABLE, "1")
    assert main(["run", "x.ttnn"]) == 1
    shown = capsys.readouterr().err
    assert "Traceback (most recent call last)" in shown
    assert "BinaryError: x.ttnn" in shown


LOCATED: dict[str, tuple[list[str], str, str]] = {
    "ttmlir-opt": (
        ["--canonicalize"],
        """func.func @f(%a: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "ttir.abs"(%a) : (tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
""",
        "DiagnosticError",
    ),
    "ttmlir-translate": (["--ttnn-to-flatbuffer"], "module {", "DiagnosticError"),
    "ttmlir-kernel": (["check"], "void kernel_main() { return 1 + ; }\n", "CppSyntaxError"),
}
"""Inputs that tools refuse at a location, and the class of the error that says so."""


@pytest.mark.parametrize("tool", LOCATED)
def test_tools_show_causes_of_located_errors(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The chain of errors behind a message with a location, once, where it is asked for."""
    arguments, text, kind = LOCATED[tool]
    main = import_module(f"ttmlir.tools.{tool.replace('-', '_')}").main
    monkeypatch.chdir(tmp_path)
    name = "x.cpp" if tool == "ttmlir-kernel" else "x.mlir"
    Path(name).write_text(text, encoding="utf-8")
    command = [*arguments, name]
    assert main(command) == 1
    plain = "".join(capfd.readouterr())
    assert "error: " in plain
    assert "Traceback" not in plain
    monkeypatch.setenv(errors.DEBUG_VARIABLE, "1")
    assert main(command) == 1
    shown = "".join(capfd.readouterr())
    assert shown.count(f"{kind}: {name}:") == 1
    assert shown.index("Traceback (most recent call last)") < shown.index(f"{kind}: ")
    assert all(line in shown.splitlines() for line in plain.splitlines())


def test_causes_of_located_errors_are_chained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What led to the error of a tool comes before it, as Python prints it."""
    from ttmlir.mlir.chunk_processing import process_chunks
    from ttmlir.mlir.reporting import LocatedError, file_location

    def refuse(_: object) -> None:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise LocatedError(file_location("x.mlir", 1, 1), "no such name") from error

    monkeypatch.setenv(errors.DEBUG_VARIABLE, "1")
    assert not process_chunks("module {}", "x.mlir", refuse).succeeded
    shown = capsys.readouterr().err
    assert shown.index("KeyError: 'first'") < shown.index(
        "LocatedError: x.mlir:1:1: error: no such"
    )


def test_errors_stand_at_the_bottom() -> None:
    """Nothing of the package is imported with them."""
    source = (ROOT / "ttmlir" / "errors.py").read_text("utf-8")
    imported = {
        node.module or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
    }
    assert not any(name.startswith("ttmlir") for name in imported)
