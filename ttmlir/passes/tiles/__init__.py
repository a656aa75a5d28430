"""Computing on tiles in the registers of a core, for both roads to kernels."""
