namespace experimental {

FORCE_INLINE void semaphore_wait(volatile tt_l1_ptr uint32_t *semaphore, uint32_t value) {
  noc_semaphore_wait(semaphore, value);
}

FORCE_INLINE void semaphore_wait_min(volatile tt_l1_ptr uint32_t *semaphore, uint32_t value) {
  noc_semaphore_wait_min(semaphore, value);
}

}  // namespace experimental
