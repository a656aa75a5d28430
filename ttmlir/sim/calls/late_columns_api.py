"""Calls of the MATH thread on columns of tiles that tt-metal 0.81 has.

Statistics in two passes: the first sums differences from an anchor, the first number of each
column, which makes the mean; the second sums squares of differences from the mean. Even and odd
rows may have sums of their own, which are added at the end. Sorts with tags: values take 32 bits,
of which the lower ones hold an index or a place in the column, complemented so that the larger word
is the one that a stable sort puts first. Source: tt-llk, ckernel_sfpu_{welfords_common,topk}.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable.kernel import find_call
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.kernel_api import Template, kernel_call
from ttmlir.sim.calls.lanes_api import PLACES, complement_tags
from ttmlir.sim.calls.late_vector_api import LateVectorApi
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.numerics import Register, faces_of_rows, rows_of_faces
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]

_SQUARES = 1
"""The number of `TwoPassAccumulation::CentredM2`."""
_INITIALISE = 1
"""The number of `TwoPassAnchor::Initialise`."""
_COLUMNS = 32
_LOW_HALF = 0xFFFF
_BEHIND = 1
"""The group of rows behind the mean of a saved state, where an anchor may stand."""


def _float_of(bits: int) -> np.float32:
    return np.uint32(bits & 0xFFFF_FFFF).view(np.float32)


def _is_set(template: Template, place: int, default: bool = False) -> bool:
    return bool(template[place]) if len(template) > place else default


class LateColumnsApi(LateVectorApi):
    """The calls."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """No statistics yet."""
        super().__init__(core, thread, options, settings)
        self._anchor = np.zeros(_COLUMNS, np.float32)
        self._second = np.zeros(_COLUMNS, np.float32)
        """Sums of odd rows, where they are apart; those of the others are `_squares`."""

    # --- Statistics in two passes ---------------------------------------------------------------

    def _start(self, call: str) -> None:
        definition = find_call(call)
        self.check_vector_prepared(definition)
        self.spend(definition.cost.math)

    def _rows_to_add(self, call: str, dst: int, start: int, count: int) -> Array:
        if not 0 <= start <= start + count <= _COLUMNS:
            raise self.thread.error(
                f"{call} of {count} rows from {start} on; a tile has {_COLUMNS}", rule="arguments"
            )
        self._start(call)
        return rows_of_faces(self.tile(dst))[start : start + count]

    def _sum_rows(self, terms: Array, start: int, *, dual: bool) -> None:
        """Add rows to the sums, one after another."""
        for number, row in enumerate(terms, start):
            if dual and number % 2:
                self._second = self._second + row
            else:
                self._squares = self._squares + row

    def _join(self, template: Template) -> Array:
        """Add the sums of odd rows to the others, where the first flag says that there are any."""
        if _is_set(template, 0, default=True):
            self._squares = self._squares + self._second
        self._second = np.zeros(_COLUMNS, np.float32)
        return self._squares

    @kernel_call()
    def two_pass_stats_init_shifted(self) -> None:
        """Prepare the calls; what was added stays."""
        self.prepare_vector("two_pass_stats_init_shifted")

    @kernel_call()
    def two_pass_stats_clear(self) -> None:
        """Forget what was added."""
        self.spend(find_call("two_pass_stats_clear").cost.math)
        self._mean, self._squares, self._second = np.zeros((3, _COLUMNS), np.float32)

    @kernel_call()
    def two_pass_stats_update_shifted_rows(
        self, dst: int, start: int, rows: int, *, template: Template = ()
    ) -> None:
        """Sums of differences from the anchor, or squares of those from the mean."""
        name = "two_pass_stats_update_shifted_rows"
        (accumulation,) = self.numbers_of(name, template, 1)
        dual = _is_set(template, 2, default=True)
        found = self._rows_to_add(name, dst, start, rows)
        if accumulation == _SQUARES:
            self._add_squares(found, start, dual=dual)
            return
        if len(template) > 1 and int(template[1]) == _INITIALISE and rows:
            self._mean = found[0].copy()
            self._squares, self._second = np.zeros((2, _COLUMNS), np.float32)
        with np.errstate(all="ignore"):
            self._sum_rows(found - self._mean, start, dual=dual)

    @kernel_call()
    def two_pass_stats_update_rows(
        self, dst: int, start: int, rows: int, *, template: Template = ()
    ) -> None:
        """Squares of differences from the mean."""
        found = self._rows_to_add("two_pass_stats_update_rows", dst, start, rows)
        self._add_squares(found, start, dual=_is_set(template, 0, default=True))

    def _add_squares(self, rows: Array, start: int, *, dual: bool) -> None:
        with np.errstate(all="ignore"):
            differences = rows - self._mean
            self._sum_rows(differences * differences, start, dual=dual)

    @kernel_call()
    def two_pass_stats_finish_shifted_mean(
        self, reciprocal: int, *, template: Template = ()
    ) -> None:
        """The mean is the anchor and the average difference; the anchor may be kept."""
        self._start("two_pass_stats_finish_shifted_mean")
        if _is_set(template, 1):
            self._anchor = self._mean
        self._mean = self._mean + self._join(template) * _float_of(reciprocal)
        self._squares = np.zeros(_COLUMNS, np.float32)

    @kernel_call()
    def two_pass_stats_save_state(self, dst: int, *, template: Template = ()) -> None:
        """Both registers as they are, in tiles `dst` and `dst + 1`."""
        self._join(template)
        self._save("two_pass_stats_save_state", dst, 0)

    def _save(self, name: str, dst: int, group: int) -> None:
        self._store_register(name, dst, group, self._mean)
        self._store_register(name, dst + 1, group, self._squares)

    @kernel_call()
    def two_pass_stats_switch_group(
        self, dst: int, saved: int, restored: int, *, template: Template = ()
    ) -> None:
        """Store the state of one group, load that of another; odd rows must not be apart."""
        name = "two_pass_stats_switch_group"
        if self.numbers_of(name, template, 1)[0]:
            raise self.thread.error(
                f"{name} keeps one accumulator; write {name}<false>", rule="template"
            )
        self._save(name, dst, saved)
        self._mean, self._squares = (
            self._load_register(name, tile, restored) for tile in (dst, dst + 1)
        )

    @kernel_call()
    def two_pass_stats_save_anchor(self, dst: int) -> None:
        """As the register holds it."""
        self._store_register("two_pass_stats_save_anchor", dst, 0, self._anchor)

    @kernel_call()
    def two_pass_stats_restore_anchor(self, dst: int) -> None:
        """As it was stored."""
        self._anchor = self._load_register("two_pass_stats_restore_anchor", dst, 0)

    @kernel_call()
    def two_pass_stats_save_anchor_to_state(self, dst: int) -> None:
        """Behind the mean."""
        self._store_register("two_pass_stats_save_anchor_to_state", dst, _BEHIND, self._anchor)

    @kernel_call()
    def two_pass_stats_restore_anchor_from_state(self, dst: int) -> None:
        """As it was stored."""
        self._anchor = self._load_register("two_pass_stats_restore_anchor_from_state", dst, _BEHIND)

    @kernel_call()
    def two_pass_stats_combine_block(
        self, dst: int, reciprocal: int, count: int, *, template: Template = ()
    ) -> None:
        """Of a block and what was saved (Chan, Golub and LeVeque, 1979)."""
        name = "two_pass_stats_combine_block"
        self._start(name)
        squares = self._join(template)
        weight = _float_of(reciprocal) * _float_of(count)
        before, others = (self._load_register(name, tile, 0) for tile in (dst, dst + 1))
        with np.errstate(all="ignore"):
            difference = self._mean - before
            self._mean = difference * weight + before
            both = _float_of(count) - weight * _float_of(count)
            self._squares = squares + others + difference * difference * both
        self._save(name, dst, 0)

    @kernel_call()
    def two_pass_stats_finalize_to_row(
        self, dst: int, reciprocal: int, *, template: Template = ()
    ) -> None:
        """Mean and variance in row 0 of two tiles; the three rows below are zero."""
        self._start("two_pass_stats_finalize_to_row")
        variance = self._join(template) * _float_of(reciprocal)
        if _is_set(template, 1, default=True):
            self._put_row(dst, 0, self._mean)
        self._put_row(dst + 1, 0, variance)

    @kernel_call()
    def two_pass_stats_finalize_split_mean_to_row(
        self, dst: int, reciprocal: int, *, template: Template = ()
    ) -> None:
        """The anchor in row 0, the anchor less the mean in row 16; the variance as usual."""
        self._start("two_pass_stats_finalize_split_mean_to_row")
        variance = self._join(template) * _float_of(reciprocal)
        self._put_row(dst, 0, self._anchor)
        self._put_row(dst, _COLUMNS // 2, self._anchor - self._mean)
        self._put_row(dst + 1, 0, variance)

    def _put_row(self, dst: int, row: int, values: Array) -> None:
        rows = np.array(rows_of_faces(self.tile(dst, "write")))
        rows[row : row + 4] = 0
        rows[row] = self._rounded(values)
        self.tile(dst, "write")[:] = faces_of_rows(rows).reshape(-1)

    @kernel_call()
    def two_pass_stats_finalize_to_face(
        self, dst: int, group: int, reciprocal: int, *, template: Template = ()
    ) -> None:
        """Mean and variance as registers are stored."""
        name = "two_pass_stats_finalize_to_face"
        variance = self._join(template) * _float_of(reciprocal)
        self._store_register(name, dst, group, self._mean)
        self._store_register(name, dst + 1, group, variance)

    @kernel_call()
    def two_pass_stats_finalize_and_combine_to_face(
        self, dst: int, group: int, reciprocal: int, *, template: Template = ()
    ) -> None:
        """Of 32 columns with equally many numbers: the mean of means, and the mean of variances
        plus the variance of means, or 32 times that, in the first of the four rows."""
        name = "two_pass_stats_finalize_and_combine_to_face"
        variances = self._join(template) * _float_of(reciprocal)
        anchor = np.full(_COLUMNS, self._mean[0], np.float32)
        with np.errstate(all="ignore"):
            differences = self._mean - anchor
            average = differences.sum() * np.float32(1 / _COLUMNS)
            apart = differences - average
            found = variances.sum() + (apart * apart).sum()
            if _is_set(template, 1, default=True):
                found = found * np.float32(1 / _COLUMNS)
        self._start(name)
        variance = np.zeros(_COLUMNS, np.float32)
        variance[: _COLUMNS // 2 : 2] = found
        for tile, place, values in (
            (dst + 2, 0, differences),
            (dst + 2, 1, anchor),
            (dst, group, average + anchor),
            (dst + 1, group, variance),
        ):
            for odd in (0, 1):
                self._put_group(name, tile, place, odd, values)

    # --- Sorting with tags ----------------------------------------------------------------------

    def _words(self, call: str, dst: int) -> Array:
        """A tile as words; DST has to hold 32 bits."""
        if self.dst.register is not Register.FP32:
            raise self.thread.error(
                f"{call} works on words of 32 bits: compile the kernel with fp32_dest_acc_en",
                rule="format",
            )
        return self.tile(dst, "write").view(np.uint32)

    @kernel_call()
    def topk_fuse_tile(self, dst: int, *, template: Template = ()) -> None:
        """Values in the upper halves of words, indices in the lower ones."""
        (largest,) = self.numbers_of("topk_fuse_tile", template, 1)
        self._start("topk_fuse_tile")
        for each in (dst, dst + 1):
            words = self._words("topk_fuse_tile", each)
            indices = self.tile(each + 2).view(np.uint32) & np.uint32(_LOW_HALF)
            words[:] = words | complement_tags(words, indices, _LOW_HALF, largest=bool(largest))

    @kernel_call()
    def topk_defuse_tile(self, dst: int, tiles: int, *, template: Template = ()) -> None:
        """Values and indices of such words."""
        (largest,) = self.numbers_of("topk_defuse_tile", template, 1)
        for each in range(dst, dst + tiles):
            self._start("topk_defuse_tile")
            words = self._words("topk_defuse_tile", each)
            tags = words & np.uint32(_LOW_HALF)
            indices = complement_tags(words, tags, _LOW_HALF, largest=bool(largest))
            self._words("topk_defuse_tile", each + 2)[:] = indices
            words &= np.uint32(~_LOW_HALF & 0xFFFF_FFFF)

    @kernel_call()
    def topk_stamp_local_positions(self, dst: int, *, template: Template = ()) -> None:
        """Places 0 to 63 of the columns of two tiles."""
        for place in (0, 1):
            self._stamp("topk_stamp_local_positions", dst + place, _COLUMNS * place, template)

    @kernel_call()
    def topk_stamp_tile_rank_range(
        self, dst: int, tile: int, first: int, *, template: Template = ()
    ) -> None:
        """Places of one tile, from a multiple of 32 on."""
        mask = self._tag_mask(template, 1)
        if not 0 <= tile <= 1 or first % _COLUMNS or not 0 <= first <= mask - _COLUMNS + 1:
            raise self.thread.error(
                f"topk_stamp_tile_rank_range of tile {tile} and places from {first} on; there are "
                f"tiles 0 and 1, and multiples of {_COLUMNS} up to {mask - _COLUMNS + 1}",
                rule="arguments",
            )
        self._stamp("topk_stamp_tile_rank_range", dst + tile, first, template)

    def _stamp(self, call: str, dst: int, first: int, template: Template) -> None:
        (largest,) = self.numbers_of(call, template, 1)
        mask = self._tag_mask(template, 1)
        self._start(call)
        words = self._words(call, dst)
        words &= np.uint32(~mask & 0xFFFF_FFFF)
        words[(words << np.uint32(1)) == 0] = 0
        ranks = np.repeat(np.arange(first, first + _COLUMNS, dtype=np.uint32), _COLUMNS)
        tags = faces_of_rows(ranks.reshape(_COLUMNS, _COLUMNS)).reshape(-1)
        words[:] = words | complement_tags(words, tags, mask, largest=bool(largest))

    @kernel_call()
    def topk_canonicalize_negzero_values(self, dst: int, *, template: Template = ()) -> None:
        """-0 becomes 0, where DST holds 32 bits."""
        self._start("topk_canonicalize_negzero_values")
        if self.dst.register is Register.FP32:
            for each in (dst, dst + 1):
                words = self.tile(each, "write").view(np.uint32)
                words[(words << np.uint32(1)) == 0] = 0

    @kernel_call()
    def topk_strip_rank_tags(self, dst: int, *, template: Template = ()) -> None:
        """Zeros in the low bits."""
        self._start("topk_strip_rank_tags")
        words = self._words("topk_strip_rank_tags", dst)
        words &= np.uint32(~self._tag_mask(template, 0) & 0xFFFF_FFFF)

    @kernel_call()
    def topk_finalize_uint16_indices(self, dst: int, *, template: Template = ()) -> None:
        """Nothing: here integers of 16 bits in DST are where the packer takes them from."""
        self._start("topk_finalize_uint16_indices")
        self._words("topk_finalize_uint16_indices", dst)

    @kernel_call()
    def topk_uint16_move_dest_tile_to_pack_half(self, dst: int, *, template: Template = ()) -> None:
        """Zeros above the 16 bits."""
        self._start("topk_uint16_move_dest_tile_to_pack_half")
        words = self._words("topk_uint16_move_dest_tile_to_pack_half", dst)
        words &= np.uint32(_LOW_HALF)

    @kernel_call()
    def topk_uint16_prepare_value_tile_for_pack(self, dst: int) -> None:
        """Nothing: here integers of 16 bits in DST are where the packer takes them from."""
        self._start("topk_uint16_prepare_value_tile_for_pack")

    # --- Others ---------------------------------------------------------------------------------

    @kernel_call()
    def tiled_prod_tile(self, dst: int) -> None:
        """Products down the vectors; what is after the last one goes to the next tile."""
        self._start("tiled_prod_tile")
        values = np.array(self.tile(dst))
        following = np.array(self.tile(dst + 1))
        product = np.ones(_COLUMNS, np.float32)
        with np.errstate(all="ignore"):
            for place in PLACES:
                product = values[place] = self._rounded(values[place] * product)
            following[PLACES[0]] *= product
        self.put_floats(dst, values)
        self.put_floats(dst + 1, following)

    @kernel_call()
    def sfpu_add_int(self, dst: int, offset: int = 2, iterations: int = 8) -> None:
        """A tile and the next one, whatever the offset says."""
        self._start("sfpu_add_int")
        total = self.tile(dst).view(np.int32) + self.tile(dst + 1).view(np.int32)
        self.tile(dst, "write").view(np.int32)[:] = total
