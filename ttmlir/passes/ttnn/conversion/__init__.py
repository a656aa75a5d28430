"""From ttir to ttnn, operation by operation, and back."""
