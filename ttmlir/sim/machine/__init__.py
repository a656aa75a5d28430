"""The chip: cores, memories, registers, networks and what lies in them."""
