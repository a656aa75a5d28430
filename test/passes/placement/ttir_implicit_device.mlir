// The device is one chip or a mesh of chips; one that is there stays.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device %s | FileCheck %s --check-prefix=ONE
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device="mesh-shape=1,1" %s | FileCheck %s --check-prefix=UNIT
// RUN: ttmlir-opt --ttir-load-system-desc="path=%S/../../golden/two_chips.ttsys" --ttir-implicit-device="mesh-shape=2,1,1" %s | FileCheck %s --check-prefix=BATCH
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device="mesh-shape=1,1" --ttir-implicit-device="mesh-shape=7" %s | FileCheck %s --check-prefix=UNIT
// RUN: not ttmlir-opt --ttir-load-system-desc --ttir-implicit-device="mesh-shape=2,2" %s 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not ttmlir-opt --ttir-implicit-device %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// ONE: #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>
// ONE-SAME: meshShape = , chipIds = [0]>
// ONE: module attributes {tt.device = #device, tt.system_desc = #system_desc}

// UNIT: meshShape = 1x1, chipIds = [0]>

// BATCH: workerGrid = #tt.grid<2x8x8, (d0, d1, d2) -> (d0, d1, d2)>
// BATCH-SAME: meshShape = 2x1x1, chipIds = [0, 1]>

// FEW: error: {{.*}}a mesh of 2x2 needs 4 chips, the system has 1
// UNKNOWN: error: {{.*}}ttir-implicit-device needs the attribute tt.system_desc on the module; run ttir-load-system-desc before

func.func @nothing() {
  return
}
