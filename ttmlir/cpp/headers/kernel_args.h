// Arguments by their names are known without a text.
#pragma once

// What marks a function that takes its arguments as parameters; the build calls it.
#define TT_KERNEL static inline
