// load_blocking
namespace ckernel {

// A load that is over when it returns; here every load is.
template <typename T>
inline T load_blocking(const volatile T* place) { return *place; }

}  // namespace ckernel
