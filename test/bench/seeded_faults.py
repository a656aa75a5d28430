"""Puts faults into the compiler, its definitions, kernels and files, and looks whether bisection
names them: the level, the operation and, of kernels, the kernel.

    python test/bench/seeded_faults.py

prints a table with a row for each fault.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from xdsl.dialects.builtin import MemRefType
from xdsl.rewriter import Rewriter

import ttmlir
from ttmlir.compiler import parse
from ttmlir.dialects.ttcore import ViewLayoutAttr
from ttmlir.interpreter import file_levels
from ttmlir.interpreter.bisection import Report, bisect, bisect_module
from ttmlir.ir.builder import Builder
from ttmlir.layout.affine import parse_affine_map
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.passes import convert_linalg_to_ttir
from ttmlir.passes.d2m.frontend.ttir_to_d2m import TTIRToD2MPass
from ttmlir.passes.d2m.schedule.d2m_grid_selection import D2MGridSelectionPass
from ttmlir.passes.stablehlo import convert_stablehlo_to_ttir
from ttmlir.passes.tosa import convert_tosa_to_ttir
from ttmlir.passes.ttir.decomposition import ttir_decomposition
from ttmlir.passes.ttnn.conversion.convert_ttir_to_ttnn import ConvertTTIRToTTNNPass
from ttmlir.runtime import metal_program
from ttmlir.schema import load_schema

MODELS = Path(__file__).resolve().parents[1] / "models"
TOSA = MODELS / "tosa_convnet.mlir"
LINALG = MODELS / "linalg_attention.mlir"
STABLEHLO = """
func.func @main(%x: tensor<3x7xf32>, %w: tensor<7x5xf32>, %b: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<3x5xf32>, tensor<2x10xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<3x7xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<5xf32>) -> tensor<3x5xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x5xf32>
  %3 = stablehlo.tanh %2 : tensor<3x5xf32>
  %4 = stablehlo.exponential %3 : tensor<3x5xf32>
  %5 = stablehlo.subtract %4, %2 : tensor<3x5xf32>
  %6 = stablehlo.divide %5, %4 : tensor<3x5xf32>
  %7 = stablehlo.maximum %6, %3 : tensor<3x5xf32>
  %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
  %10 = stablehlo.logistic %9 : tensor<5xf32>
  %11 = stablehlo.slice %7 [0:2, 0:5] : (tensor<3x5xf32>) -> tensor<2x5xf32>
  %12 = stablehlo.slice %6 [1:3, 0:5] : (tensor<3x5xf32>) -> tensor<2x5xf32>
  %13 = stablehlo.concatenate %11, %12, dim = 1
      : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x10xf32>
  %14 = stablehlo.compare GT, %7, %6 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
  %15 = stablehlo.select %14, %7, %2 : tensor<3x5xi1>, tensor<3x5xf32>
  return %10, %15, %13 : tensor<5xf32>, tensor<3x5xf32>, tensor<2x10xf32>
}
"""
BATCHES = """
func.func @main(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %x: tensor<1x8x8x3xf32>,
    %w: tensor<3x3x3x2xf32>) -> (tensor<2x3x5xf32>, tensor<1x3x3x2xf32>) {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
      : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %1 = stablehlo.tanh %0 : tensor<2x3x5xf32>
  %2 = stablehlo.convolution(%x, %w)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x6x6x2xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %3 = "stablehlo.reduce_window"(%2, %low) <{
      window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %most = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %most : tensor<f32>
  }) : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
  return %1, %3 : tensor<2x3x5xf32>, tensor<1x3x3x2xf32>
}
"""
KERNELS = """
func.func @main(%x: tensor<70x96xf32>, %w: tensor<96x130xf32>, %b: tensor<70x130xf32>)
    -> tensor<130x70xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<70x96xf32>, tensor<96x130xf32>) -> tensor<70x130xf32>
  %1 = stablehlo.subtract %0, %b : tensor<70x130xf32>
  %2 = stablehlo.tanh %1 : tensor<70x130xf32>
  %3 = stablehlo.exponential %2 : tensor<70x130xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<70x130xf32>) -> tensor<130x70xf32>
  return %4 : tensor<130x70xf32>
}
"""
GATHERS = """
func.func @main(%x: tensor<70x96xf32>) -> tensor<40x168xf32> {
  %0 = stablehlo.reshape %x : (tensor<70x96xf32>) -> tensor<40x168xf32>
  %1 = stablehlo.exponential %0 : tensor<40x168xf32>
  return %1 : tensor<40x168xf32>
}
"""
"""Rows of 96 elements become rows of 168, which readers gather from within tiles."""
BROADCASTS = """
func.func @main(%x: tensor<70x96xf32>, %b: tensor<96xf32>) -> tensor<70x96xf32> {
  %0 = stablehlo.tanh %x : tensor<70x96xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<96xf32>) -> tensor<70x96xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<70x96xf32>
  return %2 : tensor<70x96xf32>
}
"""
"""Readers read one row of the tiles of a vector that is repeated."""


@dataclass(frozen=True)
class Fault:
    """Something wrong, and what a bisection has to say of it."""

    kind: str
    """Where the fault is."""
    what: str
    level: str
    """At which the first difference is."""
    operation: str
    """The operation of the source, by a part of its text."""
    plant: Callable[[], Any]
    """A context in which the fault is there."""
    find: Callable[[], Report]
    kernel: str = ""
    """`reader`, `compute` or `writer`."""

    def is_named(self) -> bool:
        """True if the bisection names level, operation and kernel."""
        with self.plant():
            report = self.find()
        first = report.first
        if first is None or (first.level, self.operation in first.op) != (self.level, True):
            print(f"  {self.what}: {first}", file=sys.stderr)
            return False
        named = "" if report.kernel is None else report.kernel.kernel
        if named != self.kernel:
            print(f"  {self.what}: {report.kernel}", file=sys.stderr)
        return named == self.kernel


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Generator[None]:
    """An attribute, or an item of a dictionary, has another value."""
    if isinstance(owner, dict):
        kept = owner[name]
        owner[name] = value
        try:
            yield
        finally:
            owner[name] = kept
        return
    kept = getattr(owner, name)
    # Definitions are frozen, which does not keep a benchmark from changing them.
    change = object.__setattr__ if isinstance(owner, OpDefinition) else setattr
    change(owner, name, value)
    try:
        yield
    finally:
        change(owner, name, kept)


def negate_operand(op: Any, number: int = 0) -> None:
    """The operation reads the negative of an operand."""
    value = op.operands[number]
    op.operands[number] = Builder.before(op).create("neg", [value], value.type)


def swap_operands(op: Any) -> None:
    """The first two operands change places."""
    first, second = op.operands[:2]
    op.operands[0], op.operands[1] = second, first


Change = Callable[[Any], None]


def in_stablehlo(name: str, change: Change, source: str = STABLEHLO) -> Fault:
    """A rule of the conversion to ttir does something else."""
    rules: Any = convert_stablehlo_to_ttir.CONVERTED
    full = f"stablehlo.{name}"

    def wrong(op: Any) -> Any:
        change(op)
        return rule(op)

    rule = rules[full]
    return Fault(
        "stablehlo to ttir",
        f"{name}: {change.__name__}",
        "ttir",
        full,
        lambda: replaced(rules, full, wrong),
        lambda: bisect(source, seed=3),
    )


def in_tosa(name: str, change: Change) -> Fault:
    """A rule of the conversion of tosa to ttir does something else."""
    rules: Any = convert_tosa_to_ttir._CHECKED
    full = f"tosa.{name}"
    rule = rules[full]

    def wrong(op: Any) -> Any:
        change(op)
        return rule(op)

    return Fault(
        "tosa to ttir",
        f"{name}: {change.__name__}",
        "ttir",
        full,
        lambda: replaced(rules, full, wrong),
        lambda: bisect(TOSA.read_text(), seed=3),
    )


def in_linalg(name: str, change: Change) -> Fault:
    """A rule of the conversion of linalg to ttir does something else."""
    rules: Any = convert_linalg_to_ttir.RULES
    full = f"linalg.{name}"
    rule = rules[full]

    def wrong(op: Any) -> Any:
        change(op)
        return rule(op)

    return Fault(
        "linalg to ttir",
        f"{name}: {change.__name__}",
        "ttir",
        full,
        lambda: replaced(rules, full, wrong),
        lambda: bisect(LINALG.read_text(), seed=3),
    )


def in_decomposition(name: str, operation: str, source: str) -> Fault:
    """A rule that takes an operation apart reads the negative of an operand."""
    find_rule = ttir_decomposition._rule

    def wrong(asked: str) -> Any:
        rule = find_rule(asked)

        def change(op: Any) -> Any:
            negate_operand(op)
            return rule(op)

        return change if asked == name else rule

    return Fault(
        "ttir decomposition",
        f"{name}: negate_operand",
        "ttir decomposed",
        operation,
        lambda: replaced(ttir_decomposition, "_rule", wrong),
        lambda: bisect(source, seed=3),
    )


def in_pass(
    kind: str,
    pass_class: Any,
    name: str,
    change: Change,
    *,
    level: str,
    operation: str,
    find: Callable[[], Report],
    behind: bool = False,
) -> Fault:
    """An operation is changed in front of a pass, or `behind` it, as if the pass had done that."""
    apply = pass_class.apply

    def apply_wrong(self: Any, ctx: Any, module: Any) -> None:
        if behind:
            apply(self, ctx, module)
        for op in [op for op in module.walk() if op.name == name][:1]:
            change(op)
        if not behind:
            apply(self, ctx, module)

    what = f"{name}: {change.__name__}"
    return Fault(
        kind, what, level, operation, lambda: replaced(pass_class, "apply", apply_wrong), find
    )


def in_row(name: str, reference: Callable[..., Any]) -> Fault:
    """The meaning of a definition is another one; what torch computes shows it."""

    def find() -> Report:
        torch.manual_seed(1)
        x, y = torch.rand(3, 7) + 0.25, torch.rand(3, 7) + 0.25
        return ttmlir.compile(every_row, x, y).bisect(x, y)

    return Fault(
        "row",
        f"{name}: another meaning",
        "ttir",
        f"ttir.{name}",
        lambda: replaced(DEFINITIONS[name], "reference", reference),
        find,
    )


def every_row(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Operations that are one definition each."""
    z = torch.sqrt(x) * y + torch.log(y)
    z = torch.sigmoid(z) - torch.relu(x - y)
    return torch.minimum(z, torch.cos(y)).transpose(0, 1) @ torch.softmax(x, -1)


