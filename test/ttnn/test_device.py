"""Devices: opening, sharing with the other interfaces, and errors at the program's line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from ttmlir import metalium, ttnn
from ttmlir.runtime.tensor import Device as RuntimeDevice


def test_opening(device: Any) -> None:
    """An open number is the same device; a closed one cannot be used."""
    assert ttnn.open_device(device_id=0) is device
    for name, value in (("card_bits", True), ("strict", False), ("numerics", "exact")):
        with pytest.raises(RuntimeError, match=f"device 0 is open without {name}={value!r}; close"):
            ttnn.open_device(device_id=0, **{name: value})
    with pytest.raises(RuntimeError, match="card_bits is True, False or None, not 'no'"):
        ttnn.open_device(device_id=0, card_bits=cast("bool", "no"))
    with ttnn.manage_device(0) as same:
        assert same is device
    with pytest.raises(RuntimeError, match=r"device 0 is closed; open it again with ttnn.open"):
        ttnn.ones([2], device=device)
    again = ttnn.open_device(device_id=0)
    assert again is not device
    ttnn.close_device(again)


def test_facts_of_a_device(device: Any) -> None:
    """A Wormhole with 8x8 cores and 12 channels of DRAM, as a mesh of one."""
    assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)
    assert (device.core_grid.x, device.core_grid.y) == (8, 8)
    assert device.dram_grid_size() == (12, 1)
    assert str(device.arch()) == "Arch.WORMHOLE_B0" or device.arch() == ttnn.Arch.WORMHOLE_B0
    assert ttnn.get_arch_name() == "wormhole_b0"
    assert ttnn.device.is_wormhole_b0(device)
    assert not ttnn.device.is_blackhole()
    assert device.shape == ttnn.MeshShape(1, 1)
    assert (device.get_num_devices(), device.get_device_ids()) == (1, [0])
    assert ttnn.Device is ttnn.MeshDevice


def test_default_device(device: Any) -> None:
    """The default device is the one that was set, until it is closed."""
    assert ttnn.GetDefaultDevice() is None
    ttnn.SetDefaultDevice(device)
    assert ttnn.GetDefaultDevice() is device
    ttnn.SetDefaultDevice(None)
    assert ttnn.GetDefaultDevice() is None


def test_one_device_for_all_interfaces(device: Any) -> None:
    """TT-Metalium's buffers come from the same memory; the runtime takes the device."""
    assert isinstance(device, RuntimeDevice)
    tensor = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    config = metalium.InterleavedBufferConfig(device=device, size=2048, page_size=2048)
    buffer = metalium.CreateBuffer(config)
    assert buffer.address() == tensor.buffer_address() + 2048
    metalium.EnqueueWriteBuffer(device.command_queue(), buffer, np.zeros(1024, np.uint16))
    assert torch.equal(ttnn.to_torch(tensor), torch.ones(32, 32, dtype=torch.bfloat16))


