"""Passes of tt-mlir on the regions of generics, one by one."""
