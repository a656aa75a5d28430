"""Tensors over sockets: what devices send, others receive, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    remember_program,
    require_tensor,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ttmlir.ttnn.device.sockets import MeshSocket


def _end_of(values: dict[str, Any], name: str, endpoint: str) -> tuple[Tensor, MeshSocket]:
    """The tensor and the socket of a call; RuntimeError for those of other devices or ends."""
    from ttmlir.ttnn.device.sockets import MeshSocket

    tensor, socket = require_tensor(values[name], name), values["mesh_socket"]
    if not isinstance(socket, MeshSocket):
        raise ArgumentTypeError(f"mesh_socket is a ttnn.MeshSocket, not {spell_value(socket)}")
    if socket.get_socket_endpoint_type().name != endpoint:
        raise ArgumentError(
            f"mesh_socket is the {socket.get_socket_endpoint_type().name} of its pair; this is the "
            f"part of the {endpoint}"
        )
    mesh, units = common_device(tensor), socket.get_mesh_device().units
    if mesh.units != units:
        raise UsageError(
            f"{name} is on the devices {mesh.get_device_ids()}, the socket on "
            f"{[each.id() for each in units]}; move one of them"
        )
    return tensor, socket


def _send(values: dict[str, Any]) -> list[Tensor]:
    """Send what the devices have of a tensor."""
    tensor, socket = _end_of(values, "input_tensor", "SENDER")
    socket.send(tensor.spec, [part.array for part in tensor.parts])
    remember_program(common_device(tensor), tensor.spec)
    return []


def _receive(values: dict[str, Any]) -> list[Tensor]:
    """Receive what was sent into a tensor; devices to which nothing is sent keep what they have."""
    tensor, socket = _end_of(values, "output_tensor", "RECEIVER")
    found = socket.first_sent()
    if found is None:
        raise UsageError(
            "nothing was sent over the socket that was not received; operations are done in order "
            "here: send before you receive"
        )
    spec, parts = found
    if (tensor.shape, tensor.dtype, tensor.layout) != (spec.shape, spec.dtype, spec.layout):
        raise UsageError(
            f"output_tensor has {tensor.shape}, {tensor.dtype} and {tensor.layout}; what was sent "
            f"has {spec.shape}, {spec.dtype} and {spec.layout}"
        )
    socket.receive()
    for number, array in parts.items():
        tensor.parts[number].storage.array = array
    remember_program(common_device(tensor), tensor.spec)
    return [tensor]


OPERATIONS: dict[str, Operation] = table_of(
    Operation(f"experimental.{name}", function, f"{tensor}, mesh_socket", crosses_devices=True)
    for function, tensor, names in (
        (_send, "input_tensor", ("send_async", "send_direct_async")),
        (_receive, "output_tensor", ("recv_async", "recv_direct_async")),
    )
    for name in names
)
