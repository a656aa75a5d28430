"""What nodes of kernel trees are made of: places, operators, and parts that are read later."""
