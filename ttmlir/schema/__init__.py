"""Schema-driven reading and writing of flatbuffers.

The schemas are read at run time, since flatc generates no Python for vectors of unions, which
TTMetal programs have; the flatbuffers package stores and finds what they describe.
"""

from ttmlir.schema import without_numpy as without_numpy  # before the modules of flatbuffers
from ttmlir.schema.parser import SCHEMA_OF_IDENTIFIER, Schema, identify, load_schema
from ttmlir.schema.types import FlatbufferError, PackError, SchemaError
from ttmlir.schema.view import TableView

__all__ = [
    "SCHEMA_OF_IDENTIFIER",
    "FlatbufferError",
    "PackError",
    "Schema",
    "SchemaError",
    "TableView",
    "identify",
    "load_schema",
]
