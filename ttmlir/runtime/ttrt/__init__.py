"""The `ttrt` tool as a library: reads, runs, queries, checks and times binaries.

`ttmlir.runtime.ttrt.api.API` holds one class per command. Arguments are those of the command line.
"""
