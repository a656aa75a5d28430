"""C++ text."""