def test_l1_small_size_is_taken_from_l1() -> None:
    """The region for small buffers lies at the end of L1."""
    device = ttnn.open_device(device_id=0, l1_small_size=16384)
    try:
        tensor = ttnn.ones([1, 8], device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
        assert tensor.buffer_address() == 1499136 - 16384 - 32
    finally:
        ttnn.close_device(device)
    with pytest.raises(RuntimeError, match="l1_small_size=99999999 does not fit into L1"):
        ttnn.open_device(device_id=0, l1_small_size=99999999)


def test_program_cache(device: Any) -> None:
    """One entry for each operation, specification and attribute; numbers do not matter."""
    x = ttnn.ones([2, 3], device=device)
    before = device.num_program_cache_entries()
    ttnn.exp(x)
    ttnn.exp(ttnn.exp(x))
    assert device.num_program_cache_entries() == before + 1
    ttnn.exp(ttnn.ones([3, 2], device=device))
    ttnn.leaky_relu(x, 0.1)
    ttnn.leaky_relu(x, 0.2)
    assert device.num_program_cache_entries() == before + 4
    device.clear_program_cache()
    assert device.num_program_cache_entries() == 0


PROGRAM = """\
import ttmlir.ttnn as ttnn

device = ttnn.open_device(device_id=0)
x = ttnn.ones([2, 3], device=device)
y = 1 + ttnn.add(x, ttnn.ones([4], device=device))
"""


def test_errors_at_the_line_of_the_program(tmp_path: Path) -> None:
    """A call that cannot be says where it is: file, line, column, source line and caret."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.endswith(
        "PlacedError: program.py:5:9: error: ttnn.add: Operands are not broadcast compatible: "
        "2x3 and 4\n"
        "  y = 1 + ttnn.add(x, ttnn.ones([4], device=device))\n"
        "          ^\n"
    )


def test_unknown_names() -> None:
    """A name that is not there names the nearest."""
    with pytest.raises(AttributeError, match=r"ttnn\.expp is not here yet; nearest: ttnn\.exp"):
        _ = ttnn.expp
    with pytest.raises(AttributeError, match=r"^ttnn\.qqqqq is not here yet$"):
        _ = ttnn.qqqqq


def test_unknown_arguments(device: Any) -> None:
    """Unknown keywords are errors that name the nearest; ignored ones are listed."""
    x = ttnn.ones([2, 3], device=device)
    with pytest.raises(TypeError, match="unexpected keyword argument 'memory_confg'; did you mean"):
        ttnn.exp(x, memory_confg=None)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        ttnn.add(x, x, x)
    with pytest.raises(TypeError, match="missing argument 'input_tensor_b'"):
        ttnn.add(x)
    with pytest.raises(TypeError, match=r"input_tensor is a ttnn\.Tensor, not 1\.0"):
        ttnn.exp(1.0)
    assert ttnn.exp(x, queue_id=0, sub_core_grids=None).shape == (2, 3)


def test_operands_on_the_host() -> None:
    """Operations compute on devices."""
    with pytest.raises(RuntimeError, match=r"is on the host; move it with ttnn\.to_device"):
        ttnn.exp(ttnn.ones([2, 3]))


def test_start_up() -> None:
    """Importing ttnn imports no array library, no torch and no compiler."""
    code = (
        "import sys, ttmlir.ttnn\n"
        "print([name for name in ('numpy', 'torch', 'xdsl', 'jax') if name in sys.modules])\n"
        "d = ttmlir.ttnn.open_device(device_id=0)\n"
        "ttmlir.ttnn.exp(ttmlir.ttnn.ones([2], device=d))\n"
        "print([name for name in ('torch', 'xdsl', 'jax') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_sub_devices(device: Any) -> None:
    """Divisions are checked and kept; the device stays one."""
    halves = [
        ttnn.SubDevice([ttnn.CoreRangeSet([ttnn.CoreRange((x, 0), (x + 3, 6))])]) for x in (0, 4)
    ]
    assert device.get_sub_device_ids() == [ttnn.SubDeviceId(0)]
    number = device.create_sub_device_manager(halves, 3200)
    device.load_sub_device_manager(number)
    assert device.get_sub_device_ids() == [ttnn.SubDeviceId(0), ttnn.SubDeviceId(1)]
    device.set_sub_device_stall_group([ttnn.SubDeviceId(1)])
    with pytest.raises(RuntimeError, match=r"SubDeviceId\(id=2\) is none of the 2 sub-devices"):
        device.set_sub_device_stall_group([ttnn.SubDeviceId(2)])
    x = ttnn.ones((2, 3), layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.matmul(x, ttnn.ones_like(x), transpose_b=True, sub_device_id=ttnn.SubDeviceId(0))
    ttnn.synchronize_device(device, sub_device_ids=[ttnn.SubDeviceId(0)])
    device.reset_sub_device_stall_group()
    with pytest.raises(RuntimeError, match="is loaded; call clear_loaded_sub_device_manager first"):
        device.remove_sub_device_manager(number)
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(number)
    with pytest.raises(RuntimeError, match=f"there is no sub-device manager {number}"):
        device.load_sub_device_manager(number)
    with pytest.raises(RuntimeError, match=r"core \(0, 0\) is in two sub-devices"):
        device.create_sub_device_manager([halves[0], halves[0]])
    outside = ttnn.SubDevice([ttnn.CoreRangeSet([ttnn.CoreRange((7, 0), (8, 0))])])
    with pytest.raises(RuntimeError, match=r"core \(8, 0\) is outside of the 8x8 cores"):
        device.create_sub_device_manager([outside])
    with pytest.raises(RuntimeError, match="a sub-device has cores"):
        ttnn.SubDevice([])
