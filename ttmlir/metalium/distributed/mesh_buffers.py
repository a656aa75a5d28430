"""Buffers of meshes, which are buffers of their one device.

Source: tt-metal, tt_metal/api/tt-metalium/mesh_buffer.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.configs import InterleavedBufferConfig, ShardSpecBuffer
from ttmlir.metalium.configs import ShardedBufferConfig as LocalSharding
from ttmlir.metalium.distributed.devices import MeshDevice
from ttmlir.metalium.distributed.shapes import MeshCoordinate, check_place
from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttmlir.metalium.errors import MetaliumError, host_call, names_fields, names_options


@names_fields
@dataclass(frozen=True)
class BufferShardingArgs:
    """How the buffer of a device is cut into shards."""

    shard_spec: ShardSpecBuffer | None = None
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED


@names_fields
@dataclass(frozen=True, kw_only=True)
class DeviceLocalBufferConfig:
    """What the buffer of each device is; sizes in bytes."""

    page_size: int
    buffer_type: BufferType = BufferType.DRAM
    sharding_args: BufferShardingArgs = BufferShardingArgs()
    bottom_up: bool | None = None
    """From which side of the memory; None: DRAM from the bottom, L1 from the top."""


@names_fields
@dataclass(frozen=True)
class ReplicatedBufferConfig:
    """Each device has all of the buffer, in bytes."""

    size: int


@names_fields
@dataclass(frozen=True, kw_only=True)
class ShardedBufferConfig:
    """Each device has a part of the buffer; with one device that is all of it."""

    global_size: int
    global_buffer_shape: tuple[int, int]
    shard_shape: tuple[int, int] = (0, 0)
    """Rows and columns of a device's part; 0 stands for all of them."""
    shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR

    def check_shards(self) -> None:
        """MetaliumError for parts that one device does not have all of."""
        shard = tuple(
            part or whole
            for part, whole in zip(self.shard_shape, self.global_buffer_shape, strict=True)
        )
        if shard != self.global_buffer_shape:
            raise MetaliumError(
                f"shards of {list(shard)} of a buffer of {list(self.global_buffer_shape)} are for "
                "several devices; a mesh has one device here, so that its shard is all of it. "
                "Shards on cores are those of DeviceLocalBufferConfig(sharding_args=...)"
            )


class MeshBuffer(Buffer):
    """Memory on the device of a mesh; `create` makes it."""

    @staticmethod
    @names_options
    def create(
        mesh_buffer_config: ReplicatedBufferConfig | ShardedBufferConfig,
        device_local_config: DeviceLocalBufferConfig,
        mesh_device: MeshDevice,
        address: int | None = None,
    ) -> MeshBuffer:
        """Take memory, at an address if it is given."""
        match cast("object", mesh_buffer_config):
            case ReplicatedBufferConfig(size):
                pass
            case ShardedBufferConfig(global_size=size) as config:
                config.check_shards()
            case _:
                raise MetaliumError(
                    "a MeshBuffer takes a ReplicatedBufferConfig or a distributed "
                    f"ShardedBufferConfig, not {mesh_buffer_config!r}"
                )
        local = device_local_config
        if not isinstance(cast("object", local), DeviceLocalBufferConfig):
            raise MetaliumError(f"a MeshBuffer takes a DeviceLocalBufferConfig, not {local!r}")
        if not isinstance(cast("object", mesh_device), MeshDevice):
            raise MetaliumError(
                f"a MeshBuffer is on a MeshDevice, not on {mesh_device!r}; "
                "MeshDevice.create_unit_mesh(0) opens one"
            )
        sharding = local.sharding_args
        made = MeshBuffer(
            InterleavedBufferConfig(
                device=mesh_device,
                size=size,
                page_size=local.page_size,
                buffer_type=local.buffer_type,
                buffer_layout=sharding.buffer_layout,
            )
            if sharding.shard_spec is None
            else LocalSharding(
                device=mesh_device,
                size=size,
                page_size=local.page_size,
                buffer_type=local.buffer_type,
                buffer_layout=sharding.buffer_layout,
                shard_parameters=sharding.shard_spec,
            ),
            address=address,
            bottom_up=local.bottom_up,
        )
        made._mesh_config = mesh_buffer_config
        made._local_config = local
        return made

    _mesh_config: ReplicatedBufferConfig | ShardedBufferConfig
    _local_config: DeviceLocalBufferConfig

    def __repr__(self) -> str:
        """Size and place."""
        return f"Mesh{super().__repr__()}"

    def device_local_size(self) -> int:
        """Bytes on a device."""
        return self.size()

    def device_local_config(self) -> DeviceLocalBufferConfig:
        """What the buffer of the device was made from."""
        return self._local_config

    def global_config(self) -> ReplicatedBufferConfig | ShardedBufferConfig:
        """What the buffer was made from."""
        return self._mesh_config

    def get_backing_buffer(self) -> Buffer:
        """The buffer of the device."""
        return self

    def get_reference_buffer(self) -> Buffer:
        """The buffer of the first device."""
        return self

    def get_device_buffer(self, device_coord: MeshCoordinate) -> Buffer:
        """The buffer of a device."""
        check_place(device_coord)
        return self

    def deallocate(self) -> None:
        """Give the memory back."""
        with host_call():
            self.simulated.deallocate()
