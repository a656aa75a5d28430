"""Misspelled operations get the names that they may stand for, quantized types a way out."""

from __future__ import annotations

import pytest

from ttmlir.compiler import lower
from ttmlir.mlir.reporting import ALMOST, DiagnosticError, near_names


def refusal(body: str, type_: str = "tensor<3xf32>", pipeline: str = "") -> str:
    """The message about a function with one operation."""
    with pytest.raises(DiagnosticError) as caught:
        _ = lower(f"func.func @f(%a: {type_}) {{\n{body}\nreturn }}", pipeline)
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%0 = stablehlo.sinus %a : tensor<3xf32>",
            "custom op 'stablehlo.sinus' is unknown\n",
        ),
        (
            '%0 = "stablehlo.sinus"(%a) : (tensor<3xf32>) -> tensor<3xf32>',
            "unregistered operation 'stablehlo.sinus' found in dialect ('stablehlo') that does not "
            "allow unknown operations\n",
        ),
    ],
)
def test_misspelled_operations(body: str, message: str) -> None:
    """In both forms, in a note, so that the error stays MLIR's."""
    seen = refusal(body)
    assert f": error: {message}" in seen
    assert ": note: did you mean 'stablehlo.sine'" in seen


def test_nothing_near() -> None:
    """Without a guess there is no note."""
    assert "note" not in refusal("%0 = stablehlo.quux %a : tensor<3xf32>")
    assert near_names("tosa.table", ["tosa.tile", "tosa.add"], ALMOST) == []
    assert near_names("arith.addf", ["tosa.add", "chlo.add", "tosa.tile"]) == [
        "chlo.add",
        "tosa.add",
    ]


def test_refusals_of_conversions_are_short() -> None:
    """They name what is near and the page with the rest."""
    op = '%0 = "chlo.next_after"(%a, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>'
    seen = refusal(op, pipeline="convert-stablehlo-to-ttir")
    assert (
        "failed to legalize operation 'chlo.next_after': convert-stablehlo-to-ttir has no rule for "
        "it; docs/frontends.md lists all that it takes" in seen
    )
