"""The calls that a compute kernel makes, as far as its three threads have them in common.

A compute kernel is one text that runs on three threads: UNPACK copies tiles from circular buffers
to the source registers (`UnpackApi`), MATH computes on them into DST (`MathApi`), PACK copies tiles
from DST to circular buffers (`PackApi`). Methods are named by the C++ calls and take their
arguments, template arguments as `template=(...)`. Calls that wait return True when done or False
after noting in the thread what it waits for, to be made again.

Source: tt-metal, tt_metal/include/compute_kernel_api.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.optable.kernel import Cost, find_call
from ttmlir.sim.calls.kernel_api import KernelApi, Template, kernel_call
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.device import Core, UnitSemaphores
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.machine.numerics import Register, register_of_class
from ttmlir.sim.machine.registers import DestinationRegisters, Products, SourceRegisters
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.costs import UNITS


@dataclass(frozen=True, kw_only=True)
class ComputeSettings:
    """How a compute kernel is compiled (tt-metal's ComputeConfig)."""

    fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    """DST holds 32-bit numbers, half as many."""
    dst_full_sync_en: bool = False
    """DST is handed over whole instead of in halves."""
    math_approx_mode: bool = False
    """Faster, less exact vector functions on the chip; here template arguments alone say so."""
    unpack_to_dest: frozenset[int] = frozenset()
    """Circular buffers whose Float32 tiles are copied to DST without passing SrcA."""


WaitingProducts = dict[tuple[Register, MathFidelity], Products]
"""What waits to be added to DST on any core, by its format and by the fidelity of products."""


def give_registers(
    core: Core, settings: ComputeSettings, waiting: WaitingProducts, *, timed: bool
) -> None:
    """Give a core empty registers for a program; its circular buffers are there already.

    `waiting` is that of all cores of the program.
    """
    formats = frozenset(cb.data_format for cb in core.cbs.values())
    wide = settings.fp32_dest_acc_en
    narrow = register_of_class(formats)
    register = Register.FP32 if wide else narrow
    core.src = SourceRegisters(timed=timed)
    fidelity = settings.fidelity
    products = waiting.setdefault((register, fidelity), Products(register, fidelity))
    core.dst = DestinationRegisters(
        register, full_sync=settings.dst_full_sync_en, products=products, narrow=narrow
    )


class ComputeApi(KernelApi):
    """What the three threads' calls have in common."""

    ADDRESS_UNIT: ClassVar[int] = 16

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """The calls of a thread of a core that `give_registers` prepared."""
        super().__init__(core, thread, options)
        src, dst = core.src, core.dst
        assert isinstance(src, SourceRegisters), "give_registers prepares a core"
        assert isinstance(dst, DestinationRegisters), "give_registers prepares a core"
        self.settings = settings
        self.on_blackhole = core.chip.arch is Arch.BLACKHOLE
        self.exact = options.numerics == "exact"
        self.src = src
        self.dst = dst
        self.src_key = ("src", core)
        self.commit_key = ("dst", core, "commit")
        self.release_key = ("dst", core, "release")
        self.step = thread.step
        self.done = 0
        """Tiles that a call which blocked in between has dealt with."""

    def spend(self, cycles: int) -> None:
        """Advance the clock by the time that a unit is busy."""
        if self.timed:
            self.thread.occupy(cycles)

    def spend_on_math(self, cost: Cost, *, narrow: bool) -> None:
        """Advance it by a call on this chip, on DST of 16 bits or as if so (`narrow`)."""
        is_narrow = narrow or self.dst.register in (Register.BF16, Register.FP16)
        self.spend(cost.math_on(blackhole=self.on_blackhole, narrow=is_narrow))

    def reconfigured(self) -> None:
        """Account for a call that only writes configuration."""
        if self.timed:
            self.thread.occupy(UNITS.reconfigure)

    @kernel_call(waits=True)
    def get_tile_address(self, cb: int, index: int) -> bool:
        """Wait for the address of a filled tile, which the unpack thread sends."""
        return self.receive_word("UNPACK")

    @kernel_call(waits=True)
    def read_tile_value(self, cb: int, index: int, element: int) -> bool:
        """Wait for a word of a filled tile, which the unpack thread sends."""
        return self.receive_word("UNPACK")

    # Semaphores of the units.

    def _unit_semaphore(self, call: str, number: int) -> UnitSemaphores:
        if not 0 <= number < UnitSemaphores.COUNT:
            raise self.thread.error(
                f"{call} of semaphore {number}; the units have {UnitSemaphores.COUNT}",
                rule="arguments",
            )
        return self.core.unit_semaphores

    @kernel_call()
    def t6_semaphore_init(
        self, number: int, value: int, limit: int, *, template: Template = ()
    ) -> None:
        """Give a semaphore of the units a value and a maximum."""
        found = self._unit_semaphore("t6_semaphore_init", number)
        for what, each in (("value", value), ("maximum", limit)):
            if not 0 <= each <= found.MOST:
                raise self.thread.error(
                    f"t6_semaphore_init with the {what} {each}; it is from 0 to {found.MOST}",
                    rule="arguments",
                )
        found.set(number, value, limit, self.thread.clock)
        self.scheduler.progress += 1

    @kernel_call()
    def t6_semaphore_post(self, number: int, *, template: Template = ()) -> None:
        """Add one to it."""
        found = self._unit_semaphore("t6_semaphore_post", number)
        if self.watch is not None:
            self.watch.release(self.thread, ("t6_semaphore", self.core, number, "post"))
        if not found.post(number, self.thread.clock):
            raise self.thread.error(
                f"t6_semaphore_post is lost: semaphore {number} of the units has {found.MOST} "
                "tokens, and no room for more; call t6_semaphore_wait_on_max before it",
                rule="arguments",
            )
        self.scheduler.progress += 1

    @kernel_call()
    def t6_semaphore_get(self, number: int, *, template: Template = ()) -> None:
        """Take one from it, if it is not zero."""
        found = self._unit_semaphore("t6_semaphore_get", number)
        if self.watch is not None:
            self.watch.release(self.thread, ("t6_semaphore", self.core, number, "get"))
        found.get(number, self.thread.clock)
        self.scheduler.progress += 1

    @kernel_call(waits=True)
    def t6_semaphore_wait_on_zero(self, number: int, *, template: Template = ()) -> bool:
        """Wait until it is not zero."""
        return self._await_units("t6_semaphore_wait_on_zero", number, "post")

    @kernel_call(waits=True)
    def t6_semaphore_wait_on_max(self, number: int, *, template: Template = ()) -> bool:
        """Wait until it is less than its maximum."""
        return self._await_units("t6_semaphore_wait_on_max", number, "get")

    def _await_units(self, call: str, number: int, what: str) -> bool:
        found = self._unit_semaphore(call, number)
        time = found.wait(number, self.thread, is_full=what == "get")
        if time is None:
            return False
        if self.timed:
            self.thread.wait_until(time, "t6_semaphore")
        if self.watch is not None:
            self.watch.acquire(self.thread, ("t6_semaphore", self.core, number, what))
        return True

    # Width of DST.

    @kernel_call(waits=True)
    def enable_fp32_dest_acc(self) -> bool:
        """Hold 32-bit numbers in DST from now on; the three threads wait for each other."""
        return self.change_width(wide=True)

    @kernel_call(waits=True)
    def disable_fp32_dest_acc(self) -> bool:
        """Hold 16-bit numbers in DST from now on; the three threads wait for each other."""
        return self.change_width(wide=False)

    def change_width(self, *, wide: bool) -> bool:
        """Tell the MATH thread, which changes the width, to go on, and wait until it has."""
        if not self.done:
            self.send_word("MATH", int(wide))
            self.done = 1
        if not self.receive_word("MATH"):
            return False
        self.done = 0
        self.reconfigured()
        return True

    def report(self, rule: str, message: str, *detail: str) -> None:
        """Hand a finding to the sanitizer, if there is one."""
        if self.watch is not None:
            self.watch.report(self.thread.finding(message, rule=rule, detail=detail))

    def numbers_of(self, call: str, template: Template, count: int) -> tuple[int, ...]:
        """The first template arguments of a call, which it needs; error if they are missing."""
        if len(template) < count:
            names = ", ".join(each.name for each in find_call(call).templates[:count])
            raise self.thread.error(
                f"{call} is called without the template arguments that it works by; write "
                f"{call}<{names}>(...)",
                rule="template",
            )
        return tuple(int(each) for each in template[:count])

    def check_format(
        self, cb: CircularBuffer, configured: DataType | None, unit: str, remedy: str
    ) -> None:
        """Find fault with a unit that was configured for another format than the buffer has."""
        if configured is cb.data_format:
            return
        has = f"circular buffer {cb.index} holds {cb.data_format.schema_name}"
        if configured is None:
            self.report("init", f"{unit} is not configured, and {has}; call {remedy} before")
            return
        self.report(
            "format",
            f"{has}, but {unit} is configured for {configured.schema_name}: it would take the "
            f"bits for other numbers; call {remedy} before",
        )

    def check_tile(self, index: int, kind: Literal["read", "write"]) -> None:
        """Error for an index that DST has no tile for; else the sanitizer may look at it.

        `kind` is `read` or `write`.
        """
        dst = self.dst
        if not 0 <= index < dst.capacity:
            bits = 32 if dst.register is Register.FP32 else 16
            raise self.thread.error(
                f"DST has no tile {index}: a thread sees {dst.capacity} tiles of {bits} bits; "
                "use fewer between two hand-overs",
                rule="dst-bounds",
            )
        if self.watch is not None:
            self.watch.dst_access(self.thread, dst, index, kind)


@cache
def math_cost(name: str, phases: int) -> int:
    """Cycles of the math thread for a tile of a call, from its row."""
    cost = find_call(name).cost
    return cost.math * phases if cost.phases else cost.math
