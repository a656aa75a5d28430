"""Enumerations shared by the IR text, the flatbuffers and the runtime.

Each member carries the number that both the IR and the flatbuffer schema give it, its keyword in
the IR text and its name in the schema (tt-mlir's TTOpsEnums.td and Common/types.fbs). Those that
layouts are built with have the names of tt-mlir's Python bindings, too: `MemorySpace.DeviceL1` is
`MemorySpace.DEVICE_L1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self


class KeywordEnum(IntEnum):
    """An enumeration whose members have an IR keyword and a schema name besides their number."""

    keyword: str
    schema_name: str
    is_late: bool
    """True for what only the spelling `ttcore` of 2025 has."""

    def __new__(
        cls, value: int, keyword: str, schema_name: str = "", is_late: bool = False
    ) -> Self:
        """Make a member from its number, IR keyword and schema name."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.keyword = keyword
        member.schema_name = schema_name
        member.is_late = is_late
        return member

    @classmethod
    def keywords(cls, *, late: bool = False) -> tuple[str, ...]:
        """The IR keywords of 2024 in declaration order; with `late`, those of 2025 as well."""
        return tuple(member.keyword for member in cls if late or not member.is_late)

    @classmethod
    def from_keyword(cls, keyword: str) -> Self:
        """The member with this IR keyword; KeyError if there is none."""
        for member in cls:
            if member.keyword == keyword:
                return member
        raise KeyError(keyword)

    @classmethod
    def from_schema_name(cls, name: str) -> Self:
        """The member with this name in the flatbuffer schema; KeyError if there is none."""
        for member in cls:
            if member.schema_name == name:
                return member
        raise KeyError(name)


class Arch(KeywordEnum):
    """Chip generation."""

    GRAYSKULL = 0, "grayskull", "Grayskull"
    WORMHOLE_B0 = 1, "wormhole_b0", "Wormhole_b0"
    BLACKHOLE = 2, "blackhole", "Blackhole"

    Grayskull = GRAYSKULL
    WormholeB0 = WORMHOLE_B0
    Blackhole = BLACKHOLE


class DataType(KeywordEnum):
    """Storage format of a tile or scalar on the device."""

    F32 = 0, "f32", "Float32"
    F16 = 1, "f16", "Float16"
    BF16 = 2, "bf16", "BFloat16"
    BFP_F8 = 3, "bfp_f8", "BFP_Float8"
    BFP_BF8 = 4, "bfp_bf8", "BFP_BFloat8"
    BFP_F4 = 5, "bfp_f4", "BFP_Float4"
    BFP_BF4 = 6, "bfp_bf4", "BFP_BFloat4"
    BFP_F2 = 7, "bfp_f2", "BFP_Float2"
    BFP_BF2 = 8, "bfp_bf2", "BFP_BFloat2"
    U32 = 9, "u32", "UInt32"
    U16 = 10, "u16", "UInt16"
    U8 = 11, "u8", "UInt8"
    SI32 = 12, "si32", "", True
    I1 = 13, "i1", "", True

    Float32 = F32
    Float16 = F16
    BFloat16 = BF16
    BFP_Float8 = BFP_F8
    BFP_BFloat8 = BFP_BF8
    BFP_Float4 = BFP_F4
    BFP_BFloat4 = BFP_BF4
    BFP_Float2 = BFP_F2
    BFP_BFloat2 = BFP_BF2
    UInt32 = U32
    UInt16 = U16
    UInt8 = U8


STORED_DATA_TYPES = tuple(each for each in DataType if not each.is_late)
"""The formats that files and the IR of 2024 know; there, U32 holds signed integers, too."""


