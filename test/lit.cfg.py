"""Configuration of the lit tests: `.mlir` files with RUN lines.

`lit test` runs them alone, pytest runs them with the rest. Parameters (`lit -D name=value`):
`real_process=1` starts every tool as a process, `filecheck=PATH` uses another FileCheck, such as
LLVM's own, which implies real processes for it.
"""

import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import lit.formats

TEST_ROOT = Path(__file__).resolve().parent
SUPPORT = TEST_ROOT / "support"

config.name = "ttmlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "models", "support", "bench", "golden"]
config.test_source_root = str(TEST_ROOT)
config.test_exec_root = str(TEST_ROOT.parent / "build" / "lit")

# The interpreter that runs lit is the one whose tools are tested.
config.environment["PATH"] = os.pathsep.join(
    (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
)
config.environment.pop("SYSTEM_DESC_PATH", None)

# Without a description the tools assume a board with one Wormhole chip.
config.substitutions.append(("%system_desc_path%", os.environ.get("SYSTEM_DESC_PATH", "")))
config.substitutions.append(("%schema%", str(TEST_ROOT.parent / "schema")))
config.substitutions.append(("%models%", str(TEST_ROOT / "models")))
config.substitutions.append(("%python%", sys.executable))

for feature, program in (("mlir-opt", "mlir-opt-19"), ("flatc", "flatc"), ("g++", "g++")):
    if shutil.which(program):
        config.available_features.add(feature)

if native := lit_config.params.get("filecheck"):
    config.substitutions.append((r"\bFileCheck\b", native))

if not lit_config.params.get("real_process"):
    sys.path.insert(0, str(SUPPORT))
    from running.warm_tools import install

    model = str(TEST_ROOT / "tools" / "Inputs" / "wheel.mlir")
    import_module("ttmlir.tools.filecheck")
    with tempfile.TemporaryDirectory() as folder:
        ttnn, binary = (os.path.join(folder, f"warm_up.{end}") for end in ("mlir", "ttnn"))
        install(
            warm_up=(
                ("ttmlir-opt", "--ttir-to-ttnn-backend-pipeline", "--cse", model, "-o", ttnn),
                ("ttmlir-translate", "--ttnn-to-flatbuffer", ttnn, "-o", binary),
            )
        )
