"""The page about the C++ of kernels, from the tests of its features in `test/cpp`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.nesting import MAX_NESTING
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.limits import (
    MAX_CALL_NESTING,
    MAX_CASES,
    MAX_FOLDED_STEPS,
    MAX_PACK,
    MAX_STEPS,
    STACK_BYTES,
)

TESTS = Path(__file__).resolve().parents[2] / "test" / "cpp"

CHAPTERS: Mapping[str, tuple[str, ...]] = {
    "Text": ("macros", "namespaces", "attributes_and_assembly", "strings"),
    "Values": (
        *("integers", "floating", "enumerations", "arrays", "initial_values"),
        "initializer_lists",
        *("pointers_and_references", "unions", "bits"),
    ),
    "Statements": ("statements", "cases", "jumps", "bindings_and_ranges", "static_data"),
    "Functions": (
        *(
            "overloads",
            "templates",
            "packs_and_folds",
            "lambdas",
            "function_types",
            "variable_arguments",
            "constexpr_functions",
        ),
        "decltype_and_auto",
    ),
    "Classes": (
        *("class_with_methods", "access", "operators", "copies", "moves", "destructors"),
        "placed_objects",
        "inheritance",
        *("member_pointers", "class_template", "deduction_guides", "layout", "bit_fields"),
    ),
    "Standard library": ("standard_library", "algorithms", "numeric_limits", "optional_and_tie"),
}
"""The chapters, and the programs in `features` whose features they show."""

_INTRODUCTION = """\
# The C++ of kernels

Kernels are C++17 with the headers of tt-metal. This page lists the features that are supported, \
each with a link to the program that tests it, which gives the same numbers here as compiled by \
g++. An unsupported feature is an error at its location.

