"""Layouts and configurations of operations of ttnn: chosen by options, or by rules."""
