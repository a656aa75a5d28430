"""Schema-driven reading and writing of flatbuffers.

flatc generates no Python for vectors of unions, which TTMetal programs have, and the flatbuffers
package imports NumPy; reading the schemas at run time needs neither.
"""

from ttmlir.schema.catalog import SCHEMA_OF_IDENTIFIER, Schema, identify, load_schema
from ttmlir.schema.errors import FlatbufferError, PackError, SchemaError
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
