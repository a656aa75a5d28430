"""Functions around those of a program: inputs, tuples, `main`, traces."""