class MemorySpace(KeywordEnum):
    """Where a tensor lives."""

    SYSTEM = 0, "system", "System"
    SYSTEM_MMIO = 1, "mmio", "SystemMMIO"
    DEVICE_DRAM = 2, "dram", "DeviceDRAM"
    DEVICE_L1 = 3, "l1", "DeviceL1"
    REGISTER_DST = 4, "dst", "", True
    """The tiles that the math unit works on, of each core."""

    System = SYSTEM
    SystemMMIO = SYSTEM_MMIO
    DeviceDRAM = DEVICE_DRAM
    DeviceL1 = DEVICE_L1

    @property
    def is_system(self) -> bool:
        """True for host memory."""
        return self in (MemorySpace.SYSTEM, MemorySpace.SYSTEM_MMIO)

    @property
    def is_device(self) -> bool:
        """True for memory on the card."""
        return not self.is_system


class TensorMemoryLayout(KeywordEnum):
    """How the pages or shards of a tensor are spread over banks and cores."""

    NONE = 0, "none", "None"
    INTERLEAVED = 1, "interleaved", "Interleaved"
    SINGLE_BANK = 2, "single_bank", "SingleBank"
    HEIGHT_SHARDED = 3, "height_sharded", "HeightSharded"
    WIDTH_SHARDED = 4, "width_sharded", "WidthSharded"
    BLOCK_SHARDED = 5, "block_sharded", "BlockSharded"

    None_ = NONE
    Interleaved = INTERLEAVED
    SingleBank = SINGLE_BANK
    HeightSharded = HEIGHT_SHARDED
    WidthSharded = WIDTH_SHARDED
    BlockSharded = BLOCK_SHARDED

    @property
    def is_sharded(self) -> bool:
        """True for the height, width and block sharded layouts."""
        return self >= TensorMemoryLayout.HEIGHT_SHARDED


class DeviceMemoryLayout(KeywordEnum):
    """How the shards of a metal layout lie in memory."""

    SHARDED = 0, "sharded"
    """Each shard in one piece, in the memory of a core or in a bank of DRAM."""
    INTERLEAVED = 1, "interleaved"
    """Tile by tile over the banks of DRAM, as ttnn does it."""


class IteratorType(KeywordEnum):
    """Iterator of a dimension of `ttir.generic` (the first three) or `d2m.generic`."""

    PARALLEL = 0, "parallel"
    SYSTOLIC = 1, "systolic"
    BROADCAST = 2, "broadcast"
    REDUCTION = 3, "reduction", "", True


class OOBVal(KeywordEnum):
    """Value that out-of-bounds elements (padding) are known to hold."""

    UNDEF = 0, "undef", "Undef"
    ZERO = 1, "zero", "Zero"
    ONE = 2, "one", "One"
    INF = 3, "inf", "Inf"
    NEG_INF = 4, "neginf", "NegInf"

    Undef = UNDEF
    Zero = ZERO
    One = ONE
    Inf = INF
    NegInf = NEG_INF


class MeshShardType(KeywordEnum):
    """How a tensor is spread over a mesh of chips."""

    IDENTITY = 0, "identity"
    REPLICATE = 1, "replicate"
    MAXIMAL = 2, "maximal"
    DEVICES = 3, "devices"


class ArgumentType(KeywordEnum):
    """What an argument of a model is."""

    INPUT = 0, "input"
    PARAMETER = 1, "parameter"
    CONSTANT = 2, "constant"
    DEFAULT = 3, "default"


class ShardStatus(KeywordEnum):
    """Whether an argument or a result is divided over the mesh before it is handed over."""

    PRESHARDED = 0, "presharded"
    UNSHARDED = 1, "unsharded"


class ReduceType(KeywordEnum):
    """How numbers are combined; tt-mlir has the first nine."""

    SUM = 0, "sum"
    MEAN = 1, "mean"
    MAX = 2, "max"
    MIN = 3, "min"
    STD = 4, "std"
    VAR = 5, "var"
    PROD = 6, "prod"
    INVALID = 7, "invalid"
    LOGSUMEXP = 8, "logsumexp"


