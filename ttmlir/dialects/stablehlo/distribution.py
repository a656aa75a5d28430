"""Operations of StableHLO between devices and with the host: read, and refused when compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.ir import Operation

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup, properties, values
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_AXIS,
    ANYTHING,
    DIMENSION,
    GROUPS,
    PADDING,
    POSITIVE_I64,
    TOKEN,
    enum,
)
from ttmlir.dialects.stablehlo.operation import StableHLOOp
from ttmlir.mlir.attributes import Elements

_CHANNEL = Property("channel_handle", enum("stablehlo.channel_handle"), optional=True)
_ON_CHANNEL = Property("channel_handle", enum("stablehlo.channel_handle"))
_GROUPS = Property("replica_groups", GROUPS)
_GLOBAL_IDS = Property("use_global_device_ids", ods.UNIT, optional=True)
_PAIRS = Property("source_target_pairs", PADDING)
_HOST = Property("is_host_transfer", ods.BOOL, optional=True)
_SOME_PAIRS = Property("source_target_pairs", PADDING, optional=True)
_MANY = (ValueGroup("operands", ANY, variadic=True),)
_MANY_RESULTS = (ValueGroup("results", ANY, variadic=True),)
_ONE = values(operand=ANY)
_ONE_RESULT = values(result=ANY)
_TOKEN = ValueGroup("token", TOKEN)
_TOKEN_RESULT = values(result=TOKEN)
_RECEIVED = (ValueGroup("results", ANYTHING, variadic=True),)

_SIGNATURES: dict[str, Signature] = {
    "all_gather": Signature(
        _MANY,
        _MANY_RESULTS,
        (Property("all_gather_dim", DIMENSION), _GROUPS, _CHANNEL, _GLOBAL_IDS),
    ),
    "all_reduce": Signature(_MANY, _MANY_RESULTS, (_GROUPS, _CHANNEL, _GLOBAL_IDS), regions=1),
    "all_to_all": Signature(
        _MANY,
        _MANY_RESULTS,
        (
            Property("split_dimension", DIMENSION),
            Property("concat_dimension", DIMENSION),
            Property("split_count", POSITIVE_I64),
            _GROUPS,
            _CHANNEL,
        ),
    ),
    "async_done": Signature(values(operand=ANYTHING), _RECEIVED),
    "async_start": Signature(_MANY, values(result=ANYTHING), regions=1),
    "collective_broadcast": Signature(_ONE, _ONE_RESULT, (_GROUPS, _CHANNEL)),
    "collective_permute": Signature(_ONE, _ONE_RESULT, (_PAIRS, _CHANNEL)),
    "cross-replica-sum": Signature(_ONE, _ONE_RESULT, properties(replica_groups=PADDING)),
    "infeed": Signature(
        (_TOKEN,),
        _RECEIVED,
        (
            Property("infeed_config", ods.STRING, optional=True),
            Property("layout", ods.ARRAY, optional=True),
        ),
    ),
    "outfeed": Signature(
        (ValueGroup("inputs", ANY_AXIS, variadic=True), _TOKEN),
        _TOKEN_RESULT,
        (Property("outfeed_config", ods.STRING, optional=True),),
    ),
    "recv": Signature((_TOKEN,), _RECEIVED, (_ON_CHANNEL, _HOST, _SOME_PAIRS)),
    "reduce_scatter": Signature(
        _ONE,
        _ONE_RESULT,
        (Property("scatter_dimension", DIMENSION), _GROUPS, _CHANNEL, _GLOBAL_IDS),
        regions=1,
    ),
    "send": Signature(
        (ValueGroup("inputs", ANY_AXIS, variadic=True), _TOKEN),
        _TOKEN_RESULT,
        (_ON_CHANNEL, _HOST, _SOME_PAIRS),
    ),
}


def _check_groups(op: Operation) -> None:
    """VerifyException for groups that are no rows, or in which a device is missing or twice."""
    groups = op.properties["replica_groups"]
    if not ods.ELEMENTS.storage(groups):
        return
    elements = cast("Elements", groups)
    if len(elements.type.get_shape()) != 2:
        ods.refuse("replica groups should be a rank 2 tensor")
    seen = set[int]()
    for number in cast("Iterator[int]", elements.iter_values()):
        if number < 0 and op.name == "stablehlo.collective_broadcast":
            ods.refuse(f"replica_groups values must be positive, but was given {number}")
        if number == -1:
            # Rows that are shorter than others end with it, where they may be.
            if op.name == "stablehlo.all_reduce":
                continue
            ods.refuse("Invalid replica id -1")
        if number in seen:
            ods.refuse(f"replica id #{number} seen more than once")
        seen.add(number)
    missing = next((each for each in range(len(seen)) if each not in seen), None)
    if missing is not None and op.name != "stablehlo.collective_broadcast":
        ods.refuse(f"replica id #{missing} not seen in replica groups")


def _op_class(mnemonic: str, signature: Signature) -> type[StableHLOOp]:
    name = "".join(part.capitalize() for part in mnemonic.replace("-", "_").split("_")) + "Op"
    contents: dict[str, object] = {
        "name": f"stablehlo.{mnemonic}",
        "SIGNATURE": signature,
        "REGIONS": ("computation",),
        "__doc__": f"`stablehlo.{mnemonic}`, which needs several devices or a host.",
        "__module__": __name__,
    }
    if _GROUPS in signature.properties:
        contents["RULE"] = staticmethod(_check_groups)
    return cast("type[StableHLOOp]", type(name, (StableHLOOp,), contents))


DISTRIBUTION = tuple(_op_class(mnemonic, signature) for mnemonic, signature in _SIGNATURES.items())
"""The operations of this module."""
