"""Running programs on inputs that are given or made up, and judging what comes out."""
