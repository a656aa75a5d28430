"""C++ text: `emit_cpp` prints the emitc dialect."""

from ttmlir.target.cpp.emitter import emit_cpp

__all__ = ["emit_cpp"]
