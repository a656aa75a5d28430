"""Prints estimates beside times that were measured on cards, and how far they are apart.

`python test/bench/cost_report.py` prints the tables; `make docs` puts the errors into docs/cost.md.
Figures are public ones of tt-metal, by file, pull request or issue, if nothing else is said; each
is the time of kernels on the device, or, of models, of a whole run with launching. None of them
sets a parameter of `ttmlir.cost`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cost_models import (
    BF16,
    BFP4,
    BFP8,
    BLOCK,
    HIFI2,
    WIDTH,
    bert_large,
    convolution,
    falcon_7b,
    llama_8b,
    resnet_50,
    sharded,
    vgg_unet,
    vit_base,
)
from gemm_report import CASES as GEMM_CASES
from gemm_report import MEASURED as GEMM_MEASURED

from ttmlir.cost.machine import Machine
from ttmlir.cost.times import cost_operation, estimate_works
from ttmlir.cost.work import MatmulConfig, Work, make_desc
from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.layout.system import board
from ttmlir.runtime.tensor import TensorDesc

HIFI4 = MathFidelity.HIFI4


@dataclass(frozen=True, kw_only=True)
class Case:
    """A measurement, and the operations that it is of."""

    name: str
    source: str
    machine: Machine
    works: Sequence[Work]
    measured_ns: float
    kernels: bool = True
    """Without launching the programs."""
    inputs: Sequence[TensorDesc] = ()
    """Of a run end to end, from the host."""
    outputs: Sequence[TensorDesc] = ()
    """Of such a run, back to the host."""

    def estimate_ns(self) -> tuple[float, float, float]:
        """Low, mid, high."""
        if not self.kernels:
            run = estimate_works(self.machine, self.works, inputs=self.inputs, outputs=self.outputs)
            total = run.total + run.transfers
            return total.low, total.mid, total.high
        low = mid = high = 0.0
        for work in self.works:
            for program in cost_operation(self.machine, work).programs:
                cycles = program.cycles.scale(1e9 / self.machine.clock_hz)
                low, mid, high = low + cycles.low, mid + cycles.mid, high + cycles.high
        return low, mid, high


def machine(name: str, grid: tuple[int, int] | None = None) -> Machine:
    """A board's chip, with another grid of cores if one is given."""
    made = Machine.of(name, board(name))
    return made if grid is None else replace(made, chip=replace(made.chip, grid=grid))


N150, P100, P150 = machine("n150"), machine("p100"), machine("p150")
P150_LARGE = machine("p150", (10, 13))


def product(
    shape: tuple[int, int, int],
    data_type: DataType,
    fidelity: MathFidelity,
    config: MatmulConfig = MatmulConfig(),  # noqa: B008
    *,
    in_l1: bool = False,
    weights: DataType | None = None,
    grid: tuple[int, int] = (8, 8),
) -> list[Work]:
    """A product; `in_l1` puts the first operand and the result in shards."""
    rows, inner, columns = shape
    make = sharded if in_l1 else make_desc
    a, c = make((rows, inner), data_type), make((rows, columns), data_type)
    if in_l1:
        a = sharded((rows, inner), data_type, BLOCK, grid)
        c = sharded((rows, columns), data_type, BLOCK, grid)
    b = make_desc((inner, columns), weights or data_type)
    return [Work(mnemonic="matmul", operands=(a, b), output=c, fidelity=fidelity, matmul=config)]


def unary(mnemonic: str, tiles: int) -> list[Work]:
    """A function of bf16 tiles in DRAM."""
    desc = make_desc((32 * tiles, 32))
    return [Work(mnemonic=mnemonic, operands=(desc,), output=desc)]


def movement(
    mnemonic: str, source: tuple[int, ...], output: tuple[int, ...], **more: object
) -> list[Work]:
    """An operation that moves bf16 numbers in DRAM."""
    rows = mnemonic in ("permute_rows", "untilize")
    return [
        Work(
            mnemonic=mnemonic,
            operands=(make_desc(source, tiled=mnemonic not in ("tilize", "permute_rows")),),
            output=make_desc(output, tiled=not rows),
            parameters=more,
        )
    ]


