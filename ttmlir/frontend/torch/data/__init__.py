"""Programs that depend on the numbers in tensors: what is known of them, and rows that may be."""
