"""Circular buffers as the host configures, creates and changes them.

Sources: tt-metal, tt_metal/api/tt-metalium/circular_buffer_config.hpp, host_api.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.cores import CoreSpec
from ttmlir.metalium.device import existing_cores
from ttmlir.metalium.enums import CBIndex, DataFormat
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.execution.program import CircularBufferSpec, Program


class CircularBufferConfig:
    """Circular buffers that share `total_size` bytes, each with its format and page size."""

    def __init__(
        self, total_size: int, data_format_spec: Mapping[CBIndex | int, DataFormat] | None = None
    ) -> None:
        """Say which circular buffers there are; `set_page_size` has to follow for each."""
        self.total_size = _check_size(total_size, "the total size")
        self.data_formats: dict[int, DataFormat] = {}
        self.page_sizes: dict[int, int] = {}
        self.buffer: Buffer | None = None
        self.offset = 0
        if not isinstance(cast("object", data_format_spec or {}), Mapping):
            raise MetaliumError(
                f"the formats of circular buffers are {{index: DataFormat}}, not "
                f"{data_format_spec!r}"
            )
        for index, data_format in (data_format_spec or {}).items():
            self.set_data_format(index, data_format)

    def set_data_format(self, buffer_index: CBIndex | int, data_format: object) -> None:
        """Set the format of a circular buffer, which the configuration has from then on."""
        index = int(buffer_index)
        if not isinstance(data_format, DataFormat):
            raise MetaliumError(
                f"the format of circular buffer {index} is {data_format!r}; it is one of "
                + ", ".join(f"DataFormat.{each.name}" for each in DataFormat)
            )
        self.data_formats[index] = data_format

    def set_page_size(self, buffer_index: CBIndex | int, page_size: int) -> CircularBufferConfig:
        """Set the bytes of a page; returns itself, so that calls can be chained."""
        if int(buffer_index) not in self.data_formats:
            raise MetaliumError(
                f"circular buffer {int(buffer_index)} has no data format; the configuration has "
                + (", ".join(str(index) for index in self.data_formats) or "none")
            )
        self.page_sizes[int(buffer_index)] = _check_size(page_size, "the size of a page")
        return self

    def set_total_size(self, total_size: int) -> CircularBufferConfig:
        """Set the bytes that the circular buffers share; returns itself."""
        self.total_size = _check_size(total_size, "the total size")
        return self

    def set_globally_allocated_address(self, buffer: Buffer) -> CircularBufferConfig:
        """Place the circular buffers on a sharded buffer in L1, whose numbers they then hold."""
        self.buffer = _check_buffer(buffer)
        return self

    def set_globally_allocated_address_and_total_size(
        self, buffer: Buffer, total_size: int
    ) -> CircularBufferConfig:
        """Both in one call."""
        return self.set_globally_allocated_address(buffer).set_total_size(total_size)

    def set_address_offset(self, offset: int) -> CircularBufferConfig:
        """Begin so many bytes behind the start of the buffer; returns itself."""
        self.offset = offset
        return self

    def index(self, buffer_index: CBIndex | int) -> CircularBufferBuilder:
        """What sets the format and the page size of one of the circular buffers."""
        return CircularBufferBuilder(self, int(buffer_index))


class CircularBufferBuilder:
    """Sets up one circular buffer of a configuration; each call returns the builder."""

    def __init__(self, config: CircularBufferConfig, index: int) -> None:
        """`CircularBufferConfig.index` makes it."""
        self._config = config
        self._index = index

    def set_data_format(self, data_format: DataFormat) -> CircularBufferBuilder:
        """Set the format."""
        self._config.set_data_format(self._index, data_format)
        return self

    def set_page_size(self, page_size: int) -> CircularBufferBuilder:
        """Set the bytes of a page."""
        self._config.set_page_size(self._index, page_size)
        return self

    def set_total_size(self, total_size: int) -> CircularBufferBuilder:
        """Set the bytes that all circular buffers of the configuration share."""
        self._config.set_total_size(total_size)
        return self


def CreateCircularBuffer(
    program: Program, core_spec: CoreSpec, config: CircularBufferConfig
) -> CircularBufferSpec:
    """Create circular buffers on cores."""
    if not isinstance(cast("object", config), CircularBufferConfig):
        raise MetaliumError(f"CreateCircularBuffer takes a CircularBufferConfig, not {config!r}")
    missing = [index for index in config.data_formats if index not in config.page_sizes]
    if missing:
        raise MetaliumError(
            f"circular buffer {missing[0]} has no page size; call set_page_size({missing[0]}, ...)"
        )
    with host_call():
        return program.add_circular_buffer(
            CircularBufferSpec(
                cores=existing_cores(core_spec),
                total_size=config.total_size,
                indices={
                    index: (config.page_sizes[index], data_format.data_type)
                    for index, data_format in config.data_formats.items()
                },
                buffer=None if config.buffer is None else config.buffer.simulated,
                offset=config.offset,
            )
        )


def GetCircularBufferConfig(
    program: Program, cb_handle: CircularBufferSpec
) -> CircularBufferConfig:
    """What circular buffers are made from now; changing it does not change them."""
    _check_handle(program, cb_handle)
    config = CircularBufferConfig(cb_handle.total_size)
    for index, (page_size, data_type) in cb_handle.indices.items():
        config.data_formats[index] = next(
            each for each in DataFormat if each.data_type == data_type
        )
        config.page_sizes[index] = page_size
    config.offset = cb_handle.offset
    return config


def UpdateCircularBufferTotalSize(
    program: Program, cb_handle: CircularBufferSpec, total_size: int
) -> None:
    """Give circular buffers another size, for the runs that follow."""
    _update(program, cb_handle, total_size=_check_size(total_size, "the total size"))


def UpdateCircularBufferPageSize(
    program: Program, cb_handle: CircularBufferSpec, buffer_index: CBIndex | int, page_size: int
) -> None:
    """Give one of the circular buffers pages of another size."""
    index = int(buffer_index)
    if index not in cb_handle.indices:
        raise MetaliumError(
            f"circular buffer {index} is not one of {', '.join(map(str, cb_handle.indices))}"
        )
    size = _check_size(page_size, "the size of a page")
    _update(
        program,
        cb_handle,
        indices={**cb_handle.indices, index: (size, cb_handle.indices[index][1])},
    )


def UpdateDynamicCircularBufferAddress(
    program: Program, cb_handle: CircularBufferSpec, buffer: Buffer, address_offset: int = 0
) -> None:
    """Place circular buffers on another buffer in L1, for the runs that follow."""
    _check_dynamic(cb_handle)
    _update(program, cb_handle, buffer=_check_buffer(buffer).simulated, offset=address_offset)


def UpdateDynamicCircularBufferAddressAndTotalSize(
    program: Program, cb_handle: CircularBufferSpec, buffer: Buffer, total_size: int
) -> None:
    """Place circular buffers on another buffer in L1, with another size."""
    _check_dynamic(cb_handle)
    _update(
        program,
        cb_handle,
        buffer=_check_buffer(buffer).simulated,
        total_size=_check_size(total_size, "the total size"),
    )


def _update(program: Program, spec: CircularBufferSpec, **changes: object) -> None:
    """Change circular buffers of a program; MetaliumError, and no change, for what cannot be."""
    _check_handle(program, spec)
    with host_call():
        replace(spec, **changes)
    for name, value in changes.items():
        setattr(spec, name, value)


def _check_handle(program: Program, spec: object) -> None:
    if not any(spec is each for each in program.circular_buffers):
        raise MetaliumError(
            f"{spec!r} is no circular buffer of the program; give what CreateCircularBuffer "
            "returned for it"
        )


def _check_dynamic(spec: CircularBufferSpec) -> None:
    if spec.buffer is None:
        raise MetaliumError(
            "these circular buffers were not placed on a buffer; create them with "
            "set_globally_allocated_address"
        )


def _check_buffer(buffer: object) -> Buffer:
    if not isinstance(buffer, Buffer):
        raise MetaliumError(f"a circular buffer is placed on a buffer in L1, not on {buffer!r}")
    return buffer


def _check_size(size: object, what: str) -> int:
    if not isinstance(size, int):
        raise MetaliumError(f"{what} is {size!r}; sizes are whole numbers of bytes: divide with //")
    return size
