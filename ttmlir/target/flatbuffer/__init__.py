"""Writers of `.ttnn` files."""
