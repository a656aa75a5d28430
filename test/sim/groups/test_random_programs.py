"""Random small programs: numbers that come late, and groups, change nothing of what comes out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple, TypeVar
from unittest.mock import patch

import numpy as np
import pytest
from running.group_comparison import facts_of, random_tiles

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import run_program
from ttmlir.sim.groups import group_run
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.numerics import TILE_BYTES
from ttmlir.sim.options import SimOptions

T = TypeVar("T")

_FORMATS = {
    DataType.BF16: "Float16_b",
    DataType.F32: "Float32",
    DataType.F16: "Float16",
    DataType.BFP_BF8: "Bfp8_b",
}
_BUFFERS = (0, 1, 16, 17, 24)
"""Circular buffers: two of operands, two of results, one between rounds of the compute kernel."""

_INCLUDES = "\n".join(
    f'#include "compute_kernel_api/{name}.h"'
    for name in (
        *("eltwise_binary", "tile_move_copy", "matmul", "bcast", "reduce", "transpose_wh"),
        *("eltwise_unary/eltwise_unary", "eltwise_unary/exp", "eltwise_unary/recip"),
        *("eltwise_unary/fill", "eltwise_unary/relu", "eltwise_unary/typecast"),
        "eltwise_binary_sfpu",
    )
)

_MOVER = """
#include "dataflow_api.h"
#define PAGES(name, number, cb) const InterleavedAddrGenFast<true> name = { \\
    .bank_base_address = get_arg_val<uint32_t>(number), \\
    .page_size = get_tile_size(cb), .data_format = get_dataformat(cb)}
