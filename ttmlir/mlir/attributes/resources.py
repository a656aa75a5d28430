"""The blobs behind `dense_resource<...>`, kept with the module that was read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttmlir.mlir.attributes.long_strings import marked
from ttmlir.mlir.syntax.core_prefix import core_prefix_of, mark_as_read, use_core_prefix

_ALIGNMENT_BYTES = 4
DEFAULT_ALIGNMENT = 16


class Blob(NamedTuple):
    """What a resource holds, and how it wants to be placed in memory."""

    data: memoryview
    alignment: int = DEFAULT_ALIGNMENT

    @property
    def header(self) -> str:
        """What stands before the data in its hexadecimal string in a module: `0x04000000`."""
        return f"0x{self.alignment.to_bytes(_ALIGNMENT_BYTES, 'little').hex().upper()}"

    @property
    def text_length(self) -> int:
        """Length of the string."""
        return 2 + 2 * (_ALIGNMENT_BYTES + len(self.data))


_BLOBS: WeakKeyDictionary[Operation, dict[str, Blob]] = WeakKeyDictionary()


def blob_of(text: str, contents: Sequence[bytes] = ()) -> Blob | None:
    """The blob that a string spells; None if it spells none.

    `contents` are what the marks of a text stand for (`ttmlir.mlir.attributes.long_strings`).
    """
    data = marked(text, contents)
    if data is None:
        try:
            data = bytes.fromhex(text[2:]) if text.startswith("0x") else b""
        except ValueError:
            return None
    if len(data) < _ALIGNMENT_BYTES:
        return None
    alignment = int.from_bytes(data[:_ALIGNMENT_BYTES], "little")
    return Blob(memoryview(data)[_ALIGNMENT_BYTES:], alignment)


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def attach_blobs(module: Operation, blobs: Mapping[str, Blob]) -> None:
    """Give a module the blobs that its `dense_resource`s name."""
    if blobs:
        _BLOBS.setdefault(_root(module), {}).update(blobs)


def blobs_of(op: Operation) -> Mapping[str, Blob]:
    """The blobs of the module around an operation, by name."""
    return _BLOBS.get(_root(op), {})


def cloned(module: ModuleOp) -> ModuleOp:
    """A copy of a module with the same blobs."""
    copy = module.clone()
    attach_blobs(copy, blobs_of(module))
    with use_core_prefix(core_prefix_of(module)):
        mark_as_read(copy)
    return copy


def blob_bytes(op: Operation, name: str) -> memoryview | None:
    """The contents of a blob for an operation of the module, or None; no copy is made."""
    blob = blobs_of(op).get(name)
    return None if blob is None else blob.data


def metadata(
    module: Operation, names: Collection[str], size_limit: int | None = None
) -> Iterator[str | memoryview]:
    """The `{-# ... #-}` section with these blobs, or nothing if there are none.

    Comes in parts; the data of a blob stand for their hexadecimal digits.

    Blobs whose text is longer than `size_limit` are left out.
    """
    blobs = blobs_of(module)
    printed = [
        name
        for name in sorted(names)
        if name in blobs and (size_limit is None or blobs[name].text_length <= size_limit)
    ]
    if not printed:
        return
    separator = "\n{-#\n  dialect_resources: {\n    builtin: {\n"
    for name in printed:
        yield f'{separator}      {name}: "{blobs[name].header}'
        yield blobs[name].data
        separator = '",\n'
    yield '"\n    }\n  }\n#-}\n'