[kernel_calls.md](kernel_calls.md) lists the calls of the kernel library, and \
[metalium.md](metalium.md#headers) says where headers are looked for. `ttmlir-kernel check` \
([kernel_tool.md](kernel_tool.md)) compiles kernels without running them.

## Versions of tt-metal

By their names, kernels are of

- 2024 (September): `dataflow_api.h`, `compute_kernel_api/...`, `NAMESPACE` and `MAIN`, \
`InterleavedAddrGenFast`, `cb_interface`, `_init_short`
- 2025 (June): `compile_time_args.h`, `TensorAccessor`, `get_local_cb_interface`, orders of \
arguments that changed
- 2026 (February, and later names): `api/dataflow/...`, `api/compute/...`, `kernel_main` for all \
processors, named compile-time arguments, `Noc`, `CircularBuffer`, `dfb::` and `args::`

The language is the same for all of them, and one kernel may mix names of all years. Where a name
changed its meaning, the kernel's headers and its entry say which one it has, or `--tt-metal` of
`ttmlir-kernel check` (`release` of `compile_kernel`): the exponent of `power_tile` is an integer
until 2025 and the bits of a float since; the second flag of `exp_tile` asks for the fast form until
0.81 and for a factor there; `mm_init()` and others have circular buffers as defaults until 2025;
`#if` knows `get_compile_time_arg_val(n)`.

Of the 662 functions that the headers below `api/compute` of 0.81 declare, 654 are known. Left out
are those that read DST or flags for debugging, and `matmul_block_math_dynamic_throttle`.
Host programs of 0.81 pass the size of a page with every layout of a tensor:
`--tt-metal 0.81` reads compile-time arguments so.
"""

_DIFFERENCES = f"""\
## What differs from g++

Types are those of the 32-bit RISC-V processors of a Tensix tile, not those of the computer: \
`int`, `long`, `size_t` and pointers have 32 bits, `char` has no sign, and signed numbers wrap. \
`float` is computed in single precision on all of them.

What a compiler for a card does → what happens here:

- a shift by more places than the type has, division by zero, an index outside of an array, a \
variable that was never set, a null pointer: anything → a located error then, or when the kernel \
is compiled
- `a[i]` one row further in an array of arrays: reads the next row → an error
- arguments of a call: evaluated in any order → from left to right
- variables of a function: have addresses in the memory of the processor → have none: pointers to \
them point, and compare, but are no numbers
- a variable as one of another type: through any pointer → numbers only, by pointers, \
`std::bit_cast`, `memcpy` and unions
- `int` and `long`, `char` and `uint8_t`: types of their own → one type: overloads for both are \
ambiguous, a specialisation for each is refused unless both are defined alike, and \
`std::is_same_v<int, long>` is true
- initial values of `static` variables in functions: set when first reached → before the kernel \
starts
- objects with destructors that are static, or made in the condition of a loop: end at their time \
→ are refused
- a loop without end and without effect: may be left out → an error, if nothing else can end it; one
  that reads or writes a `volatile` variable has an effect
- memory of variables and constants: a few KiB, and nothing checks them → {STACK_BYTES} bytes for \
each function

What the compiler does for a kernel is bounded: \
{MAX_STEPS} expressions and statements with all instances of templates, {MAX_NESTING} of them \
inside of each other, as which the terms of one sum and a chain of `else if` count, \
{MAX_CALL_NESTING} templates or functions inside of each other, {MAX_PACK} elements of a pack, \
{MAX_CASES} groups of cases, {MAX_FOLDED_STEPS} steps for all constants \
([SECURITY.md](../SECURITY.md)).

## How errors are shown

As compilers show them: file, line and column, the line, and notes about the templates around it.
"""

_MISTAKE = """\
template <uint32_t N> void send(uint32_t cb) { cb_reserve_back(cb, N); cb_pushback(cb, N); }
void kernel_main() { send<4>(0); }
"""


@dataclass(frozen=True)
class Refusal:
    """A feature that is not read."""

    feature: str
    reason: str
    """Why, and what to write instead."""
    text: str
    """A kernel with it, or the part of one before `kernel_main`."""
    place: str
    """Line and column of the error."""
    message: str
    """Its beginning."""


@cache
def read_refusals() -> tuple[Refusal, ...]:
    """What `test/cpp/Inputs/refused.txt` lists."""
    listed = (TESTS / "Inputs" / "refused.txt").read_text(encoding="utf-8").strip()
    return tuple(map(_read_refusal, listed.split("\n\n")))


def _read_refusal(entry: str) -> Refusal:
    feature, reason, *lines = entry.splitlines()
    place, _, message = lines.pop().removeprefix("=> ").partition(": ")
    return Refusal(feature, reason, "\n".join(lines) + "\n", place, message)


def cpp_page() -> str:
    """The whole page."""
    return "\n".join((_INTRODUCTION, *_features(), _refused(), _DIFFERENCES, _error()))


def _error() -> str:
    """A kernel with a mistake, and the message about it."""
    try:
        compile_kernel(_MISTAKE, "kernel.cpp", Role.BRISC, api=DataMovementApi)
    except CppSyntaxError as error:
        return f"```cpp\n{_MISTAKE}```\n\n```text\n{error}\n```\n"
    raise AssertionError("the kernel has a mistake")


def _features() -> Iterator[str]:
    for chapter, names in CHAPTERS.items():
        yield f"## {chapter}\n"
        yield from map(_feature, names)
        yield ""


def _feature(name: str) -> str:
    """A feature: its title, what it covers, and the program that tests it."""
    text = (TESTS / "features" / f"{name}.cpp").read_text(encoding="utf-8")
    title, summary, _ = text.split("\n", 2)
    heading = title.removeprefix("// ")
    return f"- [{heading}](../test/cpp/features/{name}.cpp): {summary.removeprefix('// ')}"


def _refused() -> str:
    entries = "\n".join(f"- {each.feature}: {each.reason}" for each in read_refusals())
    return f"## What is refused, and what to do\n\n{entries}\n"
