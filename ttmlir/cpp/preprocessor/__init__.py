"""The C++ preprocessor: macros, conditionals, and the headers that a source includes."""
