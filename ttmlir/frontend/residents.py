"""Arguments of a model that stay on the device between calls, such as weights and caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ttmlir.errors import ArgumentError
from ttmlir.frontend.compiled import ImportedModel, mark_parameters, public_function
from ttmlir.mlir.attributes import cloned

if TYPE_CHECKING:
    from xdsl.ir import Attribute


def keep_on_device(imported: ImportedModel, names: Sequence[str]) -> ImportedModel:
    """A model whose arguments of these names, with all that is in them, stay on the device.

    Results that stand side by side and have the types of all arrays of one of them are its new
    value, which stays, too. ArgumentError for a name that no argument has.
    """
    signature = imported.signature
    block = public_function(imported.module).body.block
    end = block.last_op
    assert end is not None, "a function returns something"
    results = [value.type for value in end.operands]
    bound = set(signature.bound)
    weights, state, kept = list[int](), list[int](), list[int]()
    for name in names:
        found = [
            number
            for number, each in enumerate(signature.input_names)
            if number not in bound and is_part(each, name)
        ]
        if not found:
            raise ArgumentError(_explain(name, signature.leaf_names))
        found = [number for number in found if number not in (*weights, *state)]
        run = _find_run(results, [block.args[number].type for number in found], kept)
        kept += run
        (state if run else weights).extend(found)
    signature = replace(signature, resident=(*weights, *state), kept=tuple(kept))
    if imported.stage != "stablehlo":
        return replace(imported, signature=signature)
    module = cloned(imported.module)
    mark_parameters(module, weights)
    return replace(imported, signature=signature, module=module)


def is_part(name: str, whole: str) -> bool:
    """True for the name of an argument, or of what is in it."""
    return name == whole or name.startswith((f"{whole}[", f"{whole}."))


def _explain(name: str, known: Sequence[str]) -> str:
    wholes = dict.fromkeys(each.partition("[")[0].partition(".")[0] for each in known)
    return f"resident: no argument is named '{name}'; arguments are {', '.join(wholes)}"


def _find_run(
    results: Sequence[Attribute], types: Sequence[Attribute], taken: Sequence[int]
) -> list[int]:
    """The numbers of the first results in a row with these types; none if there are none."""
    count = len(types)
    for first in range(len(results) - count + 1):
        run = list(range(first, first + count))
        if not set(run) & set(taken) and [results[number] for number in run] == list(types):
            return run
    return []
