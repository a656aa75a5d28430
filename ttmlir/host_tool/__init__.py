"""Runs host programs of TT-Metalium in C++ on the simulator: `ttmlir-host`.

- `compiling`: the host program by the system's C++ compiler, with the headers in `headers/`
- `wire`: what the program and the simulator tell each other
- `serving`: the calls of the program, as calls of `ttmlir.metalium`
- `running`: the process of the program
"""
