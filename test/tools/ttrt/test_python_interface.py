"""ttrt as a Python package, as the guides use it."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest
from samples.ttnn_program import ProgramBuilder

import ttrt.binary
import ttrt.runtime
from ttmlir.runtime import InputError
from ttrt.common.api import API
from ttrt.common.util import Artifacts, Binary, FileManager, Globals, Logger, SystemDesc


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with a program `neg.ttnn`."""
    monkeypatch.chdir(tmp_path)
    b = ProgramBuilder()
    b.output(b.eltwise("Neg", [b.to_device(b.input((3, 5)))]))
    Path("neg.ttnn").write_bytes(b.pack())
    API.initialize_apis()
    return tmp_path


def test_commands_are_registered() -> None:
    """All five, once."""
    API.initialize_apis()
    assert list(API.registered_apis) == ["query", "read", "run", "perf", "check"]


def test_a_dictionary_of_registered_arguments_can_be_filled_in() -> None:
    """The guide's way: take the dictionary, add a few values, pass it on."""
    arguments = API.Run.registered_args
    arguments["clean-artifacts"] = True
    arguments["save-artifacts"] = True
    arguments["loops"] = 3
    arguments["init"] = "arange"
    arguments["binary"] = "neg.ttnn"
    logger = Logger("some_file_name.log")
    artifacts = Artifacts(logging=logger, artifacts_folder_path="folder")
    run = API.Run(args=arguments, logging=logger, artifacts=artifacts)
    assert run() == 0
    saved = np.load("folder/neg.ttnn/run/program_0/program_0_output_0.npy")
    np.testing.assert_array_equal(saved.ravel(), -np.arange(15))
    assert "pass" in Path("some_file_name.log").read_text()
    assert "loops" not in API.Run.registered_args


def test_the_arguments_of_all_commands() -> None:
    """Those of each are among them; a new dictionary each time."""
    arguments = API.registered_args
    assert {"--loops", "--section", "--system-desc", "binary"} <= set(arguments)
    for api in (API.Query, API.Read, API.Run, API.Perf, API.Check):
        assert set(api.registered_args) <= set(arguments)
    arguments["loops"] = 3
    assert "loops" not in API.registered_args


@pytest.mark.parametrize("key", ["save-artifacts", "--save-artifacts", "save_artifacts"])
def test_keys_may_be_spelled_in_three_ways(key: str) -> None:
    """With dashes, without, with underscores."""
    query = API.Query(args={key: True, "--quiet": True}, logger=Logger("query.log"))
    assert query[key] is True
    assert query.save_artifacts is True
    assert query() == 0
    assert Path("ttrt-artifacts/system_desc.ttsys").exists()


def test_unknown_arguments_are_named() -> None:
    """With the list of those that exist."""
    with pytest.raises(KeyError, match="there is no argument 'loop'; supported are binary"):
        API.Run(args={"loop": 3})


def test_calls_do_not_remember_each_other() -> None:
    """Results are those of the last call."""
    run = API.Run(args={"binary": "neg.ttnn"}, logger=Logger("run.log"))
    assert run() == 0
    assert run() == 0
    assert len(run.results) == 1


def test_argparse_subparsers() -> None:
    """A command adds itself to a parser and takes its namespace."""
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    for api in API.registered_apis.values():
        api.generate_subparser(subparsers)
    arguments = parser.parse_args(["read", "neg.ttnn", "--section", "version"])
    assert arguments.api is API.Read
    del arguments.api
    assert API.Read(args=arguments)() == 0


