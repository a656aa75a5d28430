"""Public names, and what is said about names and options that there are not."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import ttmlir.metalium
from ttmlir.metalium import (
    ComputeConfig,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataMovementConfig,
    InterleavedBufferConfig,
    MetaliumError,
)
from ttmlir.metalium.names import NAMESPACES


@pytest.mark.parametrize("name", ["", *NAMESPACES])
def test_every_public_name_can_be_loaded(name: str) -> None:
    """Lists of names and modules agree."""
    module = importlib.import_module(f"ttmlir.metalium.{name}".rstrip("."))
    assert module.__all__ == [each for each in module.__all__ if hasattr(module, each)]
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize(
    ("namespace", "name", "message"),
    [
        ("", "EnqueueMeshWorkload", "; it is distributed.EnqueueMeshWorkload"),
        ("", "LaunchProgram", "; it is detail.LaunchProgram"),
        ("", "ProgramSpec", "; it is experimental.ProgramSpec"),
        ("", "CreatKernel", "; did you mean 'CreateKernel'?"),
        ("", "cb_push_back", "; docs/metalium_names.md lists the names of C++"),
        (".distributed", "CreateKernel", "; it is a name of ttmlir.metalium"),
        (".distributed", "Enqueuemeshworkload", "; did you mean 'EnqueueMeshWorkload'?"),
        (".experimental", "MeshBuffer", "; it is distributed.MeshBuffer"),
    ],
)
def test_unknown_names(namespace: str, name: str, message: str) -> None:
    """The namespace that has the name, or a name that is alike."""
    module = importlib.import_module(f"ttmlir.metalium{namespace}")
    with pytest.raises(AttributeError, match=re.escape(message) + "$"):
        getattr(module, name)


def test_unknown_options_name_the_known_ones() -> None:
    """Of configurations and of functions; what is missing is told, too."""
    cases = [
        (
            lambda: ComputeConfig(math_fidelty=1),
            "ComputeConfig has no option 'math_fidelty'; did you mean 'math_fidelity'? "
            "ComputeConfig takes math_fidelity, fp32_dest_acc_en, ",
        ),
        (
            lambda: DataMovementConfig(wrong=1),
            "DataMovementConfig has no option 'wrong'; DataMovementConfig takes processor, noc, ",
        ),
        (
            lambda: CreateDevice(0, l1_small=3),
            "CreateDevice has no option 'l1_small'; CreateDevice takes device_id, board, ",
        ),
        (
            lambda: InterleavedBufferConfig(size=3),
            "InterleavedBufferConfig: missing a required argument: 'device'; "
            "InterleavedBufferConfig takes device, size, page_size, buffer_type, buffer_layout",
        ),
    ]
    for case, message in cases:
        with pytest.raises(MetaliumError) as caught:
            case()
        assert str(caught.value).startswith(message)


def test_errors_within_a_call_stay_what_they_are() -> None:
    """Only arguments that do not fit are answered with the options."""
    with pytest.raises(MetaliumError, match="takes a DataMovementConfig, ReaderDataMove"):
        CreateKernelFromString(CreateProgram(), "", (0, 0), None)
    with pytest.raises(MetaliumError, match="None is no program"):
        CreateKernelFromString(None, "", (0, 0), ComputeConfig())
    with pytest.raises(MetaliumError, match="the macro 'N' is 4; macros are texts: write str"):
        CreateKernelFromString(CreateProgram(), "", (0, 0), ComputeConfig(defines={"N": 4}))
    assert "board" in inspect.signature(CreateDevice).parameters
    assert ttmlir.metalium.TILE_HW == 32 * 32
