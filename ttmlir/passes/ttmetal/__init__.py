"""From ttir to kernels and the host program that runs them."""
