"""Searches the layouts of a program for the shortest estimated time: `ttmlir-tune`.

    from ttmlir.tuning.tuning import Request, tune

    report = tune(Request("net.mlir", board="n150", budget=50))
    print(report)

`moves` says what may be tried, `search` in which order, `candidate` compiles, estimates and runs
one candidate, in a process of the engine that `ttrt --jobs` has, and `tuning` puts them together.
"""
