"""The prefix of the dialect of tiles, grids, memories and devices: `tt` or `ttcore`.

Until June 2025 its name was `tt`. Both prefixes are read into the same classes, which are called
`tt.` in memory; what exists only in the later form is called `ttcore.`. A module is printed with
one of them: `ttcore` if it was read so or holds operations or attributes of the later form, else
`tt`. Messages about a module that is being read or verified use its prefix, too. So do the names
of operations that were given others since.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast
from weakref import WeakSet

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

TT = "tt"
TTCORE = "ttcore"
_TTIR_EMPTY, _TENSOR_EMPTY = "ttir.empty", "tensor.empty"

_SHARED_KEYS = {"tt.system_desc": "ttcore.system_desc"}
"""Names of attributes of modules in both spellings."""
_KEYS_READ = {late: name for name, late in _SHARED_KEYS.items()}
_LATE_OPERATIONS = {
    "ttir.clamp": "ttir.clamp_scalar",
    "ttir.slice": "ttir.slice_static",
    "ttnn.right_shift": "ttnn.bitwise_right_shift",
    "ttnn.clamp": "ttnn.clamp_scalar",
    "ttnn.div": "ttnn.divide",
    "ttnn.embedding_backward": "ttnn.embedding_bw",
    "ttnn.pow": "ttnn.pow_tensor",
    "ttnn.slice": "ttnn.slice_static",
}
"""Names of operations in both spellings."""
_LATE_NAMES_OF_OPERATIONS = frozenset(_LATE_OPERATIONS.values())
LATE_KERNEL_OPERATIONS = {
    "ttkernel.reinterpret_cast": "ttkernel.reinterpret_cast<volatile tt_l1_ptr uint32_t*>"
}
"""Names of operations in kernels of both forms."""
_OPERATIONS_READ = {
    **{late: name for name, late in (*_LATE_OPERATIONS.items(), *LATE_KERNEL_OPERATIONS.items())},
    _TTIR_EMPTY: _TENSOR_EMPTY,
}
_LATE_DIALECTS = ("ttcore", "d2m")
_LATE_NAMES = ("ttnn.device", "ttnn.ttnn_layout")
"""Attributes and types of the later form in dialects of both."""
_LATE_MODULE = "ttmlir.dialects.ttcore"

_current: ContextVar[str | Operation] = ContextVar("core_prefix", default=TT)
"""The prefix, or an operation whose prefix nobody has asked for yet."""
_read_as_ttcore: WeakSet[Operation] = WeakSet()
_names_ttir_empty: ContextVar[bool] = ContextVar("names_ttir_empty", default=False)
"""True where what is read, or printed, calls a tensor without elements `ttir.empty`."""
_read_with_ttir_empty: WeakSet[Operation] = WeakSet()
_reads_late_kernels: ContextVar[bool] = ContextVar("reads_late_kernels", default=False)
"""True where what is read has kernels in the form of 2026."""
_read_with_late_kernels: WeakSet[Operation] = WeakSet()
_names_tt: ContextVar[bool] = ContextVar("names_tt", default=False)
"""True where the text that is read names the dialect `tt`, if only in an alias."""
_read_with_tt: WeakSet[Operation] = WeakSet()
_noted_late_form = False


def note_late_form() -> None:
    """Remember that attributes of the later form exist, so that IR is searched for them."""
    global _noted_late_form
    _noted_late_form = True


def _may_be_late() -> bool:
    """False as long as nothing of the later form can be in an IR."""
    return _noted_late_form or _LATE_MODULE in sys.modules


def core_prefix() -> str:
    """The prefix in which texts are made and read now."""
    found = _current.get()
    if not isinstance(found, str):
        found = core_prefix_of(found)
        _current.set(found)
    return found


@contextmanager
def use_core_prefix(prefix: str | Operation) -> Generator[None]:
    """Make texts in a spelling, or in that of a module, which is only searched if it is needed."""
    token = _current.set(prefix)
    empty = _names_ttir_empty.set(False)
    kernels = _reads_late_kernels.set(False)
    names_tt = _names_tt.set(False)
    try:
        yield
    finally:
        _names_tt.reset(names_tt)
        _reads_late_kernels.reset(kernels)
        _names_ttir_empty.reset(empty)
        _current.reset(token)


@contextmanager
def spell_as(op: Operation) -> Generator[None]:
    """Make texts in the spelling of the module around an operation."""
    with use_core_prefix(core_prefix_of(op)):
        _names_ttir_empty.set(root_of(op) in _read_with_ttir_empty)
        yield


def root_of(op: Operation) -> Operation:
    """The operation that an operation is in and that is in no other."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def note_ttcore() -> None:
    """Remember that the text that is read has the later prefix."""
    if core_prefix() != TTCORE:
        _current.set(TTCORE)


def note_tt() -> None:
    """Remember that the text that is read has the prefix of 2024."""
    _names_tt.set(True)


def was_read_with_tt(op: Operation) -> bool:
    """True in a module whose text names the dialect `tt`, as those of 2024 do."""
    return bool(_read_with_tt) and root_of(op) in _read_with_tt


