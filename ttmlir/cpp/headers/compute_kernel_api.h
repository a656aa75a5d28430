// The header of all of the compute API, whose calls are known without it, also has these macros.
#pragma once
#include "llk_math_eltwise_unary_sfpu_macros.h"
