"""Operations on memrefs: buffers, transfers and programs of kernels (late 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    refuse,
    segments_attr,
)
from ttmlir.dialects.ttmetal.kernel_configs import ComputeConfigAttr, NocConfigAttr
from ttmlir.layout.enums import CBPort

_MEMREF = TypeConstraint("memref of any type values", lambda type: isinstance(type, MemRefType))
_SHAPED = TypeConstraint(
    "ranked tensor or memref of any type values",
    lambda type: isinstance(type, TensorType | MemRefType),
)


class CreateBufferOp(ODSOperation):
    """A buffer on the device, at a fixed address of each core or bank.

    Example:
        %0 = "ttmetal.create_buffer"() <{address = 1024 : i64}> : () -> memref<8x8x2x1x!tile, ...>
    """

    name = "ttmetal.create_buffer"
    SIGNATURE: ClassVar = Signature(
        results=(ValueGroup("result", _MEMREF),), properties=(Property("address", ods.I64),)
    )

    @classmethod
    def of(cls, address: int, type: MemRefType[Attribute]) -> Self:
        """The buffer of a type at an address."""
        return cls.create(result_types=[type], properties={"address": IntegerAttr(address, i64)})

    @property
    def address(self) -> int:
        """The first byte."""
        return cast("IntegerAttr", self.properties["address"]).value.data

    def verify_op(self) -> None:
        """Check that the address is none below 0."""
        if self.address < 0:
            refuse(f"expected an address of 0 or above, got {self.address}")


class DeallocateBufferOp(ODSOperation):
    """The end of the life of a buffer."""

    name = "ttmetal.deallocate_buffer"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("input", _MEMREF),))


class _TransferOp(ODSOperation):
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("input", _MEMREF), ValueGroup("output", _MEMREF))
    )

    @classmethod
    def of(cls, source: SSAValue, target: SSAValue) -> Self:
        """The transfer from `source` to `target`."""
        return cls.create(operands=[source, target])


class EnqueueWriteBufferOp(_TransferOp):
    """A copy from the host (first operand) to the device."""

    name = "ttmetal.enqueue_write_buffer"


class EnqueueReadBufferOp(_TransferOp):
    """A copy from the device (first operand) to the host."""

    name = "ttmetal.enqueue_read_buffer"


class FinishOp(ODSOperation):
    """Wait until everything that was enqueued is done."""

    name = "ttmetal.finish"
    SIGNATURE: ClassVar = Signature()


class EnqueueProgramOp(ODSOperation):
    """A run of kernels on buffers, through circular buffers at fixed ports.

    Circular buffer i lies in the memory of `cbs[i]`, at port `cb_ports[i]`. Arguments of kernels
    count buffers and circular buffers by their positions.

    C1: a port for each circular buffer. C2: ports exist, each once.

    Example:
        "ttmetal.enqueue_program"(%0, %1, %0, %1) <{cb_ports = array<i64: 0, 1>,
            kernelConfigs = [#ttmetal.noc_config<...>, #ttmetal.compute_config<...>],
            operandSegmentSizes = array<i32: 2, 2>}> : (...) -> ()
    """

    name = "ttmetal.enqueue_program"
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("buffers", _MEMREF, variadic=True),
            ValueGroup("cbs", _MEMREF, variadic=True),
        ),
        properties=(
            Property("cb_ports", ods.DENSE_I64),
            Property(
                "kernelConfigs",
                ods.array_attr(
                    "kernel configurations",
                    lambda item: isinstance(item, NocConfigAttr | ComputeConfigAttr),
                ),
            ),
        ),
    )

    @classmethod
    def of(
        cls,
        buffers: Sequence[SSAValue],
        cbs: Sequence[SSAValue],
        cb_ports: Sequence[int],
        kernels: Sequence[NocConfigAttr | ComputeConfigAttr],
    ) -> Self:
        """The run of kernels."""
        return cls.create(
            operands=[*buffers, *cbs],
            properties={
                "cb_ports": DenseArrayBase.from_list(i64, cb_ports),
                "kernelConfigs": ArrayAttr(kernels),
                SEGMENTS: segments_attr((len(buffers), len(cbs))),
            },
        )

    @property
    def cb_ports(self) -> tuple[int, ...]:
        """The port of each circular buffer."""
        attr = cast("DenseArrayBase[IntegerType]", self.properties["cb_ports"])
        return tuple(attr.iter_values())

    @property
    def kernels(self) -> tuple[NocConfigAttr | ComputeConfigAttr, ...]:
        """The kernels in the order of their threads."""
        configs = self.properties["kernelConfigs"]
        return cast("ArrayAttr[NocConfigAttr | ComputeConfigAttr]", configs).data

    def verify_op(self) -> None:
        """Check the ports (C1, C2)."""
        ports, count = self.cb_ports, len(self.group("cbs"))
        if len(ports) != count:
            refuse(f"expected a port for each of {count} circular buffers, got {len(ports)}")
        last = len(CBPort) - 1
        if len(set(ports)) != len(ports) or any(not 0 <= port <= last for port in ports):
            refuse(f"expected different ports from 0 to {last}, got {', '.join(map(str, ports))}")


class MeshShardOp(ODSOperation):
    """A tensor that is divided over a mesh of chips, or put together again."""

    name = "ttmetal.mesh_shard"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("input", _SHAPED),),
        results=(ValueGroup("result", _SHAPED),),
        properties=(
            Property("shard_type", ods.named_attr("ttcore.shard_type")),
            Property("shard_direction", ods.named_attr("ttcore.shard_direction")),
            Property("shard_shape", ods.DENSE_I64),
            Property("shard_dims", ods.DENSE_I64),
        ),
    )


PROGRAM_OPS = (
    CreateBufferOp,
    DeallocateBufferOp,
    EnqueueWriteBufferOp,
    EnqueueReadBufferOp,
    FinishOp,
    EnqueueProgramOp,
    MeshShardOp,
)
"""Every operation of this module."""
