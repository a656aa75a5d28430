"""Divisors, parts of numbers, polynomials and derivatives of lgamma, against torch itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
special: Any = import_module("torch.special")


BOTH = (torch.gcd, torch.lcm)


def check(functions: Sequence[Callable[..., Any]], *arguments: Any, rtol: float = 1e-5) -> None:
    """All functions in one program return what torch does."""

    def model(*arguments: Any) -> Any:
        return [function(*arguments) for function in functions]

    found = ttmlir.compile(model, *arguments)(*arguments)
    for function, first, second in zip(functions, found, model(*arguments), strict=True):
        name = getattr(function, "__name__", "")
        torch.testing.assert_close(first, second, rtol=rtol, atol=1e-5, equal_nan=True, msg=name)


def test_common_divisors_and_multiples() -> None:
    """Of numbers with signs, zeros, and neighbours in Fibonacci's sequence."""
    a = torch.tensor([12, -18, 0, 7, 0, 21, 2147483647, 1134903170], dtype=torch.int32)
    b = torch.tensor([18, 12, 5, 0, 0, 14, 46341, 701408733], dtype=torch.int32)
    short = [(lambda a, b, f=f: f(a[:6].to(torch.int8), b[:6].to(torch.int8))) for f in BOTH]
    check([torch.gcd, *short], a, b)


def test_parts_and_neighbours_of_numbers() -> None:
    """Zeros, numbers below the normal ones, infinity and NaN."""
    inf, nan = torch.inf, torch.nan
    x = torch.tensor([0.0, -0.0, 1.0, -3.7, 1e-40, inf, nan, 1e30, -(2.0**-126)])
    y = torch.tensor([1.0, -1.0, 2.0, -5.0, -1.0, 0.0, 1.0, inf, 0.0])
    check(
        [
            lambda x, y: torch.frexp(x),
            lambda x, y: torch.frexp(x.bfloat16()),
            torch.nextafter,
            lambda x, y: torch.angle(x),
            lambda x, y: torch.dist(x[:5], y[:5]),
            lambda x, y: torch.dist(x[:5], y[:5], 1),
        ],
        x,
        y,
        rtol=0,
    )


NAMES = (
    *(f"{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_") for kind in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he"),
    *("laguerre_polynomial_l", "legendre_polynomial_p"),
)


def test_orthogonal_polynomials() -> None:
    """Of degrees that are known, those that are none included."""

    def of(name: str, degree: int) -> Callable[[Any], Any]:
        return lambda x: getattr(special, name)(x, degree)

    degrees = [(name, number % 5) for number, name in enumerate(NAMES)]
    check(
        [of(*each) for each in (*degrees, ("hermite_polynomial_h", -1))],
        torch.linspace(-1.5, 1.5, 7),
    )


def test_derivatives_of_lgamma() -> None:
    """Below 0, too, where torch continues them; at whole numbers they are infinite."""
    x = torch.tensor([-2.5, -0.3, -7.25, 0.0, 0.4, 2.0, -1.75])
    check([lambda x, n=n: torch.polygamma(n, x) for n in range(5)], x, rtol=1e-4)
    whole = torch.tensor([-3.0, -1.0])
    check([lambda x, n=n: torch.polygamma(n, x) for n in (2, 3)], whole)


def test_places_of_a_single_number() -> None:
    """Numbers of no dimension have one place."""
    x = torch.tensor(3.0)
    check([lambda x: x.index_select(0, torch.tensor([0])), lambda x: torch.permute_copy(x, ())], x)


def test_numbers_that_the_program_computes() -> None:
    """`x.item()` filled in, and as a factor; elsewhere refused by the name of the argument."""

    def use(x: Any, y: Any) -> Any:
        number = x.item()
        return torch.full((2, 3), number) + y, y.add(y, alpha=number), torch.scalar_tensor(number)

    x, y = torch.tensor(2.5), torch.tensor([1.0, -2.0, 0.5])
    found = ttmlir.compile(use, x, y)(x * 2, y)
    torch.testing.assert_close(found, use(x * 2, y))
    for function, name in {
        torch.nn.functional.elu: "alpha",
        torch.nn.functional.leaky_relu: "negative_slope",
    }.items():
        with pytest.raises(ttmlir.CompilationError) as caught:
            ttmlir.compile(lambda x, y, function=function: function(y, x.item()), x, y)
        assert f"'{name}' has to be a number of Python's" in str(caught.value)
