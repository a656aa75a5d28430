"""The numbers and words of enumerations, as tt-mlir's TTOpsEnums.td and TTNNOpsAttrs.td have them.

The list is by hand, so that none can be lost or moved unseen: files and texts keep them for good.
"""

from __future__ import annotations

import inspect

import pytest

from ttmlir.layout import enums
from ttmlir.layout.enums import KeywordEnum

MEMBERS = {
    "Arch": """
        0 grayskull Grayskull GRAYSKULL
        1 wormhole_b0 Wormhole_b0 WORMHOLE_B0
        2 blackhole Blackhole BLACKHOLE
    """,
    "BufferAccess": """
        1 alias  ALIAS
        2 stream  STREAM
    """,
    "BufferType": """
        0 dram DRAM DRAM
        1 l1 L1 L1
        2 system_memory SystemMemory SYSTEM_MEMORY
        3 l1_small L1Small L1_SMALL
        4 trace Trace TRACE
    """,
    "CBPort": """
        0 cb_in0 In0 IN0
        1 cb_in1 In1 IN1
        2 cb_in2 In2 IN2
        3 cb_in3 In3 IN3
        4 cb_in4 In4 IN4
        5 cb_in5 In5 IN5
        6 cb_in6 In6 IN6
        7 cb_in7 In7 IN7
        8 cb_dfl0 DataFlow0 DFL0
        9 cb_dfl1 DataFlow1 DFL1
        10 cb_dfl2 DataFlow2 DFL2
        11 cb_dfl3 DataFlow3 DFL3
        12 cb_dfl4 DataFlow4 DFL4
        13 cb_dfl5 DataFlow5 DFL5
        14 cb_dfl6 DataFlow6 DFL6
        15 cb_dfl7 DataFlow7 DFL7
        16 cb_out0 Out0 OUT0
        17 cb_out1 Out1 OUT1
        18 cb_out2 Out2 OUT2
        19 cb_out3 Out3 OUT3
        20 cb_out4 Out4 OUT4
        21 cb_out5 Out5 OUT5
        22 cb_out6 Out6 OUT6
        23 cb_out7 Out7 OUT7
        24 cb_int0 Intermed0 INT0
        25 cb_int1 Intermed1 INT1
        26 cb_int2 Intermed2 INT2
        27 cb_int3 Intermed3 INT3
        28 cb_int4 Intermed4 INT4
        29 cb_int5 Intermed5 INT5
        30 cb_int6 Intermed6 INT6
        31 cb_int7 Intermed7 INT7
    """,
    "ChipCapability": """
        1 pcie PCIE PCIE
        2 host_mmio HostMMIO HOST_MMIO
    """,
    "DataType": """
        0 f32 Float32 F32
        1 f16 Float16 F16
        2 bf16 BFloat16 BF16
        3 bfp_f8 BFP_Float8 BFP_F8
        4 bfp_bf8 BFP_BFloat8 BFP_BF8
        5 bfp_f4 BFP_Float4 BFP_F4
        6 bfp_bf4 BFP_BFloat4 BFP_BF4
        7 bfp_f2 BFP_Float2 BFP_F2
        8 bfp_bf2 BFP_BFloat2 BFP_BF2
        9 u32 UInt32 U32
        10 u16 UInt16 U16
        11 u8 UInt8 U8
        12 si32  SI32
        13 i1  I1
    """,
    "DeviceMemoryLayout": """
        0 sharded  SHARDED
        1 interleaved  INTERLEAVED
    """,
    "EthType": """
        0 sender Sender SENDER
        1 receiver Receiver RECEIVER
    """,
    "IteratorType": """
        0 parallel  PARALLEL
        1 systolic  SYSTOLIC
        2 broadcast  BROADCAST
        3 reduction  REDUCTION
    """,
    "MathFidelity": """
        0 lofi LoFi LOFI
        2 hifi2 HiFi2 HIFI2
        3 hifi3 HiFi3 HIFI3
        4 hifi4 HiFi4 HIFI4
    """,
    "MemorySpace": """
        0 system System SYSTEM
        1 mmio SystemMMIO SYSTEM_MMIO
        2 dram DeviceDRAM DEVICE_DRAM
        3 l1 DeviceL1 DEVICE_L1
        4 dst  REGISTER_DST
    """,
    "MeshShardDirection": """
        0 full_to_shard  FULL_TO_SHARD
        1 shard_to_full  SHARD_TO_FULL
    """,
    "MeshShardType": """
        0 identity  IDENTITY
        1 replicate  REPLICATE
        2 maximal  MAXIMAL
        3 devices  DEVICES
    """,
    "NocIndex": """
        0 noc0 Noc0 NOC0
        1 noc1 Noc1 NOC1
    """,
    "OOBVal": """
        0 undef Undef UNDEF
        1 zero Zero ZERO
        2 one One ONE
        3 inf Inf INF
        4 neginf NegInf NEG_INF
    """,
    "OperandConstraint": """
        1 system  SYSTEM
        2 dram  DRAM
        4 l1  L1
        8 scalar  SCALAR
        16 tile  TILE
        32 none  NONE
        64 interleaved  INTERLEAVED
        128 single_bank  SINGLE_BANK
        256 height_sharded  HEIGHT_SHARDED
        512 width_sharded  WIDTH_SHARDED
        1024 block_sharded  BLOCK_SHARDED
        2016 any_layout  ANY_LAYOUT
        2047 any  ANY
        2046 any_device  ANY_DEVICE
        2038 any_device_tile  ANY_DEVICE_TILE
        1052 l1_block_sharded  L1_BLOCK_SHARDED
    """,
    "ArgumentType": """
        0 input INPUT
        1 parameter PARAMETER
        2 constant CONSTANT
        3 default DEFAULT
    """,
    "AttentionMaskType": """
        0 none NONE
        1 causal CAUSAL
        2 arbitrary ARBITRARY
    """,
    "ReduceType": """
        0 sum SUM
        1 mean MEAN
        2 max MAX
        3 min MIN
        4 std STD
        5 var VAR
        6 prod PROD
        7 invalid INVALID
        8 logsumexp LOGSUMEXP
    """,
    "ShardStatus": """
        0 presharded PRESHARDED
        1 unsharded UNSHARDED
    """,
    "Topology": """
        0 ring RING
        1 linear LINEAR
        2 mesh MESH
        3 torus TORUS
        4 disabled DISABLED
    """,
    "TTNNLayout": """
        0 row_major RowMajor ROW_MAJOR
        1 tile Tile TILE
        2 invalid Invalid INVALID
    """,
    "TTNNTensorMemoryLayout": """
        0 interleaved Interleaved INTERLEAVED
        1 single_bank SingleBank SINGLE_BANK
        2 height_sharded HeightSharded HEIGHT_SHARDED
        3 width_sharded WidthSharded WIDTH_SHARDED
        4 block_sharded BlockSharded BLOCK_SHARDED
    """,
    "TensorMemoryLayout": """
        0 none None NONE
        1 interleaved Interleaved INTERLEAVED
        2 single_bank SingleBank SINGLE_BANK
        3 height_sharded HeightSharded HEIGHT_SHARDED
        4 width_sharded WidthSharded WIDTH_SHARDED
        5 block_sharded BlockSharded BLOCK_SHARDED
    """,
    "MoEActivationFunction": """
        0 silu  SILU
        1 swiglu  SWIGLU
    """,
    "RoutingMode": """
        0 bidir_line_mesh  BIDIR_LINE_MESH
        1 unidir_ring_torus  UNIDIR_RING_TORUS
    """,
    "ThreadType": """
        0 noc Noc NOC
        1 tensix Tensix TENSIX
        2 ethernet Ethernet ETHERNET
        3 compute  COMPUTE
    """,
}
"""Number, keyword, name in files if there is one, and Python's name."""


