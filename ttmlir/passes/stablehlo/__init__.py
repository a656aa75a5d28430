"""From stablehlo and chlo to ttir."""
