// Waits for so many chips that have sent packets.
#include "dataflow_api.h"

void kernel_main() {
    noc_semaphore_wait(
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0)),
        get_arg_val<uint32_t>(1));
}
