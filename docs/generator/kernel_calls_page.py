"""The page of kernel calls: a line for the definition of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ttmlir.optable.kernel import (
    SPELLINGS,
    Cost,
    Form,
    KernelCall,
    Role,
    cpp_calls,
    cpp_compute_calls,
    cpp_movement_calls,
    data_movement,
    late_columns,
    late_vector,
    matrix,
    pack_vector,
    vector,
)
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Format, Step, TileCall

INTRODUCTION = """\
# Kernel calls

Every call that a kernel can make on a core, under TT-Metalium's names in C++. Each is an operation
of the dialect `ttkernel`, with template arguments as attributes; an operation with another name
follows as `= name`. [`ttmlir/optable/kernel/`](../ttmlir/optable/kernel) has the headers and the
sources of the figures.

- `[, ...]` are parameters with default values; `(...)` are the operands of the entry above.
- After a call, one whose name has `_init` prepares it; `_init` alone is its own name with this
  suffix, with the same template arguments and no operands. Other names and suffixes, such as
  `_int32` for integers, do the same.
- *Whether* something holds is 1 or 0. *Onto DST* adds to what is there.
- *Processors* are where a call does something; elsewhere it compiles to nothing. `data` is BRISC
  and NCRISC; `unpack`, `math` and `pack` are the threads of a compute kernel, `compute` all three.
  Those in parentheses replace those that the section names.
- *Cycles*, in brackets: how long a call keeps each thread, or its only one, busy for every tile of
  32x32 elements of 16 bits, on Wormhole. `x phases`: times the phases of math fidelity, 1 (LoFi) to
  4 (HiFi4). `~`: estimated, 32 cycles for each vector instruction; no figure is public. What waits
  or moves data takes as long as the network and the other threads make it take.
"""

FAMILIES = (
    ("Circular buffers", data_movement.CIRCULAR_BUFFERS_CALLS),
    ("Arguments, position and memory", data_movement.ARGUMENTS_CALLS),
    ("Data movement", data_movement.CALLS),
    ("Semaphores", data_movement.SEMAPHORES_CALLS),
    ("DST: ownership, copies, packing, formats", matrix.REGISTERS_CALLS),
    ("Matrix unit", matrix.CALLS),
    ("Vector unit, one tile", vector.UNARY_CALLS),
    ("Vector unit, several tiles", vector.CALLS),
    ("Printing", data_movement.PRINTING_CALLS),
)
_CPP_CALLS = """\
## Calls of C++ alone

Kernels in C++ can make these, too; no operation stands for them. They come from other releases of
tt-metal (2024 to late 2026) and from the layers below its API.
"""
_CPP_FAMILIES = (
    (
        "Circular buffers, addresses and transfers",
        (*cpp_movement_calls.CIRCULAR_BUFFERS_CALLS, *cpp_movement_calls.CALLS),
    ),
    ("Units and formats", cpp_compute_calls.CALLS),
    ("Tiles of DST", (*cpp_compute_calls.VECTOR_CALLS, *cpp_compute_calls.COLUMNS_CALLS)),
    ("Tiles of DST in tt-metal 0.81", late_vector.CALLS),
    ("Columns of tiles in tt-metal 0.81", late_columns.CALLS),
    ("Tiles of DST by the PACK thread", pack_vector.CALLS),
    ("Printing of tiles", cpp_movement_calls.PRINTING_CALLS),
    ("Objects", cpp_movement_calls.DEVICE_OBJECTS_CALLS),
)
_SPELLINGS = """\
## Other names

What calls are named in other releases, with the same operands.
"""
_MAPPING = """\
## Elementwise operations of several calls