class AttentionMaskType(KeywordEnum):
    """Which positions attention does not see."""

    NONE = 0, "none"
    CAUSAL = 1, "causal"
    ARBITRARY = 2, "arbitrary"


class RoutingMode(KeywordEnum):
    """How packets go from chip to chip."""

    BIDIR_LINE_MESH = 0, "bidir_line_mesh"
    UNIDIR_RING_TORUS = 1, "unidir_ring_torus"


class MoEActivationFunction(KeywordEnum):
    """What an expert of a mixture applies between its products."""

    SILU = 0, "silu"
    SWIGLU = 1, "swiglu"


class Topology(KeywordEnum):
    """How the devices of a mesh are linked."""

    RING = 0, "ring"
    LINEAR = 1, "linear"
    MESH = 2, "mesh"
    TORUS = 3, "torus"
    DISABLED = 4, "disabled"


class MeshShardDirection(KeywordEnum):
    """Whether a tensor is divided over a mesh of chips or put together again."""

    FULL_TO_SHARD = 0, "full_to_shard"
    SHARD_TO_FULL = 1, "shard_to_full"


class BufferAccess(KeywordEnum):
    """Bits of how a kernel reaches an operand: in place or as a stream."""

    ALIAS = 1, "alias"
    STREAM = 2, "stream"


class ChipCapability(KeywordEnum):
    """Bits of what a chip can do."""

    PCIE = 1, "pcie", "PCIE"
    HOST_MMIO = 2, "host_mmio", "HostMMIO"


class OperandConstraint(KeywordEnum):
    """Bits of what layouts an operand accepts; groups are the unions of their members."""

    SYSTEM = 1, "system"
    DRAM = 2, "dram"
    L1 = 4, "l1"
    SCALAR = 8, "scalar"
    TILE = 16, "tile"
    NONE = 32, "none"
    INTERLEAVED = 64, "interleaved"
    SINGLE_BANK = 128, "single_bank"
    HEIGHT_SHARDED = 256, "height_sharded"
    WIDTH_SHARDED = 512, "width_sharded"
    BLOCK_SHARDED = 1024, "block_sharded"
    ANY_LAYOUT = 2016, "any_layout"
    ANY = 2047, "any"
    ANY_DEVICE = 2046, "any_device"
    ANY_DEVICE_TILE = 2038, "any_device_tile"
    L1_BLOCK_SHARDED = 1052, "l1_block_sharded"


class TTNNLayout(KeywordEnum):
    """Layout of a ttnn tensor."""

    ROW_MAJOR = 0, "row_major", "RowMajor"
    TILE = 1, "tile", "Tile"
    INVALID = 2, "invalid", "Invalid"


class TTNNTensorMemoryLayout(KeywordEnum):
    """ttnn's own memory layout enumeration: the schema's numbers are one higher."""

    INTERLEAVED = 0, "interleaved", "Interleaved"
    SINGLE_BANK = 1, "single_bank", "SingleBank"
    HEIGHT_SHARDED = 2, "height_sharded", "HeightSharded"
    WIDTH_SHARDED = 3, "width_sharded", "WidthSharded"
    BLOCK_SHARDED = 4, "block_sharded", "BlockSharded"


class BufferType(KeywordEnum):
    """Memory that a ttnn tensor is allocated in."""

    DRAM = 0, "dram", "DRAM"
    L1 = 1, "l1", "L1"
    SYSTEM_MEMORY = 2, "system_memory", "SystemMemory"
    L1_SMALL = 3, "l1_small", "L1Small"
    TRACE = 4, "trace", "Trace"


class ThreadType(KeywordEnum):
    """Processor of a core that a kernel runs on."""

    NOC = 0, "noc", "Noc"
    TENSIX = 1, "tensix", "Tensix"
    ETHERNET = 2, "ethernet", "Ethernet"
    COMPUTE = 3, "compute", "", True
    """The name of `tensix` since 2025."""