LATE = {
    "DataType": {"si32", "i1"},
    "IteratorType": {"reduction"},
    "MemorySpace": {"dst"},
    "ThreadType": {"compute"},
}
"""What the dialect ttcore of 2025 added."""


def test_no_enumeration_is_missing() -> None:
    """Nor is one listed that is not there."""
    found = inspect.getmembers(enums, inspect.isclass)
    names = {name for name, each in found if issubclass(each, KeywordEnum)}
    assert names - {"KeywordEnum"} == set(MEMBERS)


@pytest.mark.parametrize("name", MEMBERS)
def test_members(name: str) -> None:
    """All of them, in order; an alias of another number would be missing."""
    members: type[KeywordEnum] = getattr(enums, name)
    rows = (f"{int(each)} {each.keyword} {each.schema_name} {each.name}" for each in members)
    assert [row.split() for row in rows] == [
        line.split() for line in MEMBERS[name].strip().splitlines()
    ]


@pytest.mark.parametrize("name", MEMBERS)
def test_members_are_found_by_their_words(name: str) -> None:
    """And nothing is found by others."""
    members: type[KeywordEnum] = getattr(enums, name)
    for each in members:
        assert members.from_keyword(each.keyword) is each
        if each.schema_name:
            assert members.from_schema_name(each.schema_name) is each
    assert members.keywords(late=True) == tuple(each.keyword for each in members)
    late = {each.keyword for each in members if each.is_late}
    assert late == LATE.get(name, set())
    assert set(members.keywords()) == set(members.keywords(late=True)) - late
    for find in (members.from_keyword, members.from_schema_name):
        with pytest.raises(KeyError, match="nothing"):
            find("nothing")
