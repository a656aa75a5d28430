"""`ttmlir-opt` from its command line to its exit status."""
