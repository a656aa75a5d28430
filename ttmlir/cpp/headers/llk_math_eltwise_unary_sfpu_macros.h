// Calls of functions of ckernel::sfpu on the faces of a tile; template arguments in parentheses.
#pragma once

#define SFPU_TEMPLATE_ARGUMENTS(...) __VA_ARGS__
#define SFPU_UNARY_CALL(sync, accumulate, function, templates, tile, mode, ...) \
  ckernel::_llk_math_eltwise_unary_sfpu_params_( \
      ckernel::sfpu::function<SFPU_TEMPLATE_ARGUMENTS templates>, tile, mode, ##__VA_ARGS__)
#define SFPU_UNARY_CALL_NO_TEMPLATE_ARGS(sync, accumulate, function, tile, mode, ...) \
  ckernel::_llk_math_eltwise_unary_sfpu_params_(ckernel::sfpu::function, tile, mode, ##__VA_ARGS__)
#define SFPU_UNARY_INIT(operation) ckernel::llk_math_eltwise_unary_sfpu_init<SfpuType::unused>()
#define SFPU_UNARY_INIT_FN(operation, function, templates) \
  ckernel::llk_math_eltwise_unary_sfpu_init<SfpuType::unused>(function<SFPU_TEMPLATE_ARGUMENTS templates>)
