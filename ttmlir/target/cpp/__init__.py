"""C++ text: `emitter` prints the emitc dialect; `tree`, `render` and `parse` are kernels as trees.

The tree and its two modules know nothing of the IR, so that who runs kernels need not load it.
"""
