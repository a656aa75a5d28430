namespace experimental {

// Lets the unpacker wait until what was packed before is in L1.
ALWI void unpack_stall_on_pack() {
  PACK((t6_semaphore_post<>(semaphore::PACK_DONE)));
  UNPACK((t6_semaphore_wait_on_zero<p_stall::STALL_SYNC>(semaphore::PACK_DONE)));
  UNPACK((t6_semaphore_get<>(semaphore::PACK_DONE)));
}

}  // namespace experimental
