"""Loading tiles whose elements numbers name (`d2m.view_numbered`).

The numbers of a tile of the view are in one tile, which is read in front of it. Where one number
names all elements, it is known from then on; else it is loaded for each piece of 16 elements, or
for each element. A number never leads out of the buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import TILE
from ttmlir.passes.d2m.kernels.movement.block_copy import BytesSomewhere, evaluate
from ttmlir.passes.d2m.kernels.movement.gather import GatheredTiles

_NUMBER_BYTES = 4


class NumberedTiles(GatheredTiles):
    """The tiles of a view by numbers."""

    def __init__(
        self,
        kernel: KernelBuilder,
        view: d2m.ViewNumberedOp,
        belows: tuple[BytesSomewhere, BytesSomewhere],
        alignment: int,
        bounce: SSAValue,
    ) -> None:
        """`belows` are the buffer of the elements and that of the numbers.

        LayoutError if the numbers of a tile are not in one tile.
        """
        super().__init__(kernel, view, belows[0], alignment, bounce)
        self._numbers = belows[1]
        self._count = view.count
        self._slots_at = TILE * TILE * _NUMBER_BYTES
        layout = device_layout_of(view.numbers.type)
        assert layout is not None, "buffers have layouts"
        element = AffineMap(len(self._extents), 0, self._place_in_view())
        places, inside = self._find_in(self._numbers, layout, view.places.compose(element).results)
        self._tile_of_numbers = [self._form(each) for each in places]
        self._place_of_number = self._form(inside)
        if any(not self._named.isdisjoint(form.used_dims()) for form in self._tile_of_numbers):
            raise LayoutError(
                "a tile of a view by numbers takes them from several tiles; let the numbers be a "
                "row, a column or a tensor of the shape of the view"
            )

    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Read the numbers of a tile, then its elements."""
        known: dict[int, Number] = dict(enumerate(place))
        (self._base,) = kernel.call("get_write_ptr", self._bounce)
        where = [evaluate(kernel, form, known) for form in self._tile_of_numbers]
        source = self._numbers.network_address(kernel, where)
        kernel.call("noc_async_read", source, self._base, self._slots_at)
        kernel.call("noc_async_read_barrier")
        if not self._named:
            known[self._number] = self._load(kernel, known)
        self._gather(kernel, known, address)

    def _name(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> Mapping[int, Number]:
        if self._number in at:
            return at
        return {**at, self._number: self._load(kernel, at)}

    def _load(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> Number:
        """The number of an element, within the buffer."""
        place = evaluate(kernel, self._place_of_number, at)
        (number,) = kernel.call("load_from_l1", kernel.pointer(self._base), place)
        least = kernel.choose(kernel.compare("sgt", number, 0), number, 0)
        most = self._count - 1
        return kernel.choose(kernel.compare("slt", least, most), least, most)
