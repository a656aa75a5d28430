"""The page of kernel calls: a line for the definition of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ttmlir.optable.kernel import (
    SPELLINGS,
    Cost,
    Form,
    KernelCall,
    Role,
    cpp_calls,
    data_movement,
    matrix,
    vector,
)
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Format, Step, TileCall

INTRODUCTION = """\
# Kernel calls

Every call that a kernel can make on a core, from
[`ttmlir/optable/kernel/`](../ttmlir/optable/kernel), which also has the header of each call and the
source of each figure. Names are those of TT-Metalium's C++. Each call is an operation of the
dialect `ttkernel`, with template arguments as attributes; where the operation has another name, it
follows as `= name`. `[, ...]` are parameters with default values. After a call, `_init` says that
the call with this suffix prepares it, with the same template arguments and no operands, and
`_int32` that the call with this suffix does the same on integers.

*Processors*, in parentheses unless a section names them once: where a call does something;
elsewhere it compiles to nothing. `data` is BRISC and NCRISC; `unpack`, `math` and `pack` are the
threads of a compute kernel, `compute` all three.

*Cycles*, in brackets: how long a call keeps each thread busy for every tile of 32x32 elements of 16
bits, on Wormhole. `x phases`: times the phases of math fidelity, 1 (LoFi) to 4 (HiFi4). `~`: no
figure is public; the number is 32 cycles for each of an estimated number of vector instructions.
What waits or moves data takes as long as the network and the other threads make it take.
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
_SPELLINGS = """\
## Other names

What calls are named in other releases, with the same operands.
"""
_MAPPING = """\
## Elementwise operations as calls

The calls that compute an elementwise operation of `ttir` on tiles of floating-point numbers and of
32-bit integers. Operands are copied to the tiles 0, 1, ... of DST; each step is prepared by its
`_init`; the result is in tile 0. The matrix unit takes floating-point tiles from circular buffers
directly.
"""


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
    yield f"Processors: {usual}{', unless another follows' if others else ''}.\n"
    for call, suffixes in _merged(listed):
        names = ", ".join([_call(call), *(f"`{suffix}`" for suffix in suffixes)])
        where = _where(call.roles)
        roles = "" if where == usual else f" ({where})"
        cycles = _cycles_of(call)
        yield f"- {names}{roles}: {_effect(call)}{f' [{cycles}]' if cycles else ''}"
    yield ""


def _merged(calls: list[KernelCall]) -> list[tuple[KernelCall, list[str]]]:
    """Calls with the suffixes of those that are alike but for the name, or only prepare them."""
    by_name = {call.mnemonic: call for call in calls}
    suffixes: dict[str, list[str]] = {name: [] for name in by_name}
    for name, call in by_name.items():
        base, _, last = name.rpartition("_")
        if base in by_name and (
            _prepares(call, by_name[base]) if last == "init" else _is_like(call, by_name[base])
        ):
            suffixes[base].append(f"_{last}")
            del suffixes[name]
    return [(by_name[name], names) for name, names in suffixes.items()]


def _prepares(call: KernelCall, other: KernelCall) -> bool:
    """Whether a call prepares another one, and that is all there is to say of it."""
    return (
        call.summary == f"Prepare `{other.cpp}`."
        and call.cpp == f"{other.cpp}_init"
        and _call(call) == f"`{_name(other).replace(other.cpp, call.cpp, 1)}()`"
        and call.roles == other.roles
        and not _cycles_of(call)
    )


def _is_like(call: KernelCall, other: KernelCall) -> bool:
    """Whether calls differ in nothing but a suffix of the name."""
    suffix = call.mnemonic.removeprefix(other.mnemonic)
    return (
        _call(call) == _call(other).replace(other.cpp, other.cpp + suffix, 1)
        and call.roles == other.roles
        and (_effect(call), _cycles_of(call)) == (_effect(other), _cycles_of(other))
    )


def _cpp_calls() -> Iterator[str]:
    yield _CPP_CALLS
    yield from _list(cpp_calls.CALLS)


def _spellings() -> Iterator[str]:
    yield _SPELLINGS
    yield ", ".join(f"`{name}` = `{call}`" for name, call in SPELLINGS.items()) + "."
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
    accumulates = call.tiles is not None and call.tiles.accumulates
    return f"{call.summary} Added to what DST holds." if accumulates else call.summary


def _cycles_of(call: KernelCall) -> str:
    cycles = _cycles(call.cost)
    if call.approximation is None:
        return cycles
    flags = " and ".join(f"`{flag}`" for flag in call.approximation.flags)
    return f"{cycles}; with {flags}: {_cycles(call.approximation.cost)}"


def _cycles(cost: Cost) -> str:
    parts: list[str] = []
    for name, count in (("unpack", cost.unpack), ("math", cost.math), ("pack", cost.pack)):
        if count:
            phases = " x phases" if cost.phases and name == "math" else ""
            parts.append(f"{name} {'~' if cost.estimated else ''}{count}{phases}")
    if cost.blackhole:
        parts.append(f"on Blackhole {cost.blackhole}")
    return ", ".join(parts)


def _mapping() -> Iterator[str]:
    yield _MAPPING
    for mnemonic, tile_call in TILE_CALLS.items():
        steps = {
            "": _steps(tile_call.floats),
            "integers: ": _steps_of_integers(tile_call),
            "matrix unit: ": f"`{tile_call.matrix_unit}`" if tile_call.matrix_unit else "",
        }
        text = ". ".join(f"{which}{calls}" for which, calls in steps.items() if calls)
        yield f"- `{mnemonic}`: {text}"
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
