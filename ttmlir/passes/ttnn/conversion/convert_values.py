"""How `convert-ttir-to-ttnn` converts operations that make their results, as in 2026.

Most operations keep their name, operands and parameters. What becomes something else has a rule in
a file of its family, a function from the operation to the values that take the place of its
results:

    def _arange(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        ...
        return [build.create("arange", (build.device(),), op.results[0].type, start=0, ...)]

    RULES: Rules = {"arange": _arange}

A new file is named in `_FAMILIES`. `build` (`ttmlir.ir.ttnn_values`) creates operations before
`op`, with its location; `ttmlir.ir.ttnn_types` makes types. Results have the type of those that
they replace. To keep an operation as it is but call it something else, `renamed("topk")` is the
rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.ods import SEGMENTS, ODSOperation, segments_attr
from ttmlir.dialects.definition.table_ops import UnknownOperationError
from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.rewriting import erase, erase_unused, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_values import NO_ACTIVATIONS, TTNNValueBuilder
from ttmlir.passes.general.ttcore_register_device import device_modules

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

ValueRule = Callable[[Operation, TTNNValueBuilder], Sequence[SSAValue]]
"""What takes the place of an operation's results."""
Rules = Mapping[str, ValueRule]
"""Rules by the mnemonic of ttir, as it is in memory."""

_OUTPUT = "output"
"""What operations of caches of pages are to write to."""
_FAMILIES = (
    "convert_values_creation",
    "convert_values_elementwise",
    "convert_values_reduction",
    "convert_values_movement",
    "convert_values_normalization",
    "convert_values_window",
    "convert_values_distribution",
    "convert_values_quantization",
)
"""The files of rules, by their names in this package."""


@cache
def _rules() -> Rules:
    found: dict[str, ValueRule] = {}
    for family in _FAMILIES:
        found.update(import_module(f"ttmlir.passes.ttnn.conversion.{family}").RULES)
    return found


def convert_values(module: ModuleOp) -> None:
    """Convert all operations of ttir."""
    ops = [op for each in device_modules(module) for op in each.walk()]
    for op in ops:
        if op.name.startswith("ttir."):
            mnemonic = op.name.removeprefix("ttir.")
            rule = _rules().get(mnemonic, _same_name)
            values = rule(op, TTNNValueBuilder.before(op))
            if op.results:
                replace(op, *values)
            else:
                erase(op)
    _name_devices(module)
    # What only was to be written to: the library makes its results.
    erase_unused(op for op in module.walk() if op.name == "tensor.empty")
    for op in [op for each in device_modules(module) for op in each.walk()]:
        if op.name == "tensor.empty":
            build, type_ = TTNNValueBuilder.before(op), op.results[0].type
            shape = ShapeAttr.of(value_shape(op.results[0]))
            replace(op, build.create("empty", (build.device(),), type_, shape=shape))


def _name_devices(module: ModuleOp) -> None:
    """Functions that something is written in have their device first."""
    for each in device_modules(module):
        for op in [op for op in each.walk() if op.name == "tensor.empty"]:
            TTNNValueBuilder.before(op).device()


def has_activations(cls: type[Operation]) -> bool:
    """True for operations of two tensors that compute functions of single elements, too."""
    late = cls.LATE if issubclass(cls, ttnn.BinaryOp) else None
    return late is not None and any(each.name == "activations" for each in late.parameters or ())


def _same_name(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    return renamed(op.name.removeprefix("ttir."))(op, build)


def renamed(mnemonic: str) -> ValueRule:
    """The rule of an operation that has another name in ttnn, and the same parameters."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        try:
            cls = ttnn.op_class(mnemonic)
        except UnknownOperationError:
            refuse_to_legalize(op, "it has no counterpart in ttnn")
        properties = dict(op.properties)
        if has_activations(cls):
            properties.update(NO_ACTIVATIONS)
        operands = [*op.operands]
        if (
            isinstance(op, ODSOperation)
            and _OUTPUT in op.form().operand_index
            and _OUTPUT not in cls.SIGNATURE.operand_index
        ):
            # The library makes the result.
            first, last = op.group_range(_OUTPUT)
            sizes = [*op.group_sizes()]
            del operands[first:last], sizes[op.form().operand_index[_OUTPUT]]
            properties[SEGMENTS] = segments_attr(tuple(sizes))
        if SEGMENTS in properties and not cls.SIGNATURE.has_segments:
            del properties[SEGMENTS]
        new = cls.create(
            operands=operands,
            result_types=op.result_types,
            properties=properties,
            attributes=dict(op.attributes),
            location=op.location,
        )
        return build.add(new).results

    return rule