def tuned_cases() -> Iterator[Case]:
    """tt-metal's GEMM report: tuned products of an n150, device cycles at 1 GHz."""
    formats = {"bf16": BF16, "bfp8": BFP8, "bfp4": BFP4}
    for shape, row in GEMM_MEASURED.items():
        for name, measured in zip(GEMM_CASES, row, strict=True):
            depth = max(1, shape[1] // 32 // 8)
            word, _ = name.split()
            yield Case(
                name=f"{'x'.join(map(str, shape))} {name}",
                source="GEMM report",
                machine=N150,
                works=product(
                    shape,
                    formats[word],
                    GEMM_CASES[name][1],
                    MatmulConfig(block_depth=depth),
                    in_l1=True,
                ),
                measured_ns=measured,
            )
    large = {
        3072: (685_204, 957_506, 499_512, 359_298, 261_509),
        4096: (1_763_795, 2_520_918, 1_320_126, 890_889, 598_093),
        8192: (12_620_141, 18_914_561, 9_992_386, 6_475_689, 5_078_465),
        16384: (94_069_055, 146_766_242, 77_448_198, 48_279_758, 39_592_250),
    }
    for size, row in large.items():
        for name, measured in zip(GEMM_CASES, row, strict=True):
            word, _ = name.split()
            in_l1 = size == 3072 or (size, word) == (4096, "bfp4")
            yield Case(
                name=f"{size}^3 {name}",
                source="GEMM report",
                machine=N150,
                works=product(
                    (size, size, size),
                    formats[word],
                    GEMM_CASES[name][1],
                    MatmulConfig(block_depth=size // 256 if in_l1 else 8),
                    in_l1=in_l1,
                ),
                measured_ns=measured,
            )


def other_product_cases() -> Iterator[Case]:
    """The same report's products out of the box, and those of a p150."""
    out_of_the_box = {512: 17.82, 1024: 41.64, 2048: 66.74, 3072: 58.19, 4096: 59.46}
    for size, percent in out_of_the_box.items():
        yield Case(
            name=f"default {size}^3 bf16 HiFi2",
            source="GEMM report",
            machine=N150,
            works=product((size, size, size), BF16, HIFI2),
            measured_ns=(size / 32) ** 3 * 32 / 64 / (percent / 100),
        )
    for shape, fidelity, percent in (
        ((2560, 3328, 3328), HIFI2, 87.05),
        ((2560, 3328, 3328), HIFI4, 93.16),
        ((2560, 4992, 4992), HIFI4, 94.08),
    ):
        products = shape[0] * shape[1] * shape[2] / 32**3
        cycles = products * 16 * int(fidelity) / 130 / (percent / 100)
        yield Case(
            name=f"p150, tuned {'x'.join(map(str, shape))} bf16 {fidelity.schema_name}",
            source="GEMM report",
            machine=P150_LARGE,
            works=product(
                shape, BF16, fidelity, MatmulConfig(block_depth=8), in_l1=True, grid=(10, 13)
            ),
            measured_ns=cycles / 1.35,
        )


def operation_cases() -> Iterator[Case]:
    """Single operations: kernels on the device."""
    for name, tiles, best, source in (
        ("silu", 1, 2035, "PR 41949"),
        ("silu", 1024, 25_477, "PR 41949"),
        ("silu", 4096, 93_998, "PR 41949"),
        ("abs", 256, 6682, "PR 57030"),
        ("erfinv", 256, 16_950, "PR 55283"),
    ):
        yield Case(
            name=f"{name}, {tiles} tiles of bf16",
            source=source,
            machine=N150,
            works=unary(name, tiles),
            measured_ns=best,
        )
    for name, measured, source in (
        ("abs", 3640, "PR 57030"),
        ("erfinv", 7200, "PR 55283"),
    ):
        yield Case(
            name=f"p150, {name}, 256 tiles of bf16",
            source=source,
            machine=P150,
            works=unary(name, 256),
            measured_ns=measured,
        )
    for chip, measured in ((N150, 6810), (P150, 2690)):
        # As fast as an absolute value: the exact form would take twice as long.
        [work] = unary("sigmoid", 256)
        yield Case(
            name=f"{chip.name}, sigmoid (fast form assumed), 256 tiles of bf16",
            source="PR 57076",
            machine=chip,
            works=[replace(work, parameters={"approximate": True})],
            measured_ns=measured,
        )
    yield Case(
        name="minimal_matmul 4096^3 bf16 HiFi2, subblocks 2x2",
        source="test_minimal_matmul",
        machine=N150,
        works=product(
            (4096, 4096, 4096), BF16, HIFI2, MatmulConfig(block_depth=8, subblock=(2, 2))
        ),
        measured_ns=1_800_000,
    )
    yield Case(
        name="matmul and gelu 1024x1280x5120, 5x8 cores",
        source="test_sdxl_op_unit_test_perf",
        machine=N150,
        works=product(
            (1024, 1280, 5120),
            BF16,
            HIFI2,
            MatmulConfig(
                grid=(8, 5), block_depth=4, subblock=(1, 8), activation="gelu", approximate=True
            ),
            in_l1=True,
            weights=BFP8,
            grid=(8, 5),
        ),
        measured_ns=238_400,
    )
    ring = MatmulConfig(grid=(1, 24), block_depth=3, ring=True)
    yield Case(
        name="ring matmul 32x2048x1280, bfp8 in L1, 24 cores",
        source="decoder_perf_targets_6u",
        machine=N150,
        works=[
            Work(
                mnemonic="matmul",
                operands=(
                    sharded((32, 2048), BF16, WIDTH, (1, 24)),
                    sharded((2048, 1280), BFP8, WIDTH, (1, 24)),
                ),
                output=sharded((32, 1280), BF16, WIDTH, (1, 24)),
                fidelity=HIFI2,
                matmul=ring,
            )
        ],
        measured_ns=7080,
    )
    for grid, measured in (((7, 8), 367.7), ((8, 8), 324.5), ((10, 10), 292.3), ((10, 11), 265.5)):
        [work] = product((768, 4096, 3072), BF16, HIFI4, MatmulConfig(grid=grid))
        turned = (make_desc((4096, 768)), work.operands[1])
        yield Case(
            name=f"p150, 768x4096x3072 bf16 (HiFi4 assumed), transposed, {grid[0]}x{grid[1]} cores",
            source="PR 35519",
            machine=P150,
            works=[replace(work, operands=turned, parameters={"transpose_a": True})],
            measured_ns=1e3 * measured,
        )
    for size, measured in ((2048, 0.25), (4096, 1.207), (8192, 10.72)):
        yield Case(
            name=f"p150, {size}^3 bf16 (HiFi4 assumed), host's clock",
            source="tt-lang ksplit_sweep",
            machine=P150_LARGE,
            works=product((size, size, size), BF16, HIFI4),
            measured_ns=1e6 * measured,
        )
    rms = sharded((32, 8192), BF16, WIDTH, (4, 8))
    yield Case(
        name="rms_norm 32x8192 bf16, width-sharded on 32 cores",
        source="issue 8060",
        machine=N150,
        works=[Work(mnemonic="rms_norm", operands=(rms,), output=rms, fidelity=HIFI2)],
        measured_ns=24_498,
    )
    groups = sharded((1, 1, 1024, 1920), BF16, BLOCK, (8, 5))
    yield Case(
        name="group_norm 1024x1920 bf16, block-sharded (8x5 cores assumed)",
        source="test_sdxl_op_unit_test_perf",
        machine=N150,
        works=[Work(mnemonic="group_norm", operands=(groups,), output=groups, fidelity=HIFI2)],
        measured_ns=83_200,
    )
    q, k = make_desc((1, 32, 4096, 128), BFP8), make_desc((1, 8, 4096, 128), BFP8)
    for q_chunk, k_chunk, measured in ((32, 128, 6831), (128, 128, 1835), (256, 256, 1284)):
        yield Case(
            name=f"p100, causal attention of 4096, 32 heads, blocks {q_chunk} x {k_chunk}",
            source="issue 55756",
            machine=P100,
            works=[
                Work(
                    mnemonic="scaled_dot_product_attention",
                    operands=(q, k, k),
                    output=q,
                    parameters={"q_chunk": q_chunk, "k_chunk": k_chunk, "is_causal": True},
                    fidelity=HIFI2,
                )
            ],
            measured_ns=1e3 * measured,
        )
    pair = sharded((32, 512), BFP8, WIDTH, (2, 8))
    yield Case(
        name="silu(a) * b 32x512 bfp8, 16 cores",
        source="test_llama_ops",
        machine=N150,
        works=[
            Work(mnemonic="silu", operands=(pair,), output=pair),
            Work(mnemonic="multiply", operands=(pair, pair), output=pair, fidelity=HIFI2),
        ],
        measured_ns=2500,
    )
    yield Case(
        name="conv2d 512 to 512, 256x256, 3x3, DRAM",
        source="test_sdxl_op_unit_test_perf",
        machine=N150,
        works=[convolution(1, 256, 512, 512, 3, activations=BF16, in_dram=True, fidelity=HIFI2)],
        measured_ns=3_185_000,
    )
    yield Case(
        name="permute [0,2,3,1] of (1,1,32,32), tiled",
        source="PR 17048",
        machine=N150,
        works=movement("permute", (1, 1, 32, 32), (1, 32, 32, 1), permutation=(0, 2, 3, 1)),
        measured_ns=6031,
    )
    yield Case(
        name="permute [0,2,3,1] of (32,32,32,32), tiled",
        source="PR 17048",
        machine=N150,
        works=movement("permute", (32, 32, 32, 32), (32, 32, 32, 32), permutation=(0, 2, 3, 1)),
        measured_ns=118_654,
    )
    yield Case(
        name="permute of rows (2,3,4,32,64)",
        source="PR 50187",
        machine=N150,
        works=movement("permute_rows", (2, 3, 4, 32, 64), (4, 32, 3, 2, 64)),
        measured_ns=8180,
    )
    for shape in ((1, 1, 1024, 1024), (1, 4, 256, 1024)):
        yield Case(
            name=f"tilize {'x'.join(map(str, shape))}",
            source="PR 51919",
            machine=N150,
            works=movement("tilize", shape, shape),
            measured_ns=30_750,
        )
    # As ttnn 0.81 does it; the program before it, on four cores, took 7.6 us.
    yield Case(
        name="untilize 128x256",
        source="PR 50178",
        machine=N150,
        works=movement("untilize", (128, 256), (128, 256)),
        measured_ns=3460,
    )


def model_cases() -> Iterator[Case]:
    """Whole models on one chip, launching included.

    Runs end to end write words, places and tables of rotations or a mask, or images, and read the
    scores of all words, or classes.
    """
    numbers = make_desc((1, 32), DataType.U32)
    llama = ((numbers,) * 3, (make_desc((32, 128256)),))
    falcon = ((numbers, make_desc((32, 1, 32, 256))), (make_desc((32, 65024)),))
    vit = ((make_desc((8 * 224, 224 * 4), tiled=False),), (make_desc((8, 1000)),))
    alone = ((), ())
    for name, source, works, measured, (inputs, outputs) in (
        ("Llama 3.1 8B, a token of 32 users", "models/README", llama_8b(), 1e9 / 26.0, llama),
        ("Falcon 7B, a token of 32 users", "models/README", falcon_7b(), 1e9 / 18.5, falcon),
        ("ResNet-50, 16 images, device alone", "its device test", resnet_50(), 16e9 / 6140, alone),
        ("ViT-base, 8 images", "models/README", vit_base(), 8e9 / 1370, vit),
        (
            "BERT-large, 8 sentences, device alone",
            "its device test",
            bert_large(),
            8e9 / 371,
            alone,
        ),
        ("UNet-VGG19, an image, device alone", "its device test", vgg_unet(), 1e9 / 291, alone),
    ):
        yield Case(
            name=name,
            source=source,
            machine=N150,
            works=works,
            measured_ns=measured,
            kernels=False,
            inputs=inputs,
            outputs=outputs,
        )


def report(title: str, cases: Iterable[Case]) -> list[str]:
    """A table, and a sentence about its errors."""
    lines = [
        f"| {title} | Source | Measured us | Estimated us | Low | High | Ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    errors: list[float] = []
    within = 0
    for case in cases:
        low, mid, high = case.estimate_ns()
        ratio = mid / case.measured_ns
        errors.append(abs(ratio - 1))
        within += low <= case.measured_ns <= high
        lines.append(
            f"| {case.name} | {case.source} | {_us(case.measured_ns)} | {_us(mid)} | {_us(low)} | "
            f"{_us(high)} | {ratio:.2f} |"
        )
    return [
        *lines,
        "",
        f"The {describe(errors)}; {within} of {len(errors)} lie between the bounds.",
    ]


def matrix(cases: Iterable[Case]) -> list[str]:
    """A table with a column for each format, of cases whose names are `SHAPE FORMAT`."""
    cells: dict[str, list[str]] = {}
    errors: list[float] = []
    for case in cases:
        shape, _, _ = case.name.partition(" ")
        mid = case.estimate_ns()[1]
        ratio = mid / case.measured_ns
        errors.append(abs(ratio - 1))
        cells.setdefault(shape, []).append(f"{_us(mid)} of {_us(case.measured_ns)}: {ratio:.2f}")
    head = f"| M x K x N | {' | '.join(GEMM_CASES)} |"
    rows = [f"| {' | '.join((shape, *row))} |" for shape, row in cells.items()]
    return [head, "|---" * (1 + len(GEMM_CASES)) + "|", *rows, "", f"The {describe(errors)}."]


def describe(errors: Sequence[float]) -> str:
    """The median and the worst of relative errors."""
    return (
        f"median error is {100 * statistics.median(errors):.0f} %, the worst "
        f"{100 * max(errors):.0f} %"
    )


def _us(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.1f}" if nanoseconds < 1e6 else f"{nanoseconds / 1e3:,.0f}"


def tables() -> dict[str, list[str]]:
    """Every table by its name, line by line, with a sentence about its errors."""
    return {
        "tuned products": matrix(tuned_cases()),
        "other products": report("Product", other_product_cases()),
        "operations": report("Operation", operation_cases()),
        "models": report("Model", model_cases()),
    }


if __name__ == "__main__":
    for lines in tables().values():
        print("\n".join(lines), end="\n\n")