def find_in_kernels() -> Report:
    """The bisection of a program of kernels."""
    return bisect(KERNELS, seed=3, target="kernels")


def in_schedule(what: str, operation: str, pass_class: Any, change: Callable[[Any], None]) -> Fault:
    """A pass leaves a module with `change`, which all kernels follow then."""
    apply = pass_class.apply

    def apply_wrong(self: Any, ctx: Any, module: Any) -> None:
        apply(self, ctx, module)
        change(module)

    return Fault(
        "schedule",
        what,
        "ttmetal unfused",
        operation,
        lambda: replaced(pass_class, "apply", apply_wrong),
        find_in_kernels,
        kernel="schedule",
    )


def find_generic(module: Any, mnemonic: str) -> Any:
    """The generic that computes an operation and nothing else; None in a fused program."""
    generics = [(op, str(op)) for op in module.walk() if op.name == "d2m.generic"]
    return next(
        (
            op
            for op, text in generics
            if f'mnemonic = "{mnemonic}"' in text and text.count("mnemonic = ") == 1
        ),
        None,
    )


def view_elsewhere(mnemonic: str, number: int, text: str) -> Callable[[Any], None]:
    """An operand of an operation is viewed by another map."""

    def change(module: Any) -> None:
        generic = find_generic(module, mnemonic)
        if generic is None:
            return
        value = generic.operands[number]
        view = ViewLayoutAttr.of(parse_affine_map(text))
        type_ = value.type
        changed = MemRefType(type_.element_type, type_.shape, view, type_.memory_space)
        Rewriter.replace_value_with_new_type(value, changed)

    return change


