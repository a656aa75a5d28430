"""Readers of the nodes of the grammar, which `ttmlir.cpp.parse` builds on."""
