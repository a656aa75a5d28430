"""What tt-mlir of 2026 makes of StableHLO with shardings, for a mesh of 1x2: `Inputs/vendor.npz`.

`python test/meshes/vendor_texts.py STAGES TEXTS` records it from a folder of the compiler's stages
(`STAGES/NAME/ttir.mlir` and `ttnn.mlir`) and one of its inputs (`TEXTS/NAME.mlir`), beside those
that are recorded under other names.

The compiler ran for two p150 without cards, of which none has cores that are switched off.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from ttmlir.compiler import parse, transform
from ttmlir.dialects import DIALECTS
from ttmlir.dialects.ttcore import ShardStatusAttr
from ttmlir.layout.enums import ShardStatus, Topology
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.passes.pipelines.ttir_to_ttnn import (
    TTIRToTTNNCommonPipeline,
    TTNNCommonToRuntimePipeline,
)
from ttmlir.passes.shardy.spreading.shardings import set_argument

RECORD = Path(__file__).parent / "Inputs" / "vendor.npz"
_TYPE = re.compile(r"ttcore\.argument_type = #ttcore\.argument_type<input>,? ?")
_SIGNATURE = re.compile(r"func\.func.*")


def body_of(text: str) -> str:
    """The operations of a program in ttir, by the printer of this project."""
    printed = _TYPE.sub("", print_module(parse(text, file_name="<ttir>")))
    return _SIGNATURE.sub("func", printed[printed.index("func.func") :])


def lower(text: str) -> str:
    """What this project makes of a program whose arguments and results are in parts."""
    module = parse(text, file_name="<stablehlo>")
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    results = ",".join("1" for _ in main.function_type.outputs)
    transform(module, f"stablehlo-pipeline{{result-presharded={results}}}")
    if "manual_computation" in text:
        status = ShardStatusAttr(ShardStatus.PRESHARDED)
        for index in range(len(main.function_type.inputs)):
            set_argument(main, index, ttcore__shard_status=status)
    # As the vendor's plugin and `ttmlir.compile` have it.
    options = "spelling=2026 enable-aggressive-simplification=true"
    transform(module, f"stablehlo-to-ttir-pipeline{{{options}}}")
    return body_of(print_module(module))


_LAYOUT = re.compile(r"#ttnn_layout\d*")
_LOCATION = re.compile(r""" loc\((?:"[^"]*":\d+:\d+|#loc\d*|unknown)\)|^#loc.*\n""", re.MULTILINE)
_GRID = "core_coord<13, 10>"


def functions_of(text: str) -> str:
    """The functions of a module of ttnn: without locations, the numbers of layouts, and columns of
    cores that the boards here have not."""
    text = _LOCATION.sub("", text)
    functions = _LAYOUT.sub("#layout", text[text.index("      func.func") :])
    return functions.replace(_GRID, "core_coord<11, 10>").rstrip()


def lower_to_ttnn(ttir: str) -> str:
    """What this project makes of ttir for two p150."""
    context = make_context(DIALECTS)
    module = parse_module(ttir, "<ttir>", context)
    # The vendor's plugin leaves inverse operations alone.
    common = TTIRToTTNNCommonPipeline(
        system_desc_path="p150x2",
        enable_erase_inverse_ops_pass=False,
        mesh_topology=(Topology.RING, Topology.DISABLED),
    )
    for step in (*common.passes(), *TTNNCommonToRuntimePipeline().passes()):
        if step.applies(module):
            step.run(context, module)
    return functions_of(print_module(module))


def main() -> None:
    """Record the stages of a folder."""
    stages, texts = map(Path, sys.argv[1:])
    found: dict[str, Any] = {}
    with np.load(RECORD) as file:
        found.update(file)
    for path in sorted(stages.glob("*/ttir.mlir")):
        name = path.parent.name
        for kind, text in (
            ("text", (texts / f"{name}.mlir").read_text()),
            ("ttir", body_of(path.read_text())),
            ("source", path.read_text()),
            ("ttnn", functions_of(path.with_name("ttnn.mlir").read_text())),
        ):
            found[f"{name}/{kind}"] = np.frombuffer(text.encode(), np.uint8)
    np.savez_compressed(RECORD, **found)


if __name__ == "__main__":
    main()