ADDRESS = r"get_noc_addr\((v\d+), (v\d+), (v\d+)\)"
"""Of a tile: its column, its row and where the tensor begins."""


def in_kernel(
    kernel: str, what: str, old: str, new: str, operation: str, source: str = KERNELS
) -> Fault:
    """A kernel of the unfused program says something else, by a regular expression."""
    read = metal_program.read_program

    def change(text: str) -> str:
        changed, count = re.subn(old, new, text)
        assert count, f"{kernel} has no {old}"
        return changed

    def read_wrong(*arguments: Any, **keywords: Any) -> Any:
        program = read(*arguments, **keywords)
        kernels = tuple(
            replace(each, source=change(each.source)) if each.name == kernel else each
            for each in program.kernels
        )
        return replace(program, kernels=kernels)

    return Fault(
        "kernel",
        f"{kernel}: {what}",
        "ttmetal unfused",
        operation,
        lambda: replaced(metal_program, "read_program", read_wrong),
        lambda: bisect(source, seed=3, target="kernels"),
        kernel=kernel.rstrip("0123456789"),
    )


def in_file(what: str, operation: str, change: Callable[[list[Any]], None]) -> Fault:
    """A `.ttnn` file of 2024 says something else; `change` takes its operations as tables."""
    write = file_levels.write_ttnn

    def write_wrong(module: Any) -> bytes:
        schema = load_schema("TTNN/binary.fbs")
        root = schema.read(write(module), "file").as_dict()
        change(root["programs"][0]["operations"])
        return schema.pack(root)

    return Fault(
        "file",
        what,
        "ttnn",
        operation,
        lambda: replaced(file_levels, "write_ttnn", write_wrong),
        lambda: bisect_module(parse(STABLEHLO), seed=3, options="spelling=2024"),
    )