def test_registered_arguments_can_be_added() -> None:
    """Arguments of the Python interface only."""

    class Mine(API.Check):
        """A command of one's own."""

        name = "mine"

    Mine.register_arg("--extra", int, 7, help="More.")
    assert Mine(args={})["extra"] == 7
    assert Mine(args={"extra": 8})["--extra"] == 8
    assert "--extra" not in API.Check.registered_args
    assert Mine.api_only_arg == (*API.Check.api_only_arg, "--extra")
    Mine.register_arg("--shown", str, "a", choices=("a", "b"), api_only=False)
    assert "--shown" not in Mine.api_only_arg
    Mine.register_arg("--extra", int, 9)
    assert Mine(args={})["extra"] == 9
    assert [each.name for each in Mine.options].count("--extra") == 1
    with pytest.raises(TypeError, match="lacks initialize_api"):
        API.register_api(type("Broken", (), {}))  # pyright: ignore[reportArgumentType]


def test_runtime_module_runs_a_program() -> None:
    """The calls that scripts of tt-mlir make, on memory of their own."""
    binary = ttrt.binary.load_binary_from_path("neg.ttnn")
    ttrt.runtime.set_compatible_runtime(binary)
    assert ttrt.runtime.get_current_runtime() is ttrt.runtime.DeviceRuntime.TTNN
    system, ids = ttrt.runtime.get_current_system_desc()
    assert ids == [0]
    assert system.fbb_dict["system_desc"] == binary.fbb_dict["system_desc"]
    program = binary.get_program(0)
    inputs = program.populate_inputs("randn")
    outputs = program.populate_outputs("zeros")
    tensors = [
        [
            ttrt.runtime.create_tensor(
                array.ctypes.data,
                list(array.shape),
                [step // array.itemsize for step in array.strides],
                array.itemsize,
                ttrt.runtime.DataType.Float32,
            )
            for array in arrays
        ]
        for arrays in (inputs, outputs)
    ]
    device = ttrt.runtime.open_device([0], [1])
    event = ttrt.runtime.submit(device, binary.fbb, 0, *tensors)
    assert isinstance(event, ttrt.runtime.Event)
    ttrt.runtime.wait(event)
    ttrt.runtime.close_device(device)
    np.testing.assert_array_equal(outputs[0], -inputs[0])


def test_hooks_see_every_operation() -> None:
    """Before and after, with texts, locations and results."""
    from ttmlir.runtime import (
        DebugHooks,
        Tensor,
        get_op_debug_str,
        get_op_loc_info,
        get_op_output_tensor,
        load_binary,
        open_device,
        submit,
    )

    seen: list[tuple[str, str]] = []
    results: list[np.ndarray] = []

    def post(binary: object, program: object, op: object) -> None:
        seen.append((get_op_loc_info(op), get_op_debug_str(op)))
        tensor = get_op_output_tensor(op, program)
        if tensor is not None:
            results.append(tensor.to_numpy())

    x = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    DebugHooks.get(None, post)
    try:
        submit(open_device(), load_binary("neg.ttnn"), 0, [Tensor.from_numpy(x)])
    finally:
        DebugHooks.unregister()
    locations = [location for location, _ in seen]
    assert locations == [
        '"GetDeviceOp"',
        '"ToLayoutOp"',
        '"ToDeviceOp"',
        '"EmptyOp"',
        '"EltwiseOp"',
        '"ToMemoryConfigOp"',
    ]
    assert all(text.startswith("op loc(") for _, text in seen)
    np.testing.assert_array_equal(results[-1], -x)
    assert len(results) == 4


def test_files_as_objects() -> None:
    """Versions, JSON, copies and indices."""
    binary = Binary(Logger("log"), None, "neg.ttnn")
    assert binary.version == "0.0.227"
    assert binary.check_version()
    assert binary.file_identifier == "TTNN"
    assert binary.check_program_index_exists(0)
    assert not binary.check_program_index_exists(1)
    assert binary.check_system_desc(API.Query())
    assert not binary.check_system_desc(API.Query(args={"board": "p150"}))
    binary.store("copy.ttnn")
    assert Path("copy.ttnn").read_bytes() == Path("neg.ttnn").read_bytes()
    binary.save(Artifacts(), API.Query())
    assert SystemDesc(file_path="ttrt-artifacts/neg.ttnn/system_desc.ttsys").version == "0.0.227"
    capsule = ttrt.binary.load_binary_from_capsule(Path("neg.ttnn").read_bytes())
    assert ttrt.binary.as_dict(capsule) == binary.fbb_dict
    assert isinstance(ttrt.binary.load_from_path("neg.ttnn"), Binary)
    assert Binary.Program.from_data_type("UInt32") == np.uint32
    assert Binary.Program.to_data_type(np.float32).schema_name == "Float32"
    with pytest.raises(InputError, match="there is no data type 'Float8'"):
        Binary.Program.from_data_type("Float8")


def test_file_manager() -> None:
    """Creates, copies, finds and removes; failures name the path."""
    files = FileManager(Logger("log"))
    files.create_file("a/b/c.ttnn")
    files.copy_directory("d", "a")
    files.copy_file("e/c.ttsys", "a/b/c.ttnn")
    assert files.find_ttnn_binary_paths(".") == ["a/b/c.ttnn", "d/b/c.ttnn", "neg.ttnn"]
    assert files.find_ttsys_binary_paths("e") == ["e/c.ttsys"]
    assert files.find_ttmetal_binary_paths("neg.ttnn") == []
    assert (files.get_file_name("a/b/c.ttnn"), files.get_file_extension("c.ttnn")) == (
        "c.ttnn",
        ".ttnn",
    )
    files.remove_directory("a")
    files.remove_directory("a")
    assert not files.is_directory("a")
    files.remove_file("d/b/c.ttnn")
    assert not files.check_file_exists("d/b/c.ttnn")
    with pytest.raises(InputError, match="nope: No such file or directory"):
        files.copy_file("x", "nope")


def test_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values start as the environment and do not change it."""
    monkeypatch.setenv("TT_METAL_HOME", "/metal")
    values = Globals(Logger("log"))
    values.add_global_env("NEW", "1")
    assert values.check_global_exists("NEW")
    values.remove_global_env("NEW")
    assert "NEW" not in values.get_globals()
    assert Globals.get_ttmetal_home_path() == "/metal"
    assert values.get_ld_path("lib").startswith("lib")
    with pytest.raises(InputError, match="there is no global 'NEW'"):
        values.remove_global_env("NEW")


@pytest.mark.parametrize("variable", ["TTRT_LOGGER_LEVEL", "LOGGER_LEVEL"])
def test_level_of_the_logger(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment."""
    monkeypatch.setenv(variable, "error")
    logger = Logger("log")
    logger.warning("quiet")
    logger.error("loud")
    text = Path("log").read_text()
    assert "loud" in text
    assert "quiet" not in text


def test_values_as_scripts_give_them(capsys: pytest.CaptureFixture[str]) -> None:
    """None is a default, one value is a list of one; numbers are not text."""
    Path("abs.ttnn").write_bytes(small_program())
    x = np.full((3, 5), -2, np.float32)
    np.save("x.npy", x)
    arguments = {"binary": Path("abs.ttnn"), "inputs": "x.npy", "outputs": "y.npy", "seed": None}
    assert API.Run(args=arguments)() == 0
    np.testing.assert_array_equal(np.load("y.npy"), -x)
    assert API.Run(args={"binary": ["abs.ttnn", Path("abs.ttnn")], "lenient": "race"})() == 0
    capsys.readouterr()
    for given, message in (
        ({"loops": "3"}, "--loops must be a number, got '3'"),
        ({"numerics": "half"}, "--numerics is 'half'; supported are 'exact', 'device'"),
        ({"binary": None}, "no file or folder was given"),
    ):
        assert API.Run(args={"binary": "abs.ttnn"} | given)() == 1
        assert message in capsys.readouterr().err


def small_program() -> bytes:
    """The bytes of a file with one operation."""
    b = ProgramBuilder()
    b.output(b.eltwise("Abs", [b.to_device(b.input((3, 5)))]))
    return b.pack()
