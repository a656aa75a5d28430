"""Programs for the benchmarks: chains of elementwise operations and perceptrons."""

from __future__ import annotations

HEADER = """\
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
"""
_MNEMONICS = ("add", "relu", "multiply", "exp", "subtract", "sigmoid")
_BINARY = frozenset({"add", "multiply", "subtract"})


def chain(length: int) -> str:
    """A function of `length` elementwise operations, each on the result of the one before."""
    tensor = "tensor<64x128xf32>"
    lines = [f"func.func @chain(%arg0: {tensor}, %arg1: {tensor}) -> {tensor} {{"]
    value = "%arg0"
    for number in range(length):
        mnemonic = _MNEMONICS[number % len(_MNEMONICS)]
        inputs = [value, "%arg1"] if mnemonic in _BINARY else [value]
        lines.append(f"  %e{number} = tensor.empty() : {tensor}")
        lines.append(
            operation(f"%v{number}", mnemonic, [*inputs, f"%e{number}"], [tensor] * len(inputs), tensor)
        )
        value = f"%v{number}"
    return HEADER + "\n".join([*lines, f"  return {value} : {tensor}", "}"]) + "\n"


def perceptron(layers: int, width: int) -> str:
    """Layers of matmul, bias and relu; the arguments are the batch, then weights and biases."""
    matrix, row = f"tensor<{width}x{width}xf32>", f"tensor<1x{width}xf32>"
    arguments = "".join(f", %w{i}: {matrix}, %b{i}: {row}" for i in range(layers))
    lines = [f"func.func @mlp(%x: {matrix}{arguments}) -> {matrix} {{"]
    value = "%x"
    for i in range(layers):
        lines += [f"  %{name}{i} = tensor.empty() : {matrix}" for name in "def"]
        constraints = ", ".join(["#any_device"] * 3)
        lines.append(
            f'  %p{i} = "ttir.matmul"({value}, %w{i}, %d{i}) '
            f"<{{operand_constraints = [{constraints}]}}> : ({matrix}, {matrix}, {matrix}) -> {matrix}"
        )
        lines.append(
            operation(f"%s{i}", "add", [f"%p{i}", f"%b{i}", f"%e{i}"], [matrix, row], matrix)
        )
        lines.append(operation(f"%r{i}", "relu", [f"%s{i}", f"%f{i}"], [matrix], matrix))
        value = f"%r{i}"
    return HEADER + "\n".join([*lines, f"  return {value} : {matrix}", "}"]) + "\n"


def operation(
    result: str, mnemonic: str, operands: list[str], inputs: list[str], output: str
) -> str:
    """A line with an elementwise operation; the last operand is its destination."""
    constraints = ", ".join(["#any_device"] * len(operands))
    return (
        f'  {result} = "ttir.{mnemonic}"({", ".join(operands)}) '
        f"<{{operandSegmentSizes = array<i32: {len(inputs)}, 1>, "
        f"operand_constraints = [{constraints}]}}> : "
        f"({', '.join([*inputs, output])}) -> {output}"
    )
