"""The blobs behind `dense_resource<...>`, kept with the module that was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

from xdsl.ir import Operation

_BLOBS: WeakKeyDictionary[Operation, dict[str, str]] = WeakKeyDictionary()
_ALIGNMENT_BYTES = 4


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def attach_blobs(module: Operation, blobs: Mapping[str, str]) -> None:
    """Give a module the blobs of its text: hexadecimal strings such as `0x04000000...`."""
    if blobs:
        _BLOBS.setdefault(_root(module), {}).update(blobs)


def blobs_of(op: Operation) -> Mapping[str, str]:
    """The blobs of the module around an operation, by name."""
    return _BLOBS.get(_root(op), {})


def blob_bytes(op: Operation, name: str) -> bytes | None:
    """The contents of a blob (without its alignment) for an operation of the module, or None."""
    text = blobs_of(op).get(name)
    return None if text is None else bytes.fromhex(text[2:])[_ALIGNMENT_BYTES:]


def metadata_text(module: Operation, names: Collection[str], size_limit: int | None = None) -> str:
    """The `{-# ... #-}` section with these blobs, or an empty text if there are none.

    Blobs whose text is longer than `size_limit` are left out.
    """
    blobs = blobs_of(module)
    lines = [
        f'      {name}: "{blobs[name]}"'
        for name in sorted(names)
        if name in blobs and (size_limit is None or len(blobs[name]) <= size_limit)
    ]
    if not lines:
        return ""
    body = ",\n".join(lines)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{body}\n    }}\n  }}\n#-}}\n"
