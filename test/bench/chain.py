"""Programs for the benchmarks: chains of elementwise operations and perceptrons."""

from __future__ import annotations

HEADER = """\
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
"""
_MNEMONICS = ("add", "relu", "multiply", "exp", "subtract", "sigmoid")
_BINARY = frozenset({"add", "multiply", "subtract"})

Value = tuple[str, str]
"""Name and type."""


def chain(length: int) -> str:
    """A function of `length` elementwise operations, each on the result of the one before."""
    tensor = "tensor<64x128xf32>"
    lines = [f"func.func @chain(%arg0: {tensor}, %arg1: {tensor}) -> {tensor} {{"]
    value = ("%arg0", tensor)
    for number in range(length):
        mnemonic = _MNEMONICS[number % len(_MNEMONICS)]
        others = [("%arg1", tensor)] if mnemonic in _BINARY else []
        lines += elementwise(f"{number}", mnemonic, [value, *others], tensor)
        value = (f"%v{number}", tensor)
    return HEADER + "\n".join([*lines, f"  return {value[0]} : {tensor}", "}"]) + "\n"


def perceptron(layers: int, width: int) -> str:
    """Layers of matmul, bias and relu; the arguments are the batch, then weights and biases."""
    matrix, row = f"tensor<{width}x{width}xf32>", f"tensor<1x{width}xf32>"
    arguments = "".join(f", %w{i}: {matrix}, %b{i}: {row}" for i in range(layers))
    lines = [f"func.func @mlp(%x: {matrix}{arguments}) -> {matrix} {{"]
    value = ("%x", matrix)
    for i in range(layers):
        lines += operation(f"{i}p", "matmul", [value, (f"%w{i}", matrix)], matrix)
        lines += elementwise(f"{i}s", "add", [(f"%v{i}p", matrix), (f"%b{i}", row)], matrix)
        lines += elementwise(f"{i}r", "relu", [(f"%v{i}s", matrix)], matrix)
        value = (f"%v{i}r", matrix)
    return HEADER + "\n".join([*lines, f"  return {value[0]} : {matrix}", "}"]) + "\n"


def elementwise(suffix: str, mnemonic: str, inputs: list[Value], output: str) -> list[str]:
    """Lines of an operation with variadic inputs and outputs."""
    segments = f"operandSegmentSizes = array<i32: {len(inputs)}, 1>, "
    return operation(suffix, mnemonic, inputs, output, segments)


def operation(
    suffix: str, mnemonic: str, inputs: list[Value], output: str, properties: str = ""
) -> list[str]:
    """Lines of an operation `%v<suffix>` and its destination `%e<suffix>`."""
    names, types = zip(*inputs, (f"%e{suffix}", output), strict=True)
    constraints = ", ".join(["#any_device"] * len(names))
    return [
        f"  %e{suffix} = tensor.empty() : {output}",
        f'  %v{suffix} = "ttir.{mnemonic}"({", ".join(names)}) '
        f"<{{{properties}operand_constraints = [{constraints}]}}> : "
        f"({', '.join(types)}) -> {output}",
    ]
