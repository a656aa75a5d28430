"""What the catalogue says of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

SEED = 0
"""Of weights and inputs."""


@dataclass(frozen=True)
class Sample:
    """A model with the arguments of a call, as its library's own guide writes it."""

    model: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Entry:
    """An architecture: `make` needs its library, all else does not."""

    library: str
    """A key of `LIBRARIES`."""
    kind: str
    """What it is made for, such as "decoder" or "image classifier"."""
    name: str
    """As the library's class or function is called."""
    make: Callable[[], Sample]

    @property
    def key(self) -> str:
        """Unique in the catalogue."""
        return f"{self.library}/{self.name}"

    @property
    def is_torch(self) -> bool:
        """Else it is of JAX."""
        return "torch" in LIBRARIES[self.library]


LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "transformers": ("transformers", "torch"),
    "timm": ("timm", "torch"),
    "torchvision": ("torchvision", "torch"),
    "diffusers": ("diffusers", "torch"),
    "flax": ("flax", "jax"),
    "equinox": ("equinox", "jax"),
}
"""Libraries, and the packages whose versions decide what their models are."""


def frameworks() -> Iterator[str]:
    """The packages of `LIBRARIES`, each once."""
    yield from dict.fromkeys(package for packages in LIBRARIES.values() for package in packages)
