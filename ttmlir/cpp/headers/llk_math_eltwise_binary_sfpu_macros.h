// The same for functions of two tiles.
#pragma once

#include "llk_math_eltwise_unary_sfpu_macros.h"

#define SFPU_BINARY_CALL(sync, accumulate, function, templates, in0, in1, out, mode, ...) \
  ckernel::_llk_math_eltwise_binary_sfpu_params_( \
      ckernel::sfpu::function<SFPU_TEMPLATE_ARGUMENTS templates>, in0, in1, out, mode, \
      ##__VA_ARGS__)
#define SFPU_BINARY_CALL_NO_TEMPLATE_ARGS(sync, accumulate, function, in0, in1, out, mode, ...) \
  ckernel::_llk_math_eltwise_binary_sfpu_params_( \
      ckernel::sfpu::function, in0, in1, out, mode, ##__VA_ARGS__)
