"""`ttmlir-translate` from its command line to its exit status."""
