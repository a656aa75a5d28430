"""Bodies of loops over tiles as calls: which calls, in which order, in which tiles of DST."""
