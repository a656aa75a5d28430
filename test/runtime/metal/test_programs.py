"""What `.ttm` files may hold besides what tt-mlir's own files do, and what is refused.

Each test alters one thing in a file of tt-mlir: a program that multiplies, on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir.errors import Error
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import TT_MLIR_LENIENCIES, MetalRun, execute
from ttmlir.schema import load_schema
from ttmlir.schema.versions import load
from ttmlir.sim.options import SimOptions

NAME = "multiply_3d.ttm"
DATA = (Path(__file__).resolve().parents[2] / "golden" / NAME).read_bytes()
INPUTS = np.random.default_rng(6).standard_normal((2, 2, 32, 64)).astype(np.float32)

Tree = dict[str, Any]


def tree() -> Tree:
    """What the file holds, to be altered."""
    return load(DATA, NAME).root.as_dict()


def commands(root: Tree) -> list[Tree]:
    """The commands of its queue: buffers are created, kernels run."""
    return root["programs"][0]["device_programs"][0]["command_queues"][0]["commands"]


def kernel(root: Tree) -> Tree:
    """The kernel of the first program of kernels, which makes tiles of rows."""
    return commands(root)[1]["type"]["program"]["kernels"][0]


def execution(root: Tree) -> MetalRun:
    """A run of the altered program on random inputs."""
    binary = read_binary(load_schema("TTMetal/binary.fbs").pack(root), NAME)
    assert isinstance(binary, MetalBinary)
    options = SimOptions(numerics="exact", leniencies=TT_MLIR_LENIENCIES)
    return execute(binary.metal_programs[0], list(INPUTS), options)


def run(root: Tree) -> np.ndarray:
    """The result of the altered program."""
    [output] = execution(root).outputs
    return output


def test_the_file_multiplies_before_it_is_altered() -> None:
    """Also after it was taken apart and written again."""
    np.testing.assert_allclose(run(tree()), INPUTS[0] * INPUTS[1], rtol=1e-6)


EVENTS = ("CreateEvent", "EnqueueRecordEvent", "EnqueueWaitForEvent", "EventSynchronize")


@pytest.mark.parametrize("kind", [*EVENTS, "EventQuery", "Finish"])
def test_commands_of_order_change_nothing(kind: str) -> None:
    """Commands are done in order anyway, so events and waits have nothing to do."""
    root = tree()
    fields = {} if kind == "Finish" else {"ref": {"global_id": 7}}
    commands(root)[1:1] = [{"type_type": f"{kind}Command", "type": fields}]
    np.testing.assert_allclose(run(root), INPUTS[0] * INPUTS[1], rtol=1e-6)


WRITER = """
void kernel_main() {
  volatile tt_l1_ptr uint32_t* p = (volatile tt_l1_ptr uint32_t*)get_arg_val<uint32_t>(0);
  volatile tt_l1_ptr uint32_t* s = (volatile tt_l1_ptr uint32_t*)get_arg_val<uint32_t>(1);
  p[0] = 0x3f800000u;
  p[3] = *s;
}
"""


def writer(root: Tree, noc_index: str) -> Tree:
    """A kernel that moves data, with the address of a tensor and that of a semaphore."""
    return {
        "kernel_type": "KernelSource",
        "kernel": {
            "source": WRITER,
            "config_type": "NocConfig",
            "config": {"noc_index": noc_index},
        },
        "core_range_set": kernel(root)["core_range_set"],
        "runtime_args_type": ["RuntimeArgTensorAddress", "RuntimeArgSemaphoreAddress"],
        "runtime_args": [{"operand_idx": 0}, {"initial_value": 0x40400000}],
    }


def add_program(root: Tree, *kernels: Tree) -> None:
    """Run kernels at the end, whose only operand is the result."""
    operands = commands(root)[9]["type"]["operands"]
    result = next(each for each in operands if each["global_id"] == 13)
    program = {"operands": [result], "program": {"kernels": list(kernels)}}
    commands(root)[10:10] = [{"type_type": "EnqueueProgramCommand", "type": program}]


def test_kernels_are_named_after_program_command_and_thread() -> None:
    """And numbered where a command has several."""
    root = tree()
    idle = writer(root, "Noc1")
    idle["kernel"]["source"] = "void kernel_main() {}"
    add_program(root, writer(root, "Noc0"), idle)
    names = [{thread.kernel for thread in each.report.threads} for each in execution(root).reports]
    assert names[0] == {"forward_1_tensix"}
    assert names[-1] == {"forward_10_noc0_0", "forward_10_noc1_1"}


@pytest.mark.parametrize("noc_index", ["Noc0", "Noc1"])
def test_kernels_get_addresses_of_tensors_and_semaphores(noc_index: str) -> None:
    """A kernel of either processor that moves data writes into the result's memory."""
    root = tree()
    add_program(root, writer(root, noc_index))
    expected = INPUTS[0] * INPUTS[1]
    expected[0, 0, 0], expected[0, 0, 3] = 1.0, 3.0
    np.testing.assert_allclose(run(root), expected, rtol=1e-6)