def mark_as_read(module: Operation) -> None:
    """Let a module that was just read be printed as it was spelled."""
    if _names_tt.get():
        _read_with_tt.add(module)
    if core_prefix() == TTCORE:
        note_late_form()
        _read_as_ttcore.add(module)
    if _names_ttir_empty.get():
        _read_with_ttir_empty.add(module)
    if _reads_late_kernels.get():
        _read_with_late_kernels.add(module)


def note_late_kernels() -> None:
    """Remember that the text that is read has kernels in the form of 2026."""
    note_ttcore()
    _reads_late_kernels.set(True)


def has_late_kernels(op: Operation) -> bool:
    """True in a module that was read with kernels in the form of 2026, or that is marked so."""
    return bool(_read_with_late_kernels) and root_of(op) in _read_with_late_kernels


def use_late_kernels(op: Operation) -> None:
    """Let the kernels of the module around an operation be verified and printed as in 2026."""
    top = root_of(op)
    _read_with_late_kernels.add(top)
    _read_as_ttcore.add(top)


def use_late_spelling(module: Operation) -> None:
    """Let a module be printed in the later spelling, whatever it holds."""
    note_late_form()
    _read_as_ttcore.add(module)


def forget_late_spelling(module: Operation) -> None:
    """Let a module be printed as what it holds asks for, however it was read."""
    _read_as_ttcore.discard(module)
    _read_with_late_kernels.discard(module)
    _read_with_ttir_empty.discard(module)


def names_empty_late(op: Operation) -> bool:
    """True in a module that calls tensors without elements `ttir.empty`."""
    return bool(_read_with_ttir_empty) and root_of(op) in _read_with_ttir_empty


def name_empty_late(op: Operation) -> None:
    """Let the module around an operation be printed with `ttir.empty`."""
    _read_with_ttir_empty.add(root_of(op))


def forget_empty_late(op: Operation) -> None:
    """Let the module around an operation be printed without `ttir.empty`."""
    _read_with_ttir_empty.discard(root_of(op))


def core_prefix_of(op: Operation) -> str:
    """The prefix that an operation, and all of the module around it, is printed with."""
    if not _may_be_late():
        return TT
    op = root_of(op)
    if op in _read_as_ttcore or _holds_late(op):
        return TTCORE
    return TT


def prefix_of_attribute(attr: Attribute) -> str:
    """The prefix for the text of an attribute on its own."""
    current = core_prefix()
    return TTCORE if current == TT and _may_be_late() and _is_late(attr, {}) else current


def spelled_name(name: str, prefix: str) -> str:
    """The name of an attribute or type as it is printed."""
    return f"{TTCORE}.{name[3:]}" if prefix == TTCORE and name.startswith("tt.") else name


def spelled_key(key: str, prefix: str) -> str:
    """The name of an entry of a dictionary as it is printed."""
    return _SHARED_KEYS.get(key, key) if prefix == TTCORE else key


def key_as_read(key: str) -> str:
    """The name of an entry of a dictionary in memory."""
    return _KEYS_READ.get(key, key)


def spelled_operation(name: str, prefix: str) -> str:
    """The name of an operation as it is printed."""
    if name == _TENSOR_EMPTY and _names_ttir_empty.get():
        return _TTIR_EMPTY
    return _LATE_OPERATIONS.get(name, name) if prefix == TTCORE else name


def written_name(op: Operation) -> str:
    """The name of an operation as its module spells it."""
    if op.name in LATE_KERNEL_OPERATIONS and has_late_kernels(op):
        return LATE_KERNEL_OPERATIONS[op.name]
    return (
        spelled_operation(op.name, core_prefix_of(op)) if op.name in _LATE_OPERATIONS else op.name
    )


def operation_as_read(name: str) -> str:
    """The name of an operation in memory."""
    if name == _TTIR_EMPTY:
        _names_ttir_empty.set(True)
        note_ttcore()
    elif name in _LATE_NAMES_OF_OPERATIONS:
        note_ttcore()
        note_late_form()
    return _OPERATIONS_READ.get(name, name)


def other_spelling(name: str) -> str | None:
    """An attribute's or type's name with the other prefix, or None if it has neither."""
    dialect, _, rest = name.partition(".")
    other = {TT: TTCORE, TTCORE: TT}.get(dialect)
    return None if other is None else f"{other}.{rest}"


def _holds_late(root: Operation) -> bool:
    known: dict[int, bool] = {}
    for op in root.walk():
        if op.dialect_name() in _LATE_DIALECTS:
            return True
        if op.name in _LATE_OPERATIONS and getattr(op, "has_destination", None) is False:
            return True
        for result in op.results:
            if _is_late(result.type, known):
                return True
        for region in op.regions:
            for block in region.blocks:
                if any(_is_late(argument.type, known) for argument in block.args):
                    return True
    return False


def _is_late(attr: Attribute, known: dict[int, bool]) -> bool:
    """True if an attribute or a part of it exists only in the later form."""
    found = known.get(id(attr))
    if found is None:
        found = attr.name.partition(".")[0] in _LATE_DIALECTS or attr.name in _LATE_NAMES
        known[id(attr)] = found
        known[id(attr)] = found = found or any(_is_late(part, known) for part in _parts(attr))
    return found


def _parts(attr: Attribute) -> Iterable[Attribute]:
    if isinstance(attr, ParametrizedAttribute):
        return attr.parameters
    return cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else ()