void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(4), tiles = get_arg_val<uint32_t>(5);
    const uint32_t x = get_arg_val<uint32_t>(6), y = get_arg_val<uint32_t>(7);
    PAGES(a, 0, 0);
    PAGES(b, 1, 1);
    PAGES(c, 2, 16);
    PAGES(d, 3, 17);
    for (uint32_t i = first; i < first + tiles; i++) {
        BODY
    }
    noc_async_write_barrier();
}
"""
"""Kernels that move pages of `a` to `d`; the next core is at (x, y)."""

_READS = {
    "whole": "noc_async_read_tile(i, T, get_write_ptr(CB));",
    "other pages before": """
        noc_async_read_tile(0, T, get_write_ptr(CB)); noc_async_read_barrier();
        noc_async_read_tile(i, T, get_write_ptr(CB));""",
    "in parts": """
        noc_async_read(get_noc_addr(i, T), get_write_ptr(CB), 512);
        noc_async_read(get_noc_addr(i, T, 512), get_write_ptr(CB) + 512,
            get_tile_size(CB) - 512);""",
    "a part": "noc_async_read(get_noc_addr(i, T), get_write_ptr(CB), get_tile_size(CB) / 2);",
}
_SEND = "noc_async_write_tile(i, T, get_read_ptr(CB));"
_TO_PLACE = "noc_async_write(get_read_ptr(CB), get_noc_addr(PLACE), get_tile_size(CB));"
_WRITES = {
    "whole": _SEND,
    "in parts": """
        noc_async_write(get_read_ptr(CB), get_noc_addr(i, T), 512);
        noc_async_write(get_read_ptr(CB) + 512, get_noc_addr(i, T, 512),
            get_tile_size(CB) - 512);""",
    "changed": f"*(volatile tt_l1_ptr uint32_t*)(get_read_ptr(CB) + 40) = i + 0x3f800000; {_SEND}",
    "looked at": f"if (*(volatile tt_l1_ptr uint32_t*)get_read_ptr(CB) & 0x8000) {{ {_SEND} }}",
    "by an Ethernet core": f"""
        {_TO_PLACE.replace("PLACE", "ETHERNET, 0x20000 + first * 0x1000")}
        noc_async_write_barrier();
        noc_async_read(get_noc_addr(ETHERNET, 0x20000 + first * 0x1000), get_read_ptr(CB), 1024);
        noc_async_read_barrier(); {_SEND}""",
    "outside": "noc_async_write_tile((1 << 20) + i, T, get_read_ptr(CB));",
}
_RACES = {
    "to the next core": _SEND + _TO_PLACE.replace("PLACE", "x, y, get_read_ptr(ANY)"),
    "a part to the next core": _SEND
    + "noc_async_write(get_read_ptr(CB) + 32, get_noc_addr(x, y, get_read_ptr(ANY) + 32), 256);",
    "from the next core": f"""
        noc_async_read(get_noc_addr(x, y, get_read_ptr(CB)), get_read_ptr(CB), get_tile_size(CB));
        noc_async_read_barrier(); {_SEND}""",
    "within the core": f"""
        noc_async_read(get_noc_addr(get_read_ptr(CB)), get_read_ptr(CB) + 16, 512);
        noc_async_read_barrier(); {_SEND}""",
    "to several cores": f"""
        noc_async_write_multicast_loopback_src(get_read_ptr(CB),
            get_noc_multicast_addr(FROM_TO, get_read_ptr(ANY)), get_tile_size(CB), 2);
        noc_async_write_barrier(); {_SEND}""",
}
"""Copies that nothing orders: the sanitizer stops most of them."""


class _Text:
    """Kernels of a program; every other one has faults."""

    def __init__(self, rng: np.random.Generator, formats: dict[int, DataType]) -> None:
        self._rng = rng
        self._formats = formats
        self._is_faulty = self.happens(0.3)
        self._begins_anew = self.happens(0.2)

    def happens(self, share: float) -> bool:
        """Whether something does that does so often."""
        return bool(self._rng.random() < share)

    def pick(self, some: Sequence[T]) -> T:
        """One of them."""
        return some[int(self._rng.integers(len(some)))]

    def _fault(self, share: float) -> bool:
        return self._is_faulty and self.happens(share)

    def reader(self) -> str:
        """Fills circular buffers 0 and 1."""
        body = ""
        for cb, tensor in ((0, "a"), (1, "b")):
            names = ["whole", *_READS] if self.happens(0.3) else ["whole", "other pages before"]
            read = _READS[self.pick(names)].replace("CB", str(cb)).replace("T,", f"{tensor},")
            body += f"cb_reserve_back({cb}, 1); {read.replace('(i, T)', f'(i, {tensor})')}\n"
            body += "" if self._fault(0.1) else "noc_async_read_barrier();"
            body += f"cb_push_back({cb}, 1);\n"
        return _MOVER.replace("BODY", body)

    def writer(self, *, races: bool, ethernet: str, from_to: str) -> str:
        """Empties circular buffers 16 and 17."""
        texts = _WRITES | _RACES if races else _WRITES
        body = ""
        for cb, tensor in ((16, "c"), (17, "d")):
            name = self.pick([*texts]) if self.happens(0.3) else "whole"
            if name == "outside" and not self._is_faulty:
                name = "whole"
            write = texts[name].replace("ANY", str(self.pick(_BUFFERS))).replace("CB", str(cb))
            write = write.replace("(i, T", f"(i, {tensor}").replace("+ i, T", f"+ i, {tensor}")
            write = write.replace("ETHERNET", ethernet).replace("FROM_TO", from_to)
            body += f"cb_wait_front({cb}, 1); {write}\n"
            flushed = ["noc_async_writes_flushed();", "noc_async_write_barrier();"]
            body += "" if self._fault(0.1) else self.pick(flushed)
            body += "" if self._fault(0.03) else f"cb_pop_front({cb}, 1);\n"
        return _MOVER.replace("BODY", body)

    def compute(self) -> str:
        """One to three rounds of calls for each tile."""
        body, ins = "cb_wait_front(0, 1); cb_wait_front(1, 1);\n", [0, 1]
        rounds = self.pick([1, 1, 2, 3])
        for number in range(rounds):
            outs = (16, 17) if number == rounds - 1 else (24,)
            body += "tile_regs_acquire();\n"
            if not self._begins_anew:
                body += f"{self._formats_of(ins[-1])} copy_tile_to_dst_init_short({ins[-1]});\n"
                body += f"for (uint32_t t = 0; t < 4; t++) {{ copy_tile({ins[-1]}, 0, t); }}\n"
            for _ in range(self.pick([1, 2, 3, 4])):
                body += self._call(ins) + "\n"
            if outs != (24,) and not self._fault(0.1):
                body += "cb_pop_front(0, 1); cb_pop_front(1, 1);\n"
            body += "cb_pop_front(24, 1);\n" if 24 in ins else ""
            body += "tile_regs_commit();\n"
            body += "".join(f"cb_reserve_back({out}, 1);" for out in outs)
            body += "tile_regs_wait();\n" + "".join(map(self._pack, outs))
            body += "tile_regs_release();\n"
            body += "".join(f"cb_push_back({out}, 1);\n" for out in outs)
            if outs == (24,):
                body += "cb_wait_front(24, 1);\n"
                ins = [0, 1, 24, 24]
        return f"""{_INCLUDES}
            namespace NAMESPACE {{ void MAIN {{
            binary_op_init_common(0, 1, 16);
            const uint32_t tiles = get_arg_val<uint32_t>(0);
            for (uint32_t i = 0; i < tiles; i++) {{ {body} }} }} }}"""

    def _tile(self) -> int:
        return self.pick([7, 16] if self._fault(0.03) else [0, 0, 1, 2, 3])

    def _formats_of(self, a: int, b: int | None = None) -> str:
        return "" if self._fault(0.08) else f"reconfig_data_format({a}, {a if b is None else b});"

    def _pack(self, out: int) -> str:
        text = ""
        if self.happens(0.25):
            configs = ("0", "1", "0x3f800002", "0x3f800003", "0x80000003", "3", "0x7fc00003")
            text += f"PACK((llk_pack_relu_config({self.pick(configs)})));\n"
        text += "" if self._fault(0.05) else f"pack_reconfig_data_format({out});"
        if self.happens(0.25):
            for adds in (self.pick([0, 0, 1]), 1):
                text += f"pack_reconfig_l1_acc({adds}); pack_tile<true>({self._tile()}, {out}, 0);"
            text += "pack_reconfig_l1_acc(0);"
        else:
            text += f"pack_tile({self._tile()}, {out});"
        if self.happens(0.15):
            page = 5 if self._fault(0.2) else 0
            text += f"pack_tile<true>({self._tile()}, {out}, {page});"
        return text + "\n"

    def _call(self, ins: Sequence[int]) -> str:
        text = self._any_call(self.pick(ins), self.pick(ins))
        return text[text.find(";") + 1 :] if self._fault(0.04) else text

    def _any_call(self, a: int, b: int) -> str:
        tile, word = self._tile(), self.pick(["add", "sub", "mul"])
        part, function = self.pick(["rows", "cols"]), self.pick(["exp", "recip", "relu"])
        side, spread = self.pick("AB"), self.pick(["ROW", "COL", "SCALAR"])
        pool, where = self.pick(["SUM", "MAX"]), self.pick(["ROW", "COL", "SCALAR"])
        kind = f"<PoolType::{pool}, ReduceDim::REDUCE_{where}>"
        reuse = f"<EltwiseBinaryType::ELW{word.upper()}, "
        reuse += f"EltwiseBinaryReuseDestType::DEST_TO_SRC{side}>"
        casts = [f"(uint32_t)DataFormat::{_FORMATS[self._formats[each]]}" for each in (a, 16)]
        cast, one = f"<{casts[0]}, {casts[1]}>", self._formats_of(a)
        two = self._formats_of(a, b)
        places = f"{a}, {b}, 0, 0, {tile}"
        multiply = f"matmul_tiles({places}, 0);"
        calls = (
            f"{one} copy_tile_to_dst_init_short({a}); copy_tile({a}, 0, {tile});",
            f"{two} {word}_tiles_init({a}, {b}); {word}_tiles({places});",
            f"{two} {word}_tiles_init({a}, {b}, 1); {word}_tiles({places});",
            f"{two} {word}_bcast_{part}_init_short({a}, {b}); {word}_tiles_bcast_{part}({places});",
            f"{self._formats_of(b, a)} mm_init_short({a}, {b}); {multiply * self.pick([1, 2, 5])}",
            f"{self._formats_of(b, a)} mm_block_init_short({a}, {b}, 0, 1, 1, 1); "
            f"matmul_block({places}, 0, 1, 1, 1);",
            f"{two} reduce_init{kind}({a}, {b}, 16); reduce_tile{kind}({places}); "
            + self.pick(["", "reduce_uninit();"]),
            f"{one} transpose_wh_init_short({a}); transpose_wh_tile({a}, 0, {tile});",
            f"{one} unary_bcast_init<BroadcastType::{spread}>({a}, 16); "
            f"unary_bcast<BroadcastType::{spread}>({a}, 0, {tile});",
            f"{function}_tile_init(); {function}_tile({tile});",
            f"{word}_binary_tile_init(); "
            f"{word}_binary_tile({tile}, {self._tile()}, {self._tile()});",
            f"fill_tile_init(); fill_tile({tile}, {self.pick(['1.5f', '-0.0f'])});",
            f"typecast_tile_init{cast}(); typecast_tile{cast}({tile});",
            f"{one} binary_dest_reuse_tiles_init{reuse}({a}); "
            f"binary_dest_reuse_tiles{reuse}({a}, 0, {tile});",
        )
        return self.pick(calls)


def random_program(seed: int) -> tuple[SimDevice, Program]:
    """A program of four to eight cores, on a device of its own."""
    rng = np.random.default_rng(seed)
    dice = _Text(rng, {})
    one, is_mixed = dice.pick([*_FORMATS]), dice.happens(0.4)
    formats = {cb: dice.pick([*_FORMATS]) if is_mixed else one for cb in _BUFFERS}
    options = SimOptions(
        timed=not dice.happens(0.1),
        sanitize=not dice.happens(0.4),
        numerics="exact" if dice.happens(0.1) else "device",
        cycle_limit=300_000,
    )
    device = SimDevice(SimChip.of_board(dice.pick(["n150", "n150", "p150"])), options)
    count, share = dice.pick(range(4, 9)), dice.pick([1, 2, 3])
    shares = [share if dice.happens(0.9) else dice.pick([1, 2, 3]) for _ in range(count)]
    cores = tuple((place % 4, place // 4) for place in range(count))
    places = [device.core(*core).coordinate for core in cores]
    tensors: list[Buffer] = []
    for cb in _BUFFERS[:4]:
        size = TILE_BYTES[formats[cb]]
        tensors.append(Buffer(device, sum(shares) * size, size))
        if cb < 2:
            tensors[-1].write(random_tiles(rng, formats[cb], sum(shares)))
    program, pages = Program(), dice.pick([1, 2, 2, 3])
    for cb, data_type in formats.items():
        size = TILE_BYTES[data_type]
        spec = CircularBufferSpec(
            cores=cores, total_size=pages * size, indices={cb: (size, data_type)}
        )
        program.add_circular_buffer(spec)
    text = _Text(rng, formats)
    ethernet, ends = device.chip.ethernet[0], (*places[1], *places[0])
    texts = (
        (Role.NCRISC, text.reader()),
        (
            Role.BRISC,
            text.writer(
                races=not options.sanitize or dice.happens(0.1),
                ethernet=", ".join(map(str, ethernet)),
                from_to=", ".join(map(str, ends)),
            ),
        ),
        (Role.COMPUTE, text.compute()),
    )
    settings = ComputeSettings(
        fp32_dest_acc_en=dice.happens(0.35),
        dst_full_sync_en=dice.happens(0.2),
        fidelity=dice.pick([MathFidelity.LOFI, MathFidelity.HIFI2, MathFidelity.HIFI4]),
    )
    addresses = [tensor.address for tensor in tensors]
    for role, source in texts:
        arguments: dict[tuple[int, int], Sequence[int]] = {}
        for place, core in enumerate(cores):
            arguments[core] = [shares[place]]
            if role is not Role.COMPUTE:
                first, (x, y) = sum(shares[:place]), places[(place + 1) % count]
                arguments[core] = [*addresses, first, shares[place], x, y]
        name = str(role.name).lower()
        kernel = Kernel(
            name=name,
            file=f"{name}.cpp",
            text=source,
            cores=cores,
            role=role,
            noc_index=int(role is Role.BRISC),
            compute=settings,
            arguments=arguments,
        )
        program.add_kernel(kernel)
    return device, program


class _Outcome(NamedTuple):
    """What came of a program: facts or an error, what was found, the bytes of memories."""

    facts: tuple[object, ...]
    findings: list[str]
    memories: dict[str, bytes]


def _run(seed: int, switch: str, smallest: int) -> _Outcome:
    device, program = random_program(seed)
    with (
        patch.dict(os.environ, {group_run.SWITCH: switch}),
        patch.object(group_run, "SMALLEST_GROUP", smallest),
    ):
        try:
            facts = facts_of(run_program(device, program))
        except SimError as error:
            facts = (str(error),)
    findings = [] if device.watch is None else [*map(str, device.watch.findings)]
    assert not any(memory.late for memory in device.memories())
    # What was never touched is poison, whether it was allocated or not.
    memories = {memory.name: memory.data.tobytes().rstrip(b"\xff") for memory in device.memories()}
    return _Outcome(facts, findings, {name: data for name, data in memories.items() if data})


_AT_ONCE = 4
_ALWAYS = (0, 16, 140)
"""Among these are programs that copy, cast and reduce pages of which nobody wrote a part."""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.exhaustive if first not in _ALWAYS else ())
        for first in range(0, 300, _AT_ONCE)
    ],
)
def test_random_programs_come_out_the_same(first: int) -> None:
    """The same bytes, clocks, findings and errors: core by core, in groups, with late numbers."""
    for seed in range(first, first + _AT_ONCE):
        expected = _run(seed, "0", 4)
        for smallest in (1, 4):
            found = _run(seed, "1", smallest)
            assert found.facts == expected.facts, seed
            assert found.findings == expected.findings, seed
            assert found.memories == expected.memories, seed
