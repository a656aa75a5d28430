// Where no system description is named, the environment variable SYSTEM_DESC_PATH names one.
// RUN: env SYSTEM_DESC_PATH=%S/../../golden/two_chips.ttsys ttmlir-opt --ttir-load-system-desc %s | FileCheck %s --check-prefix=TWO
// RUN: env SYSTEM_DESC_PATH=%S/../../golden/two_chips.ttsys ttmlir-opt --ttir-load-system-desc=path=%S/../../golden/one_chip.ttsys %s | FileCheck %s --check-prefix=ONE
// RUN: env SYSTEM_DESC_PATH=%S/../../golden/two_chips.ttsys ttmlir-opt --ttir-to-ttnn-backend-pipeline --dump-pass-pipeline %s 2>&1 -o /dev/null | FileCheck %s --check-prefix=PIPELINE
// RUN: ttmlir-opt --ttir-load-system-desc="path=%system_desc_path%" %s | FileCheck %s --check-prefix=ONE
// RUN: env SYSTEM_DESC_PATH=p150 ttmlir-opt --ttir-load-system-desc %s | FileCheck %s --check-prefix=BOARD
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=system-desc-path=p150 %s | FileCheck %s --check-prefix=BOARD
// RUN: not env SYSTEM_DESC_PATH=%t.none ttmlir-opt --ttir-load-system-desc %s 2>&1 | FileCheck %s --check-prefix=MISSING

// TWO: #tt.system_desc<[{{.*}}], [0, 1], [
// ONE: #tt.system_desc<[{{.*}}], [0], [
// PIPELINE: ttir-load-system-desc{path={{.*}}two_chips.ttsys arch=wormhole_b0 spelled=2024}
// BOARD: #tt.system_desc<[{arch = <blackhole>, grid = 10x11
// MISSING: error: {{.*}}system_desc_path.mlir.tmp.none{{.*}}; give the path of a .ttsys file, a board (default, n150,
func.func @f() { return }
