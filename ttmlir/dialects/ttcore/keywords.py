"""Attributes of ttcore that hold keywords, such as `#ttcore.shard_type<devices>`."""

from __future__ import annotations

from xdsl.irdl import irdl_attr_definition

from ttmlir.dialects.definition.syntax import KeywordAttr
from ttmlir.layout.enums import MeshShardDirection, MeshShardType


@irdl_attr_definition
class MeshShardTypeAttr(
    KeywordAttr[MeshShardType],
    enum=MeshShardType,
    cpp="::mlir::tt::ttcore::MeshShardType",
    definition="TTCore_MeshShardTypeAttr",
):
    """How a tensor is spread over a mesh of chips: `#ttcore.shard_type<replicate>`."""

    name = "ttcore.shard_type"


@irdl_attr_definition
class MeshShardDirectionAttr(
    KeywordAttr[MeshShardDirection],
    enum=MeshShardDirection,
    cpp="::mlir::tt::ttcore::MeshShardDirection",
    definition="TTCore_MeshShardDirectionAttr",
):
    """Which way a tensor goes: `#ttcore.shard_direction<full_to_shard>`."""

    name = "ttcore.shard_direction"
