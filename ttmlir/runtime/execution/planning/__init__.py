"""How prepared programs run fast: constants computed once, operations joined, memory used again."""
