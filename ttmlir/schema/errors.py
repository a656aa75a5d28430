"""Errors of the flatbuffer engine."""

from __future__ import annotations


class SchemaError(ValueError):
    """A schema text is not in the subset of the flatbuffers schema language that is read here."""


class PackError(ValueError):
    """A value does not fit the table or field that it is to be stored in."""


class FlatbufferError(ValueError):
    """A file is not what its schema says: truncated, altered, or written for another schema."""

    def __init__(
        self, source: str, problem: str, *, where: str = "", offset: int | None = None, remedy: str
    ) -> None:
        """Describe a problem of the file `source`.

        `where` is the table and field (`TensorDesc.shape`), `offset` the byte from the start of
        the file, `remedy` what the user can do.
        """
        place = where if offset is None else f"{where} at byte {offset}".lstrip()
        super().__init__(": ".join(filter(None, (source, place, problem))) + "; " + remedy)
        self.source = source
        self.problem = problem
        self.where = where
        self.offset = offset


ALTERED = "the file is damaged: write it again from its source"
OTHER_SCHEMA = "the file is damaged or was written for another schema: compile it again"
