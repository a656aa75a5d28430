"""What leaves the compiler: flatbuffers and C++ text."""
