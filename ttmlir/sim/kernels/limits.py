"""How much a kernel may ask of the compiler and of its processor."""

from __future__ import annotations

MAX_STEPS = 100_000
"""How many expressions, statements and elements one kernel is compiled to, with all instances of
its functions and templates."""

MAX_CALL_NESTING = 128
"""How deep functions are compiled inside of each other: `f<N>` that calls `f<N + 1>`."""

MAX_CASES = 256
"""How many groups of cases a switch has."""

STACK_BYTES = 8192
"""What the variables of a function may take: the memory of a processor on Blackhole, the largest
(tt-isa-documentation, BabyRISCV/README.md)."""

MAX_NOTES = 6
"""How many templates around an error are named."""

MAX_PACK = 256
"""How many elements a parameter pack has."""

MAX_DESTROYED = 64
"""How many elements an array of objects with a destructor has."""

MAX_TYPE_NAME = 16_384
"""How many characters the name of a type has, with those of the types in it."""

MAX_FOLDED_STEPS = 100_000
"""How many iterations of loops and calls the constants of one kernel take to compute."""