def change_kind(old: str, new: str) -> Callable[[list[Any]], None]:
    """The first elementwise operation of a kind becomes one of another."""

    def change(operations: list[Any]) -> None:
        found = [each["type"] for each in operations if each["type"].get("type") == old]
        found[0]["type"] = new

    return change


def swap_inputs(kind: str) -> Callable[[list[Any]], None]:
    """The first elementwise operation of a kind takes its inputs the other way round."""

    def change(operations: list[Any]) -> None:
        found = [each["type"] for each in operations if each["type"].get("type") == kind]
        found[0]["ins"] = found[0]["ins"][::-1]

    return change


def shift_slice(operations: list[Any]) -> None:
    """The first slice begins a row further down."""
    found = [each["type"] for each in operations if each["type_type"] == "SliceOp"]
    found[0]["begins"], found[0]["ends"] = [1, 0], [3, 5]


def all_faults() -> list[Fault]:
    """Every fault, by where it is."""
    stablehlo = [
        in_stablehlo(name, negate_operand)
        for name in (
            *("dot_general", "broadcast_in_dim", "add", "tanh", "exponential", "maximum"),
            *("transpose", "reduce", "logistic", "slice"),
        )
    ]
    stablehlo += [
        in_stablehlo(name, swap_operands)
        for name in ("subtract", "divide", "concatenate", "compare")
    ]
    tosa = [
        in_tosa(name, negate_operand)
        for name in ("conv2d", "max_pool2d", "sigmoid", "avg_pool2d", "matmul", "exp")
    ]
    tosa += [in_tosa("sub", swap_operands)]
    linalg = [
        in_linalg(name, negate_operand)
        for name in ("matmul", "generic", "reduce", "transpose", "batch_matmul")
    ]
    product = "stablehlo.dot_general"
    decomposition = [
        in_decomposition("ttir.dot_general", product, BATCHES),
        in_decomposition("ttir.convolution", "stablehlo.convolution", BATCHES),
        in_decomposition("ttir.pooling", "stablehlo.reduce_window", BATCHES),
    ]

    def in_ttnn(name: str, operation: str, change: Change) -> Fault:
        return in_pass(
            "ttir to ttnn",
            ConvertTTIRToTTNNPass,
            name,
            change,
            level="ttnn",
            operation=operation,
            find=lambda: bisect(STABLEHLO, seed=3),
        )

    def in_d2m(name: str, operation: str, change: Change) -> Fault:
        return in_pass(
            "ttir to d2m",
            TTIRToD2MPass,
            name,
            change,
            level="d2m",
            operation=operation,
            find=find_in_kernels,
        )

    ttnn = [
        in_ttnn("ttir.matmul", product, negate_operand),
        in_ttnn("ttir.exp", "stablehlo.exponential", negate_operand),
        in_ttnn("ttir.tanh", "stablehlo.tanh", negate_operand),
        in_ttnn("ttir.div", "stablehlo.divide", swap_operands),
        in_ttnn("ttir.subtract", "stablehlo.subtract", swap_operands),
        in_ttnn("ttir.sum", "stablehlo.reduce", negate_operand),
        in_ttnn("ttir.sigmoid", "stablehlo.logistic", negate_operand),
        in_ttnn("ttir.broadcast", "stablehlo.broadcast_in_dim", negate_operand),
        in_ttnn("ttir.concat", "stablehlo.concatenate", swap_operands),
    ]
    d2m = [
        in_d2m("ttir.matmul", product, negate_operand),
        in_d2m("ttir.subtract", "stablehlo.subtract", swap_operands),
        in_d2m("ttir.tanh", "stablehlo.tanh", negate_operand),
        in_d2m("ttir.exp", "stablehlo.exponential", negate_operand),
    ]
    rows = [
        in_row("sqrt", lambda xp, x: xp.cbrt(x)),
        in_row("log", lambda xp, x: xp.log2(x)),
        in_row("sigmoid", lambda xp, x: xp.tanh(x)),
        in_row("relu", lambda xp, x: xp.abs(x)),
        in_row("cos", lambda xp, x: xp.sin(x)),
        in_row("minimum", lambda xp, x, y: xp.maximum(x, y)),
        in_row("multiply", lambda xp, x, y: x + y),
    ]
    read, write = rf"{ADDRESS}(;\n\s+noc_async_read\()", rf"{ADDRESS}(;\n\s+noc_async_write\()"
    by_column, by_row = r"get_noc_addr(4 - \1, \2, \3)", r"get_noc_addr(\1, 2 - \2, \3)"
    kernels = [
        in_kernel(
            "compute0",
            "the first tile of the second factor",
            r"matmul_block\((v\d+), (v\d+), (v\d+), v\d+, (v\d+),",
            r"matmul_block(\1, \2, \3, \4, \4,",
            product,
        ),
        in_kernel(
            "compute1",
            "operands change places",
            r"sub_binary_tile\((v\d+), (v\d+),",
            r"sub_binary_tile(\2, \1,",
            "stablehlo.subtract",
        ),
        *[
            in_kernel(
                kernel, f"{call} twice", rf"{call}\((v\d+)\);", rf"{call}(\1); {call}(\1);", op
            )
            for kernel, call, op in (
                ("compute2", "tanh_tile", "stablehlo.tanh"),
                ("compute3", "exp_tile", "stablehlo.exponential"),
            )
        ],
        in_kernel(
            "compute1",
            "a sum for a product",
            r"mul_binary_tile",
            r"add_binary_tile",
            "stablehlo.multiply",
            BROADCASTS,
        ),
        in_kernel("reader0", "the first row", read, r"get_noc_addr(\1, 0, \3)\4", product),
        in_kernel("reader0", "other rows", read, rf"{by_row}\4", product),
        in_kernel(
            "reader1",
            "one operand twice",
            rf"({ADDRESS}(?:.|\n)*){ADDRESS}",
            r"\1get_noc_addr(\2, \3, \4)",
            "stablehlo.subtract",
        ),
        in_kernel("reader2", "other columns", ADDRESS, by_column, "stablehlo.tanh"),
        in_kernel("reader3", "other rows", ADDRESS, by_row, "stablehlo.exponential"),
        in_kernel("reader4", "other columns", ADDRESS, by_column, "stablehlo.transpose"),
        in_kernel(
            "reader0",
            "other elements",
            r"= 72;",
            r"= 71;",
            "stablehlo.reshape",
            GATHERS,
        ),
        in_kernel("writer0", "other columns", write, rf"{by_column}\4", product),
        in_kernel("writer1", "other columns", ADDRESS, by_column, "stablehlo.subtract"),
        in_kernel("writer2", "other rows", ADDRESS, by_row, "stablehlo.tanh"),
        in_kernel(
            "writer4",
            "other columns",
            ADDRESS,
            r"get_noc_addr(2 - \1, \2, \3)",
            "stablehlo.transpose",
        ),
    ]
    schedules = [
        *[
            in_schedule(
                f"{mnemonic}: {text}",
                operation,
                D2MGridSelectionPass,
                view_elsewhere(mnemonic, number, f"(d0, d1, d2, d3) -> {text}"),
            )
            for mnemonic, number, text, operation in (
                ("matmul", 0, "(2 - d0, d3, 0, 0)", product),
                ("matmul", 1, "(d2, 4 - d1, 0, 0)", product),
                ("subtract", 0, "(2 - d0, d1, 0, 0)", "stablehlo.subtract"),
                ("subtract", 1, "(d0, 4 - d1, 0, 0)", "stablehlo.subtract"),
                ("tanh", 0, "(d0, 0, 0, 0)", "stablehlo.tanh"),
                ("exp", 0, "(0, d1, 0, 0)", "stablehlo.exponential"),
            )
        ],
    ]
    files = [
        in_file("tanh for exp", "stablehlo.exponential", change_kind("Exp", "Tanh")),
        in_file("abs for tanh", "stablehlo.tanh", change_kind("Tanh", "Abs")),
        in_file("subtract for div", "stablehlo.divide", change_kind("Div", "Subtract")),
        in_file("minimum for maximum", "stablehlo.maximum", change_kind("Maximum", "Minimum")),
        in_file("inputs of subtract", "stablehlo.subtract", swap_inputs("Subtract")),
        in_file("place of a slice", "stablehlo.slice", shift_slice),
    ]
    converted = [*stablehlo, *tosa, *linalg, *decomposition, *ttnn, *d2m]
    return [*converted, *rows, *kernels, *schedules, *files]


def main() -> None:
    """Print a row for each kind of fault."""
    named: dict[str, list[bool]] = {}
    for fault in all_faults():
        named.setdefault(fault.kind, []).append(fault.is_named())
    print("| Faults in | Planted | Named |")
    print("|---|---|---|")
    for kind, found in named.items():
        print(f"| {kind} | {len(found)} | {sum(found)} |")
    every = [each for found in named.values() for each in found]
    print(f"| all | {len(every)} | {sum(every)} ({sum(every) / len(every):.0%}) |")


if __name__ == "__main__":
    main()
