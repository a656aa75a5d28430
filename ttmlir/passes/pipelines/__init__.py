"""Pipelines: passes in order, under one name, with options for the whole."""
