"""What a program of the corpus is: a name, arguments with their numbers, and StableHLO text.

Most are functions of JAX, which its own lowering turns into text; what JAX never says is written as
text. The name of a program is that of its operation, the type of its first argument, and a variant:
`add-bf16-33x70-by_row`.

An argument is described by `DTYPE SHAPE [DOMAIN]`, for example `f32 33x70`, `i32 5 in 0 33` (whole
numbers from 0 to 32), `bf16 31x65 in 0.1 4` (numbers between them), `f32 scalar`. Domains with a
name are the functions in `DOMAINS`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

# A function of arrays of JAX; its results are an array, or tuples and lists of them.
Function = Callable[..., Any]
Numbers = NDArray[Any]
Domain = Callable[[np.random.Generator, tuple[int, ...]], Numbers]

# Its own types leave much unknown.
JAX: Any = import_module("jax")

# The types of elements by their short names in JAX, with their names in MLIR where these differ.
DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "i1": np.bool_,
    "c64": np.complex64,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "i4": ml_dtypes.int4,
}
_MLIR_NAMES = {"c64": "complex<f32>", "f8e4m3fn": "f8E4M3FN", "f8e5m2": "f8E5M2"}
_WIDE = {"f64", "i64", "u64"}
_ARGUMENT = re.compile(r"(\w+) (scalar|[\dx]+)(?: (in) (\S+) (\S+)| (\w+))?")


def _positive_definite(generator: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    factor = generator.standard_normal(shape)
    return factor @ np.swapaxes(factor, -1, -2) + shape[-1] * np.eye(shape[-1])


def _special(generator: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    choices = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan]
    return generator.choice(choices, shape)


def _distinct(generator: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    count = int(np.prod(shape))
    return (generator.permutation(count) - count // 2).reshape(shape)


def _whole(generator: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return generator.integers(1, 4, shape)


def _zero(generator: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return np.zeros(shape)


# Domains that are more than an interval: matrices that `cholesky` takes, infinities and NaN among
# other numbers, whole numbers that do not repeat, those from 1 to 3, and state that starts at zero.
DOMAINS: dict[str, Domain] = {
    "definite": _positive_definite,
    "special": _special,
    "distinct": _distinct,
    "whole": _whole,
    "zero": _zero,
}


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument of a program: its type, and the domain that its numbers are drawn from."""

    dtype: str
    shape: tuple[int, ...]
    domain: Domain | None = None
    interval: tuple[float, float] | None = None

    @property
    def mlir_type(self) -> str:
        """Its type as MLIR writes it."""
        return tensor_type(self.dtype, self.shape)

    @property
    def shape_name(self) -> str:
        """Its shape as names of programs have it."""
        return "x".join(map(str, self.shape)) or "scalar"

    def draw(self, generator: np.random.Generator) -> Numbers:
        """Numbers of its domain; by default floats are normal, and integers of one digit."""
        dtype = np.dtype(DTYPES[self.dtype])
        if self.domain is not None:
            return self.domain(generator, self.shape).astype(dtype)
        if dtype == np.bool_:
            return generator.integers(0, 2, self.shape).astype(dtype)
        if self.dtype[0] in "iu":
            low, high = self.interval or (0 if self.dtype[0] == "u" else -9, 10)
            low, high = (-3, 4) if self.dtype == "i4" else (low, high)
            return generator.integers(int(low), int(high), self.shape).astype(dtype)
        if self.interval is not None:
            return generator.uniform(*self.interval, self.shape).astype(dtype)
        numbers = generator.standard_normal(self.shape)
        if dtype == np.complex64:
            return (numbers + 1j * generator.standard_normal(self.shape)).astype(dtype)
        return np.asarray(numbers).astype(dtype)


def argument(description: str) -> Argument:
    """Read `DTYPE SHAPE [DOMAIN]`."""
    match = _ARGUMENT.fullmatch(description)
    if match is None or match[1] not in DTYPES:
        raise ValueError(f"expected DTYPE SHAPE [in LOW HIGH | DOMAIN], got {description!r}")
    shape = () if match[2] == "scalar" else tuple(map(int, match[2].split("x")))
    interval = (float(match[4]), float(match[5])) if match[3] else None
    domain = DOMAINS[match[6]] if match[6] else None
    return Argument(dtype=match[1], shape=shape, domain=domain, interval=interval)


