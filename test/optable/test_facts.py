"""Facts about operations stand in definitions: no other file lists operations by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ttmlir import optable
from ttmlir.optable.elementwise import DEFINITIONS

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ROOT / "ttmlir"
MNEMONICS = {definition.mnemonic for definition in DEFINITIONS}
LONGEST = 3
"""Names that a list may have: more are a fact about operations."""

LISTS = {
    "composites/complex_numbers.py": "operations that complex numbers have",
    "ttnn/operations/gradients/derivatives.py": "derivatives, which no other package has",
    "ttnn/operations/gradients/elementwise.py": "names of the arguments of ttnn's gradients",
    "ttnn_jit/recording.py": "functions of ttnn that are computed in steps",
    "dialects/emitc/expressions.py": "comparisons of C++",
    "dialects/definition/table_ops.py": "names of classes as MLIR spells them",
    "dialects/stablehlo/reduction.py": "operations that StableHLO's text shortens",
    "passes/shardy/spreading/factors.py": "rules by name",
    "sim/machine/card_functions.py": "functions of which the steps on a card are known",
    "passes/emitc/library_arguments.py": "arguments of the ttnn library's functions",
    "passes/emitpy/library_functions.py": "what functions of the ttnn library take and make",
    "passes/ttir/ttir_canonical_forms.py": "rules by name",
    "passes/ttir/ttir_value_forms.py": "rules by name",
    "passes/ttir/ttir_value_forms_elementwise.py": "rules by name",
    "passes/ttir/fusing/ttir_fuse_layers_norm.py": "rules by name",
    "passes/ttir/element_types/ttir_predicate_type_alignment.py": "truth in numbers",
    "passes/ttir/ttir_while_trip_count.py": "comparisons with their sides exchanged",
    "passes/stablehlo/pairs/stablehlo_complex_math_expander.py": "functions that pairs have",
    "ir/linalg_arrays.py": "what linalg, math and arith have no name for",
    "target/cpp/kernel_api.py": "calls whose names or arguments changed in 2026",
    "frontend/torch/decompositions/lists.py": "functions that torch has for lists of tensors",
    "frontend/torch/rules/collectives.py": "what devices combine numbers by, in torch's words",
    "frontend/torch/program.py": "arithmetic of Python on numbers of tensors",
    "frontend/torch/rules/elementwise.py": "rules of ATen's operations",
    "passes/emitc/kernel_conversion.py": "predicates of arith.cmpi",
    "passes/linalg/convert_arith_to_ttir.py": "predicates of arith.cmpi and arith.cmpf",
    "passes/stablehlo/convert_stablehlo_to_ttir_indexing.py": "scatters that ttir has",
    "passes/stablehlo/stablehlo_aggressive_simplification.py": "arithmetic on constants",
    "ir/kernel_builder.py": "operations that order integers without sign",
    "passes/convert_ttir_to_ttmetal.py": "operations of arith in bodies",
    "passes/ttmetal/ttir_generic_kernel.py": "kernels of the reference that have names",
    "passes/stablehlo/functions/chlo_legalize_to_stablehlo.py": "what chlo is made of in 2026",
    "passes/ttir/decomposition/ttir_value_decomposition_elementwise.py": "what 2026 does not have",
    "passes/ttnn/conversion/convert_values_movement.py": "rules by name",
    "passes/ttnn/ttnn_fusing_activations.py": "activations that the library fuses in 2026",
    "passes/ttnn/workarounds/ttnn_workarounds_elementwise.py": "element types that 2026 takes",
    "target/flatbuffer/records_2026.py": "records of files of 2026 that are of one form",
    "runtime/execution/planning.py": "what costs more, makes memory, or writes into it",
    "runtime/execution/recurrent.py": "what gates and units of cells compute",
    "ttnn/operations/elementwise/activations.py": "flags of ttnn that only choose a speed",
}
"""Files with longer lists, and what is listed that definitions do not say."""


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


def literals(node: ast.AST) -> Iterator[list[ast.expr | None]]:
    """The parts of a literal collection: of a dictionary its keys, and its values."""
    match node:
        case ast.Dict(keys=keys, values=values):
            yield list(keys)
            yield list(values)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            yield list(parts)
        case _:
            pass


def listed(path: Path) -> int:
    """The largest number of elementwise operations that one collection of a file names."""
    most = 0
    for node in ast.walk(tree(path)):
        for parts in literals(node):
            names = [part.value for part in parts if isinstance(part, ast.Constant)]
            most = max(most, sum(name in MNEMONICS for name in names))
    return most


def test_no_lists_of_operations() -> None:
    """A list of mnemonics outside of the table is a fact that belongs to a field of the
    definitions."""
    paths = [path for path in PRODUCT.rglob("*.py") if "optable" not in path.parts]
    found = {str(path.relative_to(PRODUCT)) for path in paths if listed(path) > LONGEST}
    assert found == set(LISTS)
    assert not [path for path in (ROOT / "tools").rglob("*.py") if listed(path) > LONGEST]


NAMED_IN_PASSES = {
    "nothing.py": "operations that have nothing to compute without elements",
    "chlo_legalize_to_stablehlo.py": "what chlo is made of in tt-mlir of 2026",
    "convert_stablehlo_to_ttir_window.py": "combiners of windows that 2026 has operations for",
    "stablehlo_outline_control_flow.py": "how loops count",
    "convert_arith_to_ttir.py": "rules by name",
    "factors.py": "rules by name",
    "late_kernels.py": "operations of arith in kernels of 2026",
    "convert_stablehlo_to_ttir_elementwise.py": "rules by name",
    "element_rewrite.py": "operations that keep the order of stored integers",
    "stablehlo_scalars.py": "operations of arith for which true is 1",
    "stablehlo_widen_storage_types.py": "shifts that bring in the bits above a narrow number",
    "stablehlo_expand_complex.py": "what operations mean for complex numbers",
    "stablehlo_complex_math_expander.py": "functions of complex numbers by their parts",
    "pair_conversion.py": "operations that take parts of pairs one by one",
    "stablehlo_complex_data_type_conversion.py": "what operations mean for pairs of parts",
    "stablehlo_uint64_data_type_conversion.py": "what operations mean for pairs of words",
}
"""Passes that name operations which definitions name, and why."""


def test_passes_do_not_repeat_names_of_definitions() -> None:
    """What an operation of another dialect means is said by the definition that names it."""
    names = set(optable.named_in("stablehlo", "chlo", "tosa", "linalg", "arith", "math"))
    found = set[str]()
    for path in (PRODUCT / "passes").rglob("*.py"):
        constants = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant))
        if any(node.value in names for node in constants):
            found.add(path.name)
    assert found <= set(NAMED_IN_PASSES)


def test_names_of_other_dialects_are_said_once() -> None:
    """No two definitions claim to mean the same operation."""
    for names in ("aliases", "truth_aliases", "unsigned_aliases", "number_aliases"):
        found = [
            name
            for definition in optable.DEFINITIONS.values()
            for name in getattr(definition, names)
        ]
        assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "definition", optable.DEFINITIONS.values(), ids=lambda definition: definition.mnemonic
)
def test_definitions_name_definitions(definition: optable.OpDefinition) -> None:
    """Other operations that a definition refers to exist."""
    for name in (definition.on_truth, definition.combiner, definition.ttnn_form):
        assert not name or name in optable.DEFINITIONS


def test_hardsigmoid_is_four_files() -> None:
    """Those that the page for developers lists: adding an elementwise operation stays as short."""
    word = re.compile(r"hardsigmoid", re.IGNORECASE)
    # The schemas of 2026 are those of others, and do not grow with an operation of ours.
    ours = [path for path in (ROOT / "schema").rglob("*.fbs") if "2026" not in path.parts]
    sources = [*PRODUCT.rglob("*.py"), *ours]
    found = {
        str(path.relative_to(ROOT)) for path in sources if word.search(path.read_text("utf-8"))
    }
    # These compute hardswish with it, find it in a quotient, fuse it, call its kernel of 2026 and
    # that of the PACK thread, and have a card's bits; gradients are operations of their own.
    found -= {
        "ttmlir/optable/kernel/pack_vector.py",
        "ttmlir/sim/machine/vector_functions.py",
        "ttmlir/ttnn/operations/accepted.py",
        "ttmlir/ttnn/operations/gradients/derivatives.py",
        "ttmlir/ttnn/operations/gradients/elementwise.py",
        "ttmlir/ttnn_jit/recording.py",
        "ttmlir/frontend/onnx/rules/elementwise.py",
        "ttmlir/frontend/onnx/rules/fused.py",
        "ttmlir/frontend/onnx/rules/recurrent.py",
        "ttmlir/passes/ttir/fusing/ttir_fusing_elementwise.py",
        "ttmlir/passes/ttnn/ttnn_fusing_activations.py",
        "ttmlir/optable/kernel/late_calls.py",
    }
    assert found == {
        "schema/TTNN/program.fbs",
        "ttmlir/optable/elementwise.py",
        "ttmlir/optable/kernel/tile_calls.py",
        "ttmlir/optable/kernel/vector.py",
    }
    page = (ROOT / "docs/developing.md").read_text("utf-8")
    assert all(f"`{path}`" in page for path in found)
