"""The flatbuffer schemas, as package data."""
