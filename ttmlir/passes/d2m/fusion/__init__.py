"""Fewer loops over tiles: known padding, and generics that become one."""