class MathFidelity(KeywordEnum):
    """Passes of the matrix unit over the bits of its operands."""

    LOFI = 0, "lofi", "LoFi"
    HIFI2 = 2, "hifi2", "HiFi2"
    HIFI3 = 3, "hifi3", "HiFi3"
    HIFI4 = 4, "hifi4", "HiFi4"

    LoFi = LOFI
    HiFi2 = HIFI2
    HiFi3 = HIFI3
    HiFi4 = HIFI4


class NocIndex(KeywordEnum):
    """One of the two networks on a chip."""

    NOC0 = 0, "noc0", "Noc0"
    NOC1 = 1, "noc1", "Noc1"


class EthType(KeywordEnum):
    """Side of an Ethernet link."""

    SENDER = 0, "sender", "Sender"
    RECEIVER = 1, "receiver", "Receiver"


class CBPort(KeywordEnum):
    """Circular buffer of a core."""

    IN0 = 0, "cb_in0", "In0"
    IN1 = 1, "cb_in1", "In1"
    IN2 = 2, "cb_in2", "In2"
    IN3 = 3, "cb_in3", "In3"
    IN4 = 4, "cb_in4", "In4"
    IN5 = 5, "cb_in5", "In5"
    IN6 = 6, "cb_in6", "In6"
    IN7 = 7, "cb_in7", "In7"
    DFL0 = 8, "cb_dfl0", "DataFlow0"
    DFL1 = 9, "cb_dfl1", "DataFlow1"
    DFL2 = 10, "cb_dfl2", "DataFlow2"
    DFL3 = 11, "cb_dfl3", "DataFlow3"
    DFL4 = 12, "cb_dfl4", "DataFlow4"
    DFL5 = 13, "cb_dfl5", "DataFlow5"
    DFL6 = 14, "cb_dfl6", "DataFlow6"
    DFL7 = 15, "cb_dfl7", "DataFlow7"
    OUT0 = 16, "cb_out0", "Out0"
    OUT1 = 17, "cb_out1", "Out1"
    OUT2 = 18, "cb_out2", "Out2"
    OUT3 = 19, "cb_out3", "Out3"
    OUT4 = 20, "cb_out4", "Out4"
    OUT5 = 21, "cb_out5", "Out5"
    OUT6 = 22, "cb_out6", "Out6"
    OUT7 = 23, "cb_out7", "Out7"
    INT0 = 24, "cb_int0", "Intermed0"
    INT1 = 25, "cb_int1", "Intermed1"
    INT2 = 26, "cb_int2", "Intermed2"
    INT3 = 27, "cb_int3", "Intermed3"
    INT4 = 28, "cb_int4", "Intermed4"
    INT5 = 29, "cb_int5", "Intermed5"
    INT6 = 30, "cb_int6", "Intermed6"
    INT7 = 31, "cb_int7", "Intermed7"

    @property
    def cpp_name(self) -> str:
        """The enumerator of tt-metal's `CB` for it (tt-metal, hostdevcommon/common_values.hpp)."""
        family, index = self.keyword[len("cb_") : -1], self.keyword[-1]
        return f"::tt::CB::{_CB_FAMILIES[family]}{index}"


_CB_FAMILIES = {"in": "c_in", "dfl": "dataflow", "out": "c_out", "int": "c_intermed"}
"""Part of the keywords of ports, and what tt-metal calls the ports."""


# --- Compute config -------------------------------------------------------------------------------
# How the matrix unit computes a product: what ttnn calls a device compute kernel config.


@dataclass(frozen=True, kw_only=True)
class DeviceComputeConfig:
    """What an operation that multiplies asks of the matrix unit."""

    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool | None = None
    """Sums have 32 bits in DST, and operands of float32 10 bits of mantissa instead of 7; None
    where nothing is said, as for the other flags."""
    math_approx_mode: bool | None = None
    packer_l1_acc: bool | None = None
    dst_full_sync_en: bool | None = None
