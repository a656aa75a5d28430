"""Programs as graphs for the stock Model Explorer, with estimates, accuracy and overrides.

`documents` reads what is given, `module_graph`, `program_graph` and `command_graph` make graphs of
it, `node_data` colours them, `overrides` and `panel` change how a program is compiled. `session`
answers the page's commands, `server` carries them, on this machine only. `main` offers the same to
the package's own `model-explorer --extensions=ttmlir.explorer`.
"""
