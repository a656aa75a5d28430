"""Schema-driven reading and writing of flatbuffers."""
