// The machine is described from a file, as it was, or as one Wormhole chip.
// RUN: ttmlir-opt --ttir-load-system-desc %s | FileCheck %s --check-prefix=DEFAULT
// RUN: ttmlir-opt --ttir-load-system-desc="path=%S/../../golden/two_chips.ttsys" %s | FileCheck %s --check-prefix=FILE
// RUN: ttmlir-opt --ttir-load-system-desc="path=%S/../../golden/two_chips.ttsys" --ttir-load-system-desc %s | FileCheck %s --check-prefix=FILE
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-load-system-desc="path=%S/../../golden/two_chips.ttsys" %s | FileCheck %s --check-prefix=FILE
// RUN: not ttmlir-opt --ttir-load-system-desc="path=%S/nowhere.ttsys" %s 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ttmlir-opt --ttir-load-system-desc="path=%S/../../golden/add.ttnn" %s 2>&1 | FileCheck %s --check-prefix=PROGRAM

// DEFAULT: #system_desc = #tt.system_desc<[{arch = <wormhole_b0>, grid = 8x8, l1_size = 1499136, num_dram_channels = 12,
// DEFAULT-SAME: [0], [3 : i32], [<0, 0, 0, 0>]>
// DEFAULT: module attributes {tt.system_desc = #system_desc}

// FILE: #system_desc = #tt.system_desc<[{{.*}}], [0, {{[01]}}], [{{.*}}], [<{{.*}}>, <{{.*}}>]
// FILE: module attributes {tt.system_desc = #system_desc}

// MISSING: error: cannot read the system description '{{.*}}nowhere.ttsys': No such file or directory
// PROGRAM: error: cannot use the system description: {{.*}}add.ttnn: {{.*}}give a .ttsys file

func.func @nothing() {
  return
}
