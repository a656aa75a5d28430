"""Complex numbers as a pair of tensors, as `ttnn.complex_tensor` makes them."""

from __future__ import annotations

from ttmlir.errors import IndexRangeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.tensor.tensor import Tensor


class ComplexTensor:
    """Real and imaginary parts: `real` and `imag`, or by the numbers 0 and 1."""

    def __init__(self, real: Tensor, imag: Tensor) -> None:
        """Two tensors of any shapes; operations refuse those that do not go together."""
        self.real = real
        self.imag = imag

    def __getitem__(self, index: int) -> Tensor:
        """The real part at 0, the imaginary part at 1."""
        if index not in (0, 1):
            raise IndexRangeError(f"a ComplexTensor has parts 0 and 1, not {index}")
        return self.imag if index else self.real

    @property
    def numbers(self) -> Array:
        """The complex numbers in 128 bits."""
        return self.real.array.astype("f8") + 1j * self.imag.array.astype("f8")

    def deallocate(self) -> None:
        """Free both parts."""
        for part in (self.real, self.imag):
            if part.device() is not None:
                part.deallocate()
