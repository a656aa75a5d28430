#pragma once

// Registers of the command buffers of the network, to which kernels write back what calls have
// changed: nothing here depends on them. All other names of the header are known without a text.

#define NOC_CMD_CPY 0x0
#define NOC_CMD_RD 0x0
#define NOC_CMD_RESP_MARKED 0x10
#define NOC_CMD_VC_STATIC 0x80
#define NOC_CMD_STATIC_VC(vc) ((uint32_t)(vc) << 13)
#define NOC_CTRL 0x1C
#define NCRISC_RD_CMD_BUF 1
#define NOC_CMD_BUF_WRITE_REG(noc, buffer, address, value) ((void)(noc), (void)(value))
#define DM_DEDICATED_NOC 0
#define DM_DYNAMIC_NOC 1
#define ncrisc_noc_counters_init() ((void)0)
#define dynamic_noc_local_state_init() ((void)0)

constexpr uint8_t noc_mode = DM_DEDICATED_NOC;
