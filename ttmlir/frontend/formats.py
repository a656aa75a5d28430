"""What `ttmlir.compile(..., accuracy=0.99)` has chosen: formats of weights, and fidelities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.frontend.summary import align_left
from ttmlir.terminal import ShownAsText


@dataclass(frozen=True, kw_only=True)
class FormatChoice:
    """Products of one place in the source, or of layers that are alike."""

    name: str
    """Such as `model.py:12` or `layers/*/up`."""
    places: tuple[str, ...]
    """As options name them, by their locations."""
    weights: str
    """The format of their second operands, such as `bfp_bf8`."""
    fidelity: str
    """Such as `lofi`."""
    pcc: float = 1.0
    """Of the model with this choice and those above it."""
    us: float = 0.0
    """Microseconds of the model then, by the estimate."""


@dataclass(frozen=True, kw_only=True)
class Formats(ShownAsText):
    """The choices, in the order in which they were made; printed as a table."""

    name: str
    accuracy: float
    """The least correlation that was asked for."""
    pcc: float
    """Of the model without them, rounded as the device rounds, with float32."""
    us: float
    """Microseconds of the model without them."""
    choices: Sequence[FormatChoice]

    @property
    def is_reached(self) -> bool:
        """False if the model is less accurate without any choice, too."""
        return bool(self.choices) or self.pcc >= self.accuracy

    @property
    def options(self) -> str:
        """The options of the pipeline that say so."""
        if not self.choices:
            return ""
        weights = ",".join(
            f"{place}={each.weights}" for each in self.choices for place in each.places
        )
        fidelities = ",".join(
            f"{place}={each.fidelity}" for each in self.choices for place in each.places
        )
        return f"override-weight-dtype={weights} override-math-fidelity={fidelities}"

    def __str__(self) -> str:
        """The model as it is, then a row for each choice."""
        rows = [("products", "weights", "fidelity", "us", "PCC")]
        rows.append(("as they are", "", "", f"{self.us:,.1f}", f"{self.pcc:.5f}"))
        rows += [
            (each.name, each.weights, each.fidelity, f"{each.us:,.1f}", f"{each.pcc:.5f}")
            for each in self.choices
        ]
        missed = "" if self.is_reached else ", which is not reached"
        head = f"{self.name}: a PCC of at least {self.accuracy:g}{missed}"
        return "\n".join([head, *align_left(rows)])
