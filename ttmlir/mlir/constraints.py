"""ODS-style constraints: what an operation says about its attributes and operands, and its message.

An operation of ours wraps each constraint with the summary that MLIR's messages quote:

    SI32 = described(IntegerAttr.constr(si32), "32-bit signed integer attribute", IntegerAttr)
    dimension = prop_def(SI32)
    inputs = var_operand_def(described(AnyTensorType, "ranked tensor of any type values"))

`verifier.verify_module` then reports, in MLIR's order and words,

    'ttir.softmax' op requires attribute 'dimension'
    'ttir.softmax' op attribute 'dimension' failed to satisfy constraint: 32-bit signed ...
    'ttir.softmax' op operand #0 must be ranked tensor of any type values, but got 'f32'

The third argument of `described` is the class that holds the value (MLIR's storage type). A
property of another class is refused when the text is read, as in MLIR: "Invalid attribute
`dimension` in property conversion". Variadic operands get `variadic of ` put before their summary.

Everything that constraints cannot say is checked in `verify_`, which raises `VerifyException` with
the bare message: the verifier adds `'d.op' op `. `OpError` does the same for another operation or
location, and can carry notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import TypeVar
from xdsl.ir import Attribute, AttributeCovT
from xdsl.irdl import (
    AttrConstraint,
    IRDLAttrConstraint,
    VerificationContext,
    irdl_to_attr_constraint,
)
from xdsl.irdl.constraints import IntConstraint


@dataclass(frozen=True)
class DescribedConstraint(AttrConstraint[AttributeCovT]):
    """A constraint with the summary that messages quote."""

    inner: AttrConstraint[AttributeCovT]
    summary: str
    storage: type[Attribute] | None = None

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Raise `VerifyException` if `attr` does not satisfy the constraint."""
        self.inner.verify(attr, constraint_context)

    def get_bases(self) -> set[type[Attribute]] | None:
        """The classes that values can have, if known."""
        return self.inner.get_bases()

    def variables(self) -> set[str]:
        """The constraint variables inside."""
        return self.inner.variables()

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint[AttributeCovT]:
        """The constraint with its type variables replaced."""
        inner = self.inner.mapping_type_vars(type_var_mapping)
        return DescribedConstraint(inner, self.summary, self.storage)


def described(
    constraint: IRDLAttrConstraint[AttributeCovT],
    summary: str,
    storage: type[Attribute] | None = None,
) -> DescribedConstraint[AttributeCovT]:
    """`constraint` with the summary that messages quote and the class that holds the value."""
    return DescribedConstraint(irdl_to_attr_constraint(constraint), summary, storage)


def summary_of(constraint: object) -> str | None:
    """The summary inside a constraint, or None."""
    if isinstance(constraint, DescribedConstraint):
        return constraint.summary
    return None
