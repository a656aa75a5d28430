"""Searches layouts, formats and fidelities for the shortest estimated time: `ttmlir-tune`.

    from ttmlir.tuning.tuning import Request, tune

    report = tune(Request("net.mlir", board="n150", budget=50))
    print(report)

`moves` says what may be tried, `search` in which order, `candidate` compiles, estimates and runs
one candidate, in a process of the engine that `ttrt --jobs` has, `simulation` times it as kernels,
and `tuning` puts them together. `models` is `ttmlir.tune`, for compiled models; `shardings`
searches meshes.
"""