def memory(root: Tree) -> Tree:
    """The memory of the result, which the inputs share the description of."""
    return root["programs"][0]["outputs"][0]["desc"]["layout"]["memory_desc"]


def alter_operand(root: Tree, **fields: Any) -> None:
    """Alter the kernel's run-time arguments."""
    kernel(root).update(runtime_args_type=["RuntimeArgTensorAddress"], runtime_args=[fields])


REFUSED: dict[str, tuple[Callable[[Tree], Any], str]] = {
    "two devices": (
        lambda root: root["programs"][0].update(
            device_programs=root["programs"][0]["device_programs"] * 2
        ),
        "is for 2 devices; supported are programs for one",
    ),
    "no device": (
        lambda root: root["programs"][0].update(device_programs=[]),
        "is for 0 devices; supported are programs for one",
    ),
    "two queues": (
        lambda root: root["programs"][0]["device_programs"][0].update(
            command_queues=root["programs"][0]["device_programs"][0]["command_queues"] * 2
        ),
        "has 2 command queues; supported is one",
    ),
    "no program": (
        lambda root: commands(root)[1]["type"].update(program=None),
        "command 1 (EnqueueProgramCommand): field 'program' is missing",
    ),
    "no tensor": (
        lambda root: commands(root)[0]["type"].update(ref=None),
        "command 0 (CreateBufferCommand): field 'ref' is missing",
    ),
    "no source": (
        lambda root: commands(root).insert(
            0, {"type_type": "EnqueueWriteBufferCommand", "type": {}}
        ),
        "command 0 (EnqueueWriteBufferCommand): field 'src' is missing",
    ),
    "no kernel": (
        lambda root: kernel(root).update(kernel_type="NONE", kernel=None),
        "kernel 0: field 'kernel' is missing",
    ),
    "no configuration": (
        lambda root: kernel(root)["kernel"].update(config_type="NONE", config=None),
        "kernel 0: field 'config' is missing",
    ),
    "another core": (
        lambda root: kernel(root)["kernel"].update(config_type="EthernetConfig", config={}),
        "a kernel of kind EthernetConfig; the simulator runs kernels of worker cores",
    ),
    "a compiled kernel": (
        lambda root: kernel(root).update(kernel_type="KernelBinary", kernel={}),
        "kernel 0 is a compiled binary; the simulator runs kernels in C++",
    ),
    "too many cores": (
        lambda root: kernel(root).update(
            core_range_set=[{"loc": {"x": 0, "y": 0}, "size": {"x": 241, "y": 17}}]
        ),
        "kernel 0 runs on more than 4096 cores; no chip has so many",
    ),
    "an operand that is not there": (
        lambda root: alter_operand(root, operand_idx=2),
        "a run-time argument is the address of operand 2, but there are 2",
    ),
    "a buffer that nothing creates": (
        lambda root: commands(root).pop(0),
        "command 0 (EnqueueProgramCommand): tensor 3 has no buffer on the device",
    ),
    "another place": (
        lambda root: kernel(root)["cbs"][0].update(address=2048),
        "circular buffer 0 is at 2048, its tensor at 1024",
    ),
    "shards of three dimensions": (
        lambda root: memory(root).update(shape=[1, 64, 64]),
        "inputs[0] has shards of rank 3; supported is 2: rows and columns",
    ),
    "small shards": (
        lambda root: memory(root).update(shape=[31, 64]),
        "a tensor of shape [2, 32, 64] does not fit its memory, which is [31, 64] of 1x1 elements",
    ),
    "cores that are no rectangle": (
        lambda root: root["programs"][0]["outputs"][0]["desc"]["layout"].update(
            core_range_set=[
                {"loc": {"x": 0, "y": 0}, "size": {"x": 2, "y": 1}},
                {"loc": {"x": 0, "y": 1}, "size": {"x": 1, "y": 1}},
            ]
        ),
        "inputs[0]: its cores are no rectangle that begins at (0, 0)",
    ),
    "an operation without reference": (
        lambda root: commands(root)[1]["type"].update(reference={"mnemonic": "hop"}),
        "there is no reference for the operation 'hop'",
    ),
    "a reference to no operand": (
        lambda root: commands(root)[1]["type"].update(
            reference={"mnemonic": "abs", "operands": [{"index": 2}]}
        ),
        "the reference 'abs' does not fit the program",
    ),
    "a reference with half a parameter": (
        lambda root: commands(root)[1]["type"].update(
            reference={"mnemonic": "abs", "operands": [{"index": 0}], "parameter_names": ["a"]}
        ),
        "the reference 'abs' does not fit the program",
    ),
}
"""What is altered, and what the message says."""


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """The message names the file, the program and the command."""
    root = tree()
    alter, message = REFUSED[name]
    alter(root)
    with pytest.raises(Error) as caught:
        run(root)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{NAME}: program 0 'forward'")
