// Spreads the first row of a tile. unary_bcast moves floats of 16 bits as if DST had 16 bits, too,
// unless the format of SrcA is of 32; the simulator knows how many DST has.
ALWI void spread_row(uint32_t buffer, uint32_t tile, uint32_t dst) {
#if defined(TRISC_MATH) && defined(__riscv)
  const uint32_t format = get_operand_dst_format(buffer);
  const bool is_short = format != to_underlying(DataFormat::Float32) &&
                        format != to_underlying(DataFormat::Int32) &&
                        format != to_underlying(DataFormat::UInt32) &&
                        format != to_underlying(DataFormat::UInt16);
  if (is_short) {
#ifdef ARCH_BLACKHOLE
    TTI_SETC16(DISABLE_IMPLIED_SRCA_FMT_Base_ADDR32, 1);
    cfg_reg_rmw_tensix<ALU_FORMAT_SPEC_REG0_SrcA_RMW>(to_underlying(DataFormat::Tf32));
#else
    cfg_reg_rmw_tensix<ALU_FORMAT_SPEC_REG_SrcA_override_RMW>(1);
    cfg_reg_rmw_tensix<ALU_FORMAT_SPEC_REG_SrcA_val_RMW>(to_underlying(DataFormat::Tf32));
#endif
  }
#endif
  unary_bcast<BroadcastType::ROW>(buffer, tile, dst);
#if defined(TRISC_MATH) && defined(__riscv)
  if (is_short) {
#ifdef ARCH_BLACKHOLE
    TTI_SETC16(DISABLE_IMPLIED_SRCA_FMT_Base_ADDR32, 0);
#else
    cfg_reg_rmw_tensix<ALU_FORMAT_SPEC_REG_SrcA_override_RMW>(0);
#endif
  }
#endif
}

