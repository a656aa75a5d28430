"""Numbers of the enumerations that kernels name, by hand from TT-Metalium's headers."""

from __future__ import annotations

import pytest

from ttmlir.optable.kernel.kernel_call import CONSTANTS, ENUMS

NUMBERS: dict[str, dict[str, int]] = {
    "DataFormat": {
        **{"Float32": 0, "Float16": 1, "Bfp8": 2, "Bfp4": 3, "Tf32": 4, "Float16_b": 5},
        **{"Bfp8_b": 6, "Bfp4_b": 7, "Int32": 8, "UInt16": 9, "Lf8": 10, "Bfp2": 11},
        **{"Int8": 14, "Bfp2_b": 15, "UInt32": 24, "Fp8_e4m3": 26, "UInt8": 30},
        **{"RawUInt8": 240, "RawUInt16": 241, "RawUInt32": 242, "Invalid": 255},
    },
    "CBIndex": {f"c_{index}": index for index in range(32)},
    "CB": {
        **{f"c_in{index}": index for index in range(8)},
        **{f"dataflow{index}": 8 + index for index in range(8)},
        **{f"c_out{index}": 16 + index for index in range(8)},
        **{f"c_intermed{index}": 24 + index for index in range(8)},
    },
    "PoolType": {"SUM": 0, "AVG": 1, "MAX": 2, "MIN": 3},
    "ReduceDim": {"REDUCE_ROW": 0, "REDUCE_COL": 1, "REDUCE_SCALAR": 2},
    "BroadcastType": {"NONE": 0, "COL": 1, "ROW": 2, "SCALAR": 3},
    "EltwiseBinaryType": {"ELWMUL": 0, "ELWDIV": 1, "ELWADD": 2, "ELWSUB": 3, "ELWLESS": 4},
    "EltwiseBinaryReuseDestType": {"NONE": 0, "DEST_TO_SRCA": 1, "DEST_TO_SRCB": 2},
    "ThreadId": {
        **{"BriscThreadId": 0, "UnpackThreadId": 1, "MathThreadId": 2, "PackThreadId": 3},
    },
    "ReluType": {
        **{"NO_RELU": 0, "ZERO_RELU": 1, "MIN_THRESHOLD_RELU": 2, "MAX_THRESHOLD_RELU": 3},
    },
    "InlineWriteDst": {"DEFAULT": 0, "L1": 1, "REG": 2},
    "ProgrammableCoreType": {"TENSIX": 0, "ACTIVE_ETH": 1, "IDLE_ETH": 2},
}


@pytest.mark.parametrize("name", NUMBERS)
def test_enumerators(name: str) -> None:
    """Each enumeration has these members and no others."""
    assert dict(ENUMS[name].members) == NUMBERS[name]


def test_there_are_no_other_enumerations() -> None:
    """A new one gets its numbers above."""
    assert set(ENUMS) == set(NUMBERS)


def test_constants() -> None:
    """Tiles of four faces, packets of the network, states of semaphores."""
    sizes = {"TILE_HEIGHT": 32, "TILE_WIDTH": 32, "FACE_HEIGHT": 16, "FACE_WIDTH": 16}
    sizes |= {"TILE_HW": 1024, "FACE_HW": 256}
    # These have no numbers of their own in tt-metal that kernels could tell from flags.
    sizes |= {"TSLICE_INPUT_CB": 2, "TSLICE_OUTPUT_CB": 3, "TSLICE_RD_PTR": 4, "TSLICE_WR_PTR": 5}
    states = {"INVALID": 0, "VALID": 1}
    network = {"NOC_MAX_BURST_SIZE": 8192, "NOC_MAX_TRANSACTION_ID": 15, "NOC_UNICAST_WRITE_VC": 1}
    assert CONSTANTS == {**sizes, **states, **network}
