"""How rows of elementwise operations are written down: what all of them share is filled in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, Unpack

from ttmlir.optable.row import Domain, Family, Flatbuffer, Operand, Parameter, Row

REFERENCE = "880154e3c2"
"""The commit of tt-mlir whose operations are all here."""
_LATER = "2026-08"
"""The tt-mlir of this month, whose list the rows beyond the reference are taken from."""
_FIELDS = (("type", "type"), ("ins", "inputs"), ("out", "output"))
_PARAMETER_FIELD = ("parameters", "parameters")
_OPERAND_NAMES = {
    Family.UNARY: ("input",),
    Family.BINARY: ("lhs", "rhs"),
    Family.TERNARY: ("condition", "on_true", "on_false"),
}


class Facts(TypedDict, total=False):
    """Fields of `Row` that few operations have; names of operations are separated by blanks."""

    aliases: str
    truth_aliases: str
    unsigned_aliases: str
    number_aliases: str
    on_truth: str
    direction: str
    gives_truth: bool
    ignores_sign: bool
    commutes: bool
    identity: float
    generic: bool
    takes_types: bool


def declare_elementwise(
    family: Family,
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[..., Any],
    *,
    domains: tuple[Domain, ...] = (Domain.REAL,),
    parameters: tuple[Parameter, ...] = (),
    since: str = _LATER,
    **facts: Unpack[Facts],
) -> Row:
    """The row of an operation; `kind` is its enumerator in `EltwiseOpType`."""
    return Row(
        mnemonic=mnemonic,
        summary=summary,
        formula=formula,
        family=family,
        operands=tuple(Operand(name=name) for name in _OPERAND_NAMES[family]),
        parameters=parameters,
        reference=reference,
        takes_types=facts.get("takes_types", False),
        domains=domains,
        flatbuffer=Flatbuffer(
            table="EltwiseOp",
            kind=kind,
            fields=(*_FIELDS, _PARAMETER_FIELD) if parameters else _FIELDS,
        ),
        generic=facts.get("generic", False),
        since=since,
        aliases=tuple(facts.get("aliases", "").split()),
        truth_aliases=tuple(facts.get("truth_aliases", "").split()),
        unsigned_aliases=tuple(facts.get("unsigned_aliases", "").split()),
        number_aliases=tuple(facts.get("number_aliases", "").split()),
        on_truth=facts.get("on_truth", ""),
        direction=facts.get("direction", ""),
        gives_truth=facts.get("gives_truth", False),
        ignores_sign=facts.get("ignores_sign", False),
        commutes=facts.get("commutes", False),
        identity=facts.get("identity"),
    )


def declare_unary(
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[[Any, Any], Any],
    domain: Domain = Domain.REAL,
    since: str = _LATER,
    **facts: Unpack[Facts],
) -> Row:
    """The row of an operation on one tensor, without parameters."""
    return declare_elementwise(
        Family.UNARY,
        mnemonic,
        summary,
        formula,
        kind,
        reference,
        domains=(domain,),
        since=since,
        **facts,
    )


def declare_binary(
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[[Any, Any, Any], Any],
    domains: tuple[Domain, ...] = (Domain.REAL,),
    since: str = _LATER,
    **facts: Unpack[Facts],
) -> Row:
    """The row of an operation on two tensors, without parameters."""
    return declare_elementwise(
        Family.BINARY,
        mnemonic,
        summary,
        formula,
        kind,
        reference,
        domains=domains,
        since=since,
        **facts,
    )
