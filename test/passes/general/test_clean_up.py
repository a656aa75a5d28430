"""Cleaning up does to constants and unused operations what MLIR's greedy rewriter does."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from ttmlir.dialects import DIALECTS
from ttmlir.ir.rewriting import clean_up
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module

MLIR_OPT = shutil.which("mlir-opt-19")


def _random_function(seed: int) -> str:
    """Constants, some of them equal, destinations and users in any order, some in regions."""
    rng = random.Random(seed)
    lines, constants = list[str](), list[str]()
    for number in range(rng.randrange(1, 14)):
        kind = rng.choice(["constant", "constant", "empty", "use", "region"])
        if kind == "constant":
            constants.append(f"%c{number}")
            lines.append(f"%c{number} = arith.constant {rng.randrange(4)} : i32")
        elif kind == "empty":
            lines.append(f"%e{number} = tensor.empty() : tensor<{number + 1}xf32>")
        elif constants and kind == "use":
            lines.append(f'"x.use"({rng.choice(constants)}) : (i32) -> ()')
        elif constants:
            lines.append(
                f'"x.region"() ({{\n%r{number} = arith.constant {rng.randrange(4)} : i32\n'
                f'"x.use"(%r{number}, {rng.choice(constants)}) : (i32, i32) -> ()\n}}) : () -> ()'
            )
    # A constant without users is unused; those of ttir stay, those of arith vanish.
    lines += [f'"x.use"({constant}) : (i32) -> ()' for constant in constants]
    return "func.func @f() {\n" + "\n".join(lines) + "\nreturn\n}"


def _cleaned_up(text: str) -> str:
    module = parse_module(text, "test.mlir", make_context(DIALECTS, allow_unregistered=True))
    clean_up(module)
    return print_module(module)


def _by_mlir(text: str) -> str:
    assert MLIR_OPT is not None
    command = [MLIR_OPT, "--canonicalize", "--allow-unregistered-dialect"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-19 is not installed")
@pytest.mark.parametrize("seed", range(40))
def test_constants_end_up_where_mlir_puts_them(seed: int) -> None:
    """Order and merging are those of MLIR."""
    text = _random_function(seed)
    assert _cleaned_up(text).strip() == _by_mlir(text).strip()


def test_unused_chain_vanishes() -> None:
    """An operation whose only user vanishes, vanishes."""
    text = """
      func.func @f(%a: i32) {
        %0 = arith.addi %a, %a : i32
        %1 = arith.muli %0, %0 : i32
        return
      }"""
    assert "arith" not in _cleaned_up(text)


def test_what_is_not_known_stays() -> None:
    """An operation of no dialect may do anything, so nothing that it uses vanishes either."""
    text = """
      func.func @f(%a: i32) {
        %0 = arith.addi %a, %a : i32
        %1 = "some.operation"(%0) : (i32) -> i32
        return
      }"""
    cleaned = _cleaned_up(text)
    assert '"some.operation"(%0)' in cleaned
    assert "arith.addi" in cleaned


def test_functions_keep_their_own_constants() -> None:
    """Constants do not move from one function to another."""
    text = """
      func.func @f() -> i32 {
        %0 = arith.constant 3 : i32
        return %0 : i32
      }
      func.func @g() -> i32 {
        %0 = arith.constant 3 : i32
        return %0 : i32
      }"""
    assert _cleaned_up(text).count("arith.constant 3") == 2
