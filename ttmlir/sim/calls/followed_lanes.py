"""Instructions of the vector unit on numbers that nobody wrote.

They travel lane by lane from the tiles of DST that they are loaded from to those that they are
stored to, and through the registers; where lanes change places, they count at once. A number also
counts as unwritten if it is not known whether its lane took part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable.kernel.cpp_compute_calls import PREFIX
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.kernel_api import declared_calls, kernel_call
from ttmlir.sim.calls.lanes_api import LANES, PLACES, LanesApi
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.registers import Poison, join_poison
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]


class Followed(NamedTuple):
    """What a vector of a kernel holds, of whose lanes nobody wrote some."""

    values: Array
    poison: Poison
    """By lane."""


class FollowedLanesApi(LanesApi):
    """The instructions; those that are not here take and give plain lanes, one by one."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """Nothing is followed yet."""
        super().__init__(core, thread, options, settings)
        self.follows = False
        """Whether a vector was loaded that has lanes that nobody wrote."""
        self._doubt: Poison | None = None
        """The lanes of which it is not known whether they take part."""
        self._of_registers: dict[int, Poison] = {}

    def follow(self, values: Array, poison: Poison | None) -> Any:
        """A result, with its lanes that nobody wrote, if there are any."""
        if poison is None or not poison.lanes.any():
            return values
        self.follows = True
        return Followed(values, poison)

    def _changed(self, before: Poison | None, given: Poison | None) -> Poison | None:
        """What is unwritten of lanes of which those change that take part."""
        if self._lanes is None:
            return given
        given = given and given.only(self._lanes)
        before = before and before.only(~self._lanes)
        return join_poison(before, given, self._doubt)

    # --- DST --------------------------------------------------------------------------------------

    def _vector(self, index: int) -> tuple[int, Array]:
        """The tile that a vector is in, and its places there."""
        tile, vector = divmod(self.place_of(index), LANES)
        return tile, PLACES[vector]

    def _load(self, load: Callable[[int], Array], index: int) -> Any:
        poisons = self.half.poisons
        tile, places = self._vector(index)
        poison = poisons.pop(tile, None)
        values = load(index)
        if poison is None:
            return values
        poisons[tile] = poison
        return self.follow(values, poison.at(places))

    @kernel_call()
    def builtin_sfpi_load_floats(self, index: int) -> Any:
        """Numbers of DST."""
        load = super().builtin_sfpi_load_floats
        return self._load(load, index) if self.half.poisons else load(index)

    @kernel_call()
    def builtin_sfpi_load_integers(self, index: int) -> Any:
        """Integers of DST, or the bits of its numbers as float32."""
        load = super().builtin_sfpi_load_integers
        return self._load(load, index) if self.half.poisons else load(index)

    @kernel_call()
    def builtin_sfpi_store_floats(self, index: int, values: Any) -> None:
        """Numbers to DST, cut to its format."""
        store, poisons = super().builtin_sfpi_store_floats, self.half.poisons
        if not poisons and not self.follows:
            store(index, values)
            return
        tile, places = self._vector(index)
        there = poisons.pop(tile, None)
        plain, given = _split(values)
        store(index, plain)
        before = None if there is None else there.at(places)
        here = self._changed(before, given)
        others = None if there is None else there.without(places)
        if here is not None:
            others = join_poison(others, here.spread(places))
        if others is not None and others.lanes.any():
            poisons[tile] = others

    @kernel_call()
    def builtin_sfpi_store_integers(self, index: int, values: Any) -> None:
        """Integers to DST; one of 16 bits takes them for the bits of float32."""
        self.builtin_sfpi_store_floats(index, self.builtin_sfpi_floats_of_bits(values))

    # --- Registers --------------------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_read_register(self, number: int) -> Any:
        """What a register holds that the kernel names."""
        values = super().builtin_sfpi_read_register(number)
        return self.follow(values, self._of_registers.get(number))

    @kernel_call()
    def builtin_sfpi_write_register(self, number: int, values: Any) -> None:
        """Change such a register."""
        plain, given = _split(values)
        super().builtin_sfpi_write_register(number, plain)
        if self.follows:
            poison = self._changed(self._of_registers.pop(number, None), given)
            if poison is not None:
                self._of_registers[number] = poison

    @kernel_call()
    def builtin_sfpi_assign_floats(self, old: Any, new: Any) -> Any:
        """New numbers in lanes that take part."""
        return self._assign_followed(old, new)

    @kernel_call()
    def builtin_sfpi_assign_integers(self, old: Any, new: Any) -> Any:
        """New integers in lanes that take part."""
        return self._assign_followed(old, new)

    def _assign_followed(self, old: Any, new: Any) -> Any:
        if not self.follows:
            return self._assign(old, new)
        (before, of_before), (given, of_given) = _split(old), _split(new)
        return self.follow(self._assign(before, given), self._changed(of_before, of_given))

    # --- Lanes that take part ---------------------------------------------------------------------

    def _decided(self, condition: Any) -> Array:
        """A condition, of which it is noted in which lanes it depends on what nobody wrote."""
        values, poison = _split(condition)
        if poison is not None:
            here = poison if self._lanes is None else poison.only(self._lanes)
            self._doubt = join_poison(self._doubt, here)
        return values

    @kernel_call()
    def builtin_sfpi_begin_if(self, condition: Any) -> None:
        """`v_if`: only lanes in which a condition holds."""
        super().builtin_sfpi_begin_if(self._decided(condition))

    @kernel_call()
    def builtin_sfpi_narrow(self, condition: Any) -> None:
        """`v_and`: of the lanes those in which a condition holds, too."""
        super().builtin_sfpi_narrow(self._decided(condition))

    @kernel_call()
    def builtin_sfpi_begin_elseif(self, condition: Any) -> None:
        """`v_elseif`, after `v_else`: of these lanes those in which a condition holds."""
        super().builtin_sfpi_begin_elseif(self._decided(condition))

    @kernel_call()
    def builtin_sfpi_set_condition(self, condition: Any) -> None:
        """An instruction that leaves lanes out, outside of `v_if`, too."""
        super().builtin_sfpi_set_condition(self._decided(condition))

    @kernel_call()
    def builtin_sfpi_end_if(self) -> None:
        """`v_endif` and `v_endblock`: the lanes of before."""
        super().builtin_sfpi_end_if()
        if not self._around:
            self._doubt = None

    @kernel_call()
    def builtin_sfpi_enable_lanes(self) -> None:
        """An instruction by which all lanes take part again."""
        super().builtin_sfpi_enable_lanes()
        self._doubt = None

    @kernel_call()
    def builtin_sfpi_pop_lanes(self) -> None:
        """An instruction by which those take part that did when they were put away."""
        if not self._around:
            raise self.thread.error(
                "there are no lanes to go back to: TTI_SFPPOPC takes those that TTI_SFPPUSHC or "
                "v_if has put away, and all of these were taken; remove it, or call TTI_SFPPUSHC "
                "before",
                rule="sfpi",
            )
        self.builtin_sfpi_end_if()

    @kernel_call()
    def builtin_sfpi_complement_lanes(self) -> None:
        """An instruction by which the other lanes take part, of those that were put away last."""
        if self._around:
            self.builtin_sfpi_begin_else()
            return
        self._lanes = np.zeros(LANES, np.bool_) if self._lanes is None else ~self._lanes
        self._take("complement_lanes")


def _split(vector: Any) -> tuple[Array, Poison | None]:
    """The lanes of a vector, and what nobody wrote of them."""
    return vector if isinstance(vector, Followed) else (vector, None)


_MOVING = frozenset(
    PREFIX + name for name in ("rotate_rows", "shift_rows", "row_of_registers", "write_constant")
)
"""Instructions by which lanes change places, or are kept for programs."""


def _following(name: str) -> Callable[..., Any]:
    """An instruction that takes plain lanes, for those that are followed."""
    plainly: Callable[..., Any] = getattr(LanesApi, name)

    @kernel_call()
    @wraps(plainly)
    def method(self: FollowedLanesApi, *arguments: Any) -> Any:
        if not self.follows:
            return plainly(self, *arguments)
        poison = join_poison(*(each.poison for each in arguments if isinstance(each, Followed)))
        if poison is None:
            return plainly(self, *arguments)
        result = plainly(self, *(_split(each)[0] for each in arguments))
        if name in _MOVING:
            poison.tell()
            return result
        return self.follow(result, poison)

    return method


for _name in declared_calls(LanesApi):
    if _name.startswith(PREFIX) and _name not in vars(FollowedLanesApi):
        setattr(FollowedLanesApi, _name, _following(_name))
