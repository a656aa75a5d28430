"""Types of the parts of the flatbuffers package, which declares none, that the project uses."""
