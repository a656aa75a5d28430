"""How tensors are divided over meshes: shardings, what they spread along, and ways between."""
