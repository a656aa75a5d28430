"""Rules of tosa's reductions, for `convert-tosa-to-ttir`."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.optable import named_in
from ttmlir.optable.row import Family
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.tosa.tosa_operands import check_nan_mode, number


def _reduction(mnemonic: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        check_nan_mode(op)
        dims = (number(op, "axis"),)
        replace(
            op,
            builder.create(mnemonic, op.operands, op.results[0].type, keep_dim=True, dim_arg=dims),
        )

    return rule


def _argmax(op: Operation) -> None:
    builder = Builder.before(op)
    check_nan_mode(op)
    dims = (number(op, "axis"),)
    replace(
        op, builder.create("argmax", op.operands, op.results[0].type, keep_dim=False, dim_arg=dims)
    )


RULES: dict[str, ConversionRule] = {
    **{
        name: _reduction(row.mnemonic)
        for name, row in named_in("tosa").items()
        if row.family is Family.REDUCTION
    },
    "tosa.argmax": _argmax,
}
"""Rules by the full name of the operation."""