def tensor_type(dtype: str, shape: tuple[int, ...]) -> str:
    """The type of a tensor as MLIR writes it, by the short name of its elements."""
    element = f"ui{dtype[1:]}" if dtype[0] == "u" else _MLIR_NAMES.get(dtype, dtype)
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program of the corpus; exactly one of `function` and `written` makes its text.

    `donated` are the numbers of arguments whose memory the results may take. `located` keeps the
    lines of the source in the text.
    """

    name: str
    arguments: tuple[Argument, ...]
    function: Function | None = None
    written: str | None = None
    wide: bool = False
    donated: tuple[int, ...] = ()
    located: bool = False

    def text(self) -> str:
        """Its StableHLO module, whose function is `@main`."""
        if self.written is not None:
            return self.written
        return self._lower()

    def inputs(self) -> list[Numbers]:
        """Its arguments' numbers, always the same ones."""
        generator = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [each.draw(generator) for each in self.arguments]

    def _lower(self) -> str:
        def call(*values: Any) -> Any:
            assert self.function is not None
            return self.function(*values)

        call.__name__ = re.sub(r"\W", "_", self.name)
        with _settings(wide=self.wide or any(each.dtype in _WIDE for each in self.arguments)):
            # JAX remembers bodies by their types: a new start makes the text independent of others.
            JAX.clear_caches()
            types = [
                JAX.ShapeDtypeStruct(each.shape, DTYPES[each.dtype]) for each in self.arguments
            ]
            jitted = JAX.jit(call, donate_argnums=self.donated, keep_unused=True)
            return jitted.lower(*types).as_text(debug_info=self.located)


@contextmanager
def _settings(*, wide: bool) -> Generator[None]:
    """JAX with or without types of 64 bits, and without the folders of sources in its text."""
    canonical = "jax_hlo_source_file_canonicalization_regex"
    options = JAX.config
    before = options.values[canonical], options.values["jax_enable_x64"]
    options.update(canonical, ".*/")
    options.update("jax_enable_x64", wide)
    try:
        yield
    finally:
        options.update(canonical, before[0])
        options.update("jax_enable_x64", before[1])


class Family:
    """Collects the programs of one module."""

    def __init__(self) -> None:
        """Start without programs."""
        self.programs: list[Program] = []

    def add(
        self,
        operation: str,
        function: Function,
        *arguments: str,
        variant: str = "",
        wide: bool = False,
        donated: tuple[int, ...] = (),
        located: bool = False,
    ) -> None:
        """Add a function of JAX."""
        taken = tuple(map(argument, arguments))
        program = Program(
            name=_name(operation, taken, variant),
            arguments=taken,
            function=function,
            wide=wide,
            donated=donated,
            located=located,
        )
        self.programs.append(program)

    def write(
        self,
        operation: str,
        body: str,
        *arguments: str,
        variant: str = "",
        functions: str = "",
    ) -> None:
        """Add a module by the body of its `@main`, which takes `%arg0`, `%arg1` and so on.

        Its last line is `return %0 : TYPE`. `functions` are further ones of the module.
        """
        taken = tuple(map(argument, arguments))
        name = _name(operation, taken, variant)
        lines = [" ".join(line.split()) for line in body.strip().splitlines()]
        _, _, results = lines[-1].partition(" : ")
        parameters = ", ".join(f"%arg{i}: {each.mlir_type}" for i, each in enumerate(taken))
        text = "\n".join(
            [
                f"module @{re.sub(r'[^0-9a-z_]', '_', name)} {{",
                f"  func.func public @main({parameters}) -> ({results}) {{",
                *(f"    {line}" for line in lines),
                "  }",
                *(f"  {line}" for line in functions.splitlines()),
                "}\n",
            ]
        )
        self.write_module(operation, text, *arguments, variant=variant)

    def write_module(self, operation: str, text: str, *arguments: str, variant: str = "") -> None:
        """Add a module by its whole text."""
        taken = tuple(map(argument, arguments))
        name = _name(operation, taken, variant)
        self.programs.append(Program(name=name, arguments=taken, written=text))


def _name(operation: str, arguments: tuple[Argument, ...], variant: str) -> str:
    parts = [operation]
    if arguments:
        parts += [arguments[0].dtype, arguments[0].shape_name]
    return "-".join([*parts, variant] if variant else parts)
