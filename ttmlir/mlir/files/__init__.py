"""Inputs and outputs of tools, whole or in parts."""
