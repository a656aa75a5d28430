"""What is the same in each iteration is computed once, and results stay the same."""

from __future__ import annotations

import re

import numpy as np
from running.pass_runner import executed, printed

PASSES = ("ttir-hoist-loop-constants", "ttir-loop-invariant-code-motion")
V = "tensor<3x5xf32>"


TILE = "#tt.operand_constraint<dram|l1|tile>"


def elementwise(name: str, *operands: str) -> str:
    """An operation on elements, whose destination is `%e`."""
    count = len(operands)
    constraints = ", ".join([TILE] * (count + 1))
    types = ", ".join([V] * (count + 1))
    return (
        f'"ttir.{name}"({", ".join(operands)}, %e) '
        f"<{{operandSegmentSizes = array<i32: {count}, 1>, "
        f"operand_constraints = [{constraints}]}}> : ({types}) -> {V}"
    )


def loop(body: str, second: str = "%a1", **properties: str) -> str:
    """A loop that carries `%a0`."""
    given = ", ".join(f"{name} = {value}" for name, value in properties.items())
    return f'"ttir.while"(%a0, {second}) <{{body = @{body}, {given}}}> : ({V}, {V}) -> {V}'


def function(name: str, text: str) -> str:
    """A function of the tensors `%a0` and `%a1` with the result `%r`."""
    visibility = "" if name == "main" else "private "
    return (
        f"func.func {visibility}@{name}(%a0: {V}, %a1: {V}) -> {V} {{\n"
        f"%e = tensor.empty() : {V}\n{text}\nreturn %r : {V}\n}}\n"
    )


NESTED = (
    function("main", f"%r = {loop('outer', trip_count='3 : i64')}")
    + function(
        "outer",
        f"%0 = {loop('inner', trip_count='2 : i64')}\n%r = {elementwise('sin', '%0')}",
    )
    + function(
        "inner",
        f"%0 = {elementwise('exp', '%a1')}\n%1 = {elementwise('neg', '%0')}\n"
        f"%2 = {elementwise('cos', '%a0')}\n%r = {elementwise('add', '%1', '%2')}",
    )
)


def functions(text: str) -> dict[str, str]:
    """The bodies of the functions of a module, by name."""
    parts = re.split(r"func\.func (?:private )?@(\w+)", printed(text, *PASSES))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_out_of_all_loops() -> None:
    """What depends on nothing that a loop carries ends in the program, in order."""
    found = functions(NESTED)
    places = [found["main"].find(f"ttir.{name}") for name in ("exp", "neg", "while")]
    assert places == sorted(places)
    assert min(places) >= 0
    assert not re.search("exp|neg", found["outer"] + found["inner"])
    assert "ttir.cos" in found["inner"]
    assert found["inner"].count("tensor.empty") == 1


def test_results() -> None:
    """As NumPy computes the loops as they are written."""
    x, w = np.random.default_rng(3).uniform(-1, 1, (2, 3, 5)).astype(np.float32)
    expected = x
    for _ in range(3):
        for _ in range(2):
            expected = -np.exp(w) + np.cos(expected)
        expected = np.sin(expected)
    (result,) = executed(NESTED, [x, w])
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_a_condition_has_the_same_arguments() -> None:
    """What a condition computes alike is computed once, and the body ignores it."""
    asked = loop("body", condition="@condition")
    text = (
        function("main", f"%r = {asked}")
        + function(
            "body",
            f"%0 = {elementwise('neg', '%a1')}\n%r = {elementwise('add', '%a0', '%0')}",
        )
        + f"""
    func.func private @condition(%a0: {V}, %a1: {V}) -> tensor<1x1xf32> {{
      %e = tensor.empty() : {V}
      %0 = {elementwise("exp", "%a1")}
      %1 = {elementwise("gt", "%a0", "%0")}
      %f = tensor.empty() : tensor<1x1xf32>
      %r = "ttir.slice"(%1, %f) <{{begins = [2 : i32, 4 : i32], ends = [3 : i32, 5 : i32],
          step = [1 : i32, 1 : i32], operand_constraints = [{TILE}, {TILE}]}}>
          : ({V}, tensor<1x1xf32>) -> tensor<1x1xf32>
      return %r : tensor<1x1xf32>
    }}"""
    )
    found = functions(text)
    assert re.search(r"while.\(%arg0, %arg1, %\d, %\d\)", found["main"])
    assert not re.search("exp|neg", found["body"] + found["condition"])
    assert 'ttir.add"(%arg0, %arg2' in found["body"]
    assert 'ttir.gt"(%arg0, %arg3' in found["condition"]
    w = np.full((3, 5), 0.5, np.float32)
    (result,) = executed(text, [w * 10, w])
    expected = w * 10
    while expected[2, 4] > np.exp(w)[2, 4]:
        expected = expected - w
    np.testing.assert_allclose(result, expected)


def test_what_two_loops_call_keeps_its_code() -> None:
    """Their shared operands differ."""
    first, second = loop("body", trip_count="3 : i64"), loop("body", "%0", trip_count="3 : i64")
    text = function("main", f"%0 = {first}\n%r = {second}") + function(
        "body", f"%0 = {elementwise('exp', '%a1')}\n%r = {elementwise('add', '%a0', '%0')}"
    )
    assert "ttir.exp" in functions(text)["body"]
