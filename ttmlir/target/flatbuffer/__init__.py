"""Writers of `.ttnn` and `.ttm` files."""
