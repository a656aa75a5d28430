#include "dataflow_api.h"
#include "numbers.hpp"
void kernel_main() { cb_push_back(0, PAGES + NUMBER(2)); }
