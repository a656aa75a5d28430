// va_list __builtin_va_list
namespace variadic {

struct va_list {
    uint32_t values;  // what was passed for `...`
    uint32_t next;
};
using __builtin_va_list = va_list;

}  // namespace variadic
