"""Say of the arguments of functions what they are: inputs, parameters, constants.

Before:

    // Options: argument-types=main=input,parameter
    func.func @main(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }

After:

    ...
      func.func @main(%arg0: tensor<5x7xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
          %arg1: tensor<5x7xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) ... {
        ...

Requires: functions of the names given, each with as many arguments as are described.
Ensures: those arguments have `ttcore.argument_type`; what they said before is replaced, with a
warning.
Options: `argument-types`: `function=type,type;function=type`, where a type is `input`, `parameter`,
`constant` or `default`. Without it there is a warning.
Not done here: finding out which arguments are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from ttmlir.dialects.ttcore import ArgumentTypeAttr
from ttmlir.ir.rewriting import refuse_at
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.argument_types import ARGUMENT_TYPES, ArgumentTypes
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import set_argument_attribute

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.layout.enums import ArgumentType

ARGUMENT_TYPE = "ttcore.argument_type"
"""The attribute of arguments."""


@dataclass(frozen=True)
class TTPopulateArgumentTypesPass(ModulePass):
    """Say of the arguments of functions what they are: inputs, parameters, constants."""

    name = "tt-populate-argument-types"
    title = "TTPopulateArgumentTypes"
    argument_types: ArgumentTypes = option(
        (), "What the arguments of functions are", type=ARGUMENT_TYPES
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute of each argument that is described."""
        if not self.argument_types:
            _warn(
                module,
                "Empty argument type map provided. Skipping argument type population. This may "
                "affect subsequent compile steps",
            )
        functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
        for name, kinds in self.argument_types:
            if name not in functions:
                refuse_at(
                    module,
                    f'Function: "{name}" was provided in the argument types map, however it was '
                    "not found in module!",
                )
            _populate(functions[name], kinds)


def _populate(function: FuncOp, kinds: tuple[ArgumentType, ...]) -> None:
    name, count = function.sym_name.data, len(function.function_type.inputs.data)
    if len(kinds) != count:
        refuse_at(
            function,
            "Did not provide the correct number of argument types for function: "
            f'"{name}". Expected: {count} arguments, got: {len(kinds)} arguments',
        )
    for number, kind in enumerate(kinds):
        if argument_attribute(function, number, ARGUMENT_TYPE) is not None:
            _warn(
                function,
                "Overwriting existing argument type attribute for function: "
                f'"{name}" argument: {number}',
            )
        set_argument_attribute(function, number, ARGUMENT_TYPE, ArgumentTypeAttr(kind))


def _warn(op: Operation, text: str) -> None:
    warn(op_diagnostic(op, text, severity="warning", with_name=False))