How operations of `ttir` are computed on tiles of floating-point numbers and of 32-bit integers,
where that is not one call. Operands are copied to the tiles 0, 1, ... of DST; each step is prepared
by its `_init`; the result is in tile 0.
"""
_FUNCTIONS = {
    call.cpp: call.summary.replace(" that were started", "")
    for call in (*data_movement.CIRCULAR_BUFFERS_CALLS, *data_movement.CALLS)
}
"""What functions do in the words of methods of the same name."""
_SAME_OPERANDS = 3
"""So many operands are written as `(...)` where they are those of the entry before."""


def kernel_calls_page() -> str:
    """The page as Markdown."""
    return "\n".join((INTRODUCTION, *_tables(), *_cpp_calls(), *_spellings(), *_mapping()))


def _tables() -> Iterator[str]:
    for title, calls in FAMILIES:
        yield f"## {title}\n"
        yield from _list(calls)


def _list(calls: Iterable[KernelCall]) -> Iterator[str]:
    """An entry for each call; what most calls have in common stands in front of them."""
    listed = list(calls)
    usual = Counter(_where(call.roles) for call in listed).most_common(1)[0][0]
    others = any(_where(call.roles) != usual for call in listed)
    yield f"Processors: {usual}{', unless others follow' if others else ''}.\n"
    before = ""
    for alike, prepared in _merged(listed):
        call, *twins = alike
        names = [_call(call)]
        operands = names[0][names[0].find("(") : names[0].find(")") + 1]
        if operands.count(",") + 1 >= _SAME_OPERANDS:
            if operands == before:
                names[0] = names[0].replace(operands, "(...)", 1)
            before = operands
        else:
            before = ""
        where = _where(call.roles)
        names[0] += "" if where == usual else f" ({where})"
        names += ["`_init`" for each in prepared if _is_plain(each, call)]
        names += [_twin(twin, call) for twin in twins]
        names += [_preparation(each, alike) for each in prepared if not _is_plain(each, call)]
        cycles = _cycles_of(call)
        yield f"- {', '.join(names)}: {_effect(call)}{f' [{cycles}]' if cycles else ''}"
    yield ""


def _merged(calls: list[KernelCall]) -> list[tuple[list[KernelCall], list[KernelCall]]]:
    """Calls that differ by their names alone, with those that only prepare them."""
    groups: dict[object, list[KernelCall]] = {}
    for call in calls:
        groups.setdefault(_key(call), []).append(call)
    first = {call.cpp: key for key, alike in groups.items() for call in alike[::-1]}
    prepared: dict[object, list[KernelCall]] = {key: [] for key in groups}
    for key, [call, *others] in list(groups.items()):
        found = re.fullmatch(r"Prepare `(\w+)`\.", call.summary)
        target = first.get(found[1]) if found else None
        if target is not None and not others and not _cycles_of(call):
            prepared[target].append(call)
            del groups[key]
    return [(alike, prepared[key]) for key, alike in groups.items()]


def _key(call: KernelCall) -> object:
    """What calls have in common that one entry describes."""
    if call.form is Form.AGGREGATE or call.form is Form.STREAM:
        return call.mnemonic
    written = _call(call).partition(" = ")[0].replace(call.cpp, "", 1)
    return written, call.roles, _effect(call), _cycles_of(call)


def _twin(call: KernelCall, other: KernelCall) -> str:
    """The name of a call that is like another one: a suffix where it has that name with one."""
    if " = " in _call(call):
        return _call(call)
    if call.cpp.startswith(f"{other.cpp}_"):
        return f"`{call.cpp.removeprefix(other.cpp)}`"
    return f"`{call.cpp}`"


def _preparation(call: KernelCall, prepared: list[KernelCall]) -> str:
    """A call that prepares others: by its name alone if it is plain for one of them."""
    if any(_is_plain(call, each) for each in prepared):
        return f"`{call.cpp}`"
    where = "" if call.roles == prepared[0].roles else f" ({_where(call.roles)})"
    return f"{_call(call)}{where}"


def _is_plain(call: KernelCall, other: KernelCall) -> bool:
    """Whether a call has the name of the one that it prepares with `_init`, and no operands."""
    name = _name(other).replace(other.cpp, call.cpp, 1)
    plain = call.cpp == f"{other.cpp}_init" and _call(call) == f"`{name}()`"
    return plain and call.roles == other.roles


def _cpp_calls() -> Iterator[str]:
    yield _CPP_CALLS
    for title, calls in _CPP_FAMILIES:
        yield f"### {title}\n"
        yield from _list(calls)
    assert sum(len(calls) for _, calls in _CPP_FAMILIES) == len(cpp_calls.CALLS)


def _spellings() -> Iterator[str]:
    """The names; those that only lack a word of the other one are listed with that word.

    Those of a class are in the list of calls.
    """
    yield _SPELLINGS
    shorter = [name for name, call in SPELLINGS.items() if call == f"{name}_short"]
    members = [name for name, call in SPELLINGS.items() if call == name.replace("::", "_")]
    others = {name: call for name, call in SPELLINGS.items() if name not in {*shorter, *members}}
    yield ", ".join(f"`{name}` = `{call}`" for name, call in others.items()) + ".\n"
    yield f"Without `_short` at the end: {', '.join(f'`{name}`' for name in shorter)}."
    yield ""


def _call(call: KernelCall) -> str:
    names = [*call.constants, *(name for name, _ in call.operands)]
    optional = [*names[call.fewest_arguments :], *(option.name for option in call.options)]
    others = f"[, {', '.join(optional)}]" if optional else ""
    text = f"{_name(call)}({', '.join(names[: call.fewest_arguments])}{others})"
    match call.form:
        case Form.CALL | Form.OBJECT:
            pass
        case Form.METHOD:
            others = others if len(names) > 1 else others.replace(", ", "", 1)
            text = f"{names[0]}.{call.cpp}({', '.join(names[1:])}{others})"
        case Form.ELEMENT:
            text = f"{call.cpp}[{names[0]}]"
        case Form.LOAD:
            text = f"{names[0]}[{names[1]}]"
        case Form.STORE:
            text = f"{names[1]}[{names[2]}] = {names[0]}"
        case Form.AGGREGATE:
            text = f"{_name(call)}{{{', '.join(f'.{name}' for name in names)}}}"
        case Form.CAST:
            text = f"reinterpret_cast<volatile tt_l1_ptr uint32_t*>({names[0]})"
        case Form.STREAM:
            text = f"{call.cpp} << value << ..."
    other = "" if call.mnemonic in text else f" = `{call.mnemonic}`"
    return f"`{text.replace('([, ', '([')}`{other}"


def _name(call: KernelCall) -> str:
    templates = ", ".join(template.name for template in call.templates)
    return f"{call.cpp}<{templates}>" if templates else call.cpp


def _where(roles: Role) -> str:
    if roles is Role.ALL:
        return "all"
    names = ["data"] if Role.DATA in roles else []
    if Role.COMPUTE in roles:
        return ", ".join([*names, "compute"])
    names += [str(role.name).lower() for role in Role.COMPUTE if role in roles]
    return ", ".join(names)


def _effect(call: KernelCall) -> str:
    for prefix in ("cb", "noc"):
        function = _FUNCTIONS.get(f"{prefix}_{call.cpp}")
        if call.form is Form.METHOD and function == call.summary:
            return f"As `{prefix}_` and this name."
    summary = re.sub(r"^1 where (.*), else 0\.$", r"Whether \1.", call.summary)
    accumulates = call.tiles is not None and call.tiles.accumulates
    return f"{summary} Onto DST." if accumulates and "onto DST" not in summary else summary


def _cycles_of(call: KernelCall) -> str:
    cycles = _cycles(call.cost, call.roles)
    if call.approximation is None:
        return cycles
    flags = " and ".join(f"`{flag}`" for flag in call.approximation.flags)
    return f"{cycles}; with {flags}: {_cycles(call.approximation.cost, call.roles)}"


def _cycles(cost: Cost, roles: Role) -> str:
    """The cycles of each thread, whose name is left out where the call has only one."""
    parts: list[str] = []
    for role, count in ((Role.UNPACK, cost.unpack), (Role.MATH, cost.math), (Role.PACK, cost.pack)):
        if count:
            name = "" if role == roles else f"{str(role.name).lower()} "
            phases = " x phases" if cost.phases and role is Role.MATH else ""
            parts.append(f"{name}{'~' if cost.estimated else ''}{count}{phases}")
    if cost.blackhole:
        parts.append(f"on Blackhole {cost.blackhole}")
    if cost.narrow is not None:
        parts.append(f"to a DST of 16 bits {_cycles(cost.narrow, roles)}")
    return ", ".join(parts)


def _mapping() -> Iterator[str]:
    """An entry for the operations that are computed alike, unless it is by one call."""
    yield _MAPPING
    groups: dict[str, list[str]] = {}
    for mnemonic, tile_call in TILE_CALLS.items():
        steps = {
            "": _steps(tile_call.floats),
            "integers: ": _steps_of_integers(tile_call),
        }
        text = ". ".join(f"{which}{calls}" for which, calls in steps.items() if calls)
        if "; " in text or "nothing" in text:
            pattern = re.sub(rf"`{mnemonic}_(?=\w*[(<`])", "`NAME_", text)
            groups.setdefault(pattern, []).append(mnemonic)
    for pattern, names in groups.items():
        text = pattern if len(names) > 1 else pattern.replace("`NAME_", f"`{names[0]}_")
        yield f"- {', '.join(f'`{name}`' for name in names)}: {text}"
    yield ""


def _steps_of_integers(tile_call: TileCall) -> str:
    signed = _steps(tile_call.integers)
    if tile_call.unsigned in (None, tile_call.integers):
        return signed
    return f"{signed}; without a sign: {_steps(tile_call.unsigned)}"


def _steps(steps: tuple[Step, ...] | None) -> str:
    if steps is None:
        return ""
    return "; ".join(f"`{_step(step)}`" for step in steps) or "nothing to do"


def _step(step: Step) -> str:
    words = [
        f"{name} = {f'format of the {value.name.lower()}' if isinstance(value, Format) else value}"
        for name, value in step.templates
    ]
    templates = f"<{', '.join(words)}>" if words else ""
    return f"{step.call}{templates}({', '.join(map(str, (*step.slots, *step.scalars)))})"
