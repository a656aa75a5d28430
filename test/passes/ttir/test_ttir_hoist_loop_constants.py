"""Constants of loops are made once; each iteration gets them."""

from __future__ import annotations

from running.pass_runner import printed

PASS = "ttir-hoist-loop-constants"
V = "tensor<3x5xf32>"


def constant(number: int) -> str:
    """A constant of one number."""
    return f'"ttir.constant"() <{{value = dense<{number}.0> : {V}}}> : () -> {V}'


def loop(name: str, body: str, operand: str) -> str:
    """A counted loop."""
    return f'{name} = "ttir.while"({operand}) <{{body = @{body}, trip_count = 9 : i64}}> : '


def test_inner_loops_hand_their_constants_on() -> None:
    """From the innermost body to the program; equal ones are one."""
    text = f"""
func.func @main(%x: {V}) -> {V} {{
  {loop("%0", "outer", "%x")} ({V}) -> {V}
  return %0 : {V}
}}
func.func private @outer(%x: {V}) -> {V} {{
  %c = {constant(2)}
  {loop("%0", "inner", "%c")} ({V}) -> {V}
  return %0 : {V}
}}
func.func private @inner(%x: {V}) -> {V} {{
  %c = {constant(3)}
  return %c : {V}
}}
"""
    lines = [line.strip() for line in printed(text, PASS).splitlines()]
    main = lines.index(f"func.func @main(%arg0: {V}) -> {V} {{")
    outer = lines.index(f"func.func private @outer(%arg0: {V}, %arg1: {V}, %arg2: {V}) -> {V} {{")
    inner = lines.index(f"func.func private @inner(%arg0: {V}, %arg1: {V}) -> {V} {{")
    made = [number for number, line in enumerate(lines) if "ttir.constant" in line]
    assert all(main < number < outer for number in made)
    assert len(made) == 2
    assert any('"ttir.while"(%arg1, %arg2)' in line for line in lines[outer:inner])
    assert lines[inner + 1] == f"return %arg1 : {V}"


def test_conditions_have_the_same_arguments() -> None:
    """A constant of a condition is one of the body, too, which ignores it."""
    text = f"""
func.func @main(%x: {V}) -> {V} {{
  %0 = "ttir.while"(%x) <{{body = @body, condition = @condition}}> : ({V}) -> {V}
  return %0 : {V}
}}
func.func private @body(%x: {V}) -> {V} {{
  return %x : {V}
}}
func.func private @condition(%x: {V}) -> tensor<1xf32> {{
  %c = "ttir.constant"() <{{value = dense<1.0> : tensor<1xf32>}}> : () -> tensor<1xf32>
  return %c : tensor<1xf32>
}}
"""
    result = printed(text, PASS)
    assert f"@body(%arg0: {V}, %arg1: tensor<1xf32>) -> {V} {{" in result
    assert f"@condition(%arg0: {V}, %arg1: tensor<1xf32>) -> tensor<1xf32> {{" in result


def test_functions_of_others_keep_their_constants() -> None:
    """Here of two loops."""
    text = f"""
func.func @main(%x: {V}) -> {V} {{
  {loop("%0", "body", "%x")} ({V}) -> {V}
  {loop("%1", "body", "%0")} ({V}) -> {V}
  return %1 : {V}
}}
func.func private @body(%x: {V}) -> {V} {{
  %c = {constant(2)}
  return %c : {V}
}}
"""
    assert f"@body(%arg0: {V}) -> {V} {{" in printed(text, PASS)
