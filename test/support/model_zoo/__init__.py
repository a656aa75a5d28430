"""Public architectures, small and with random weights, and what becomes of them when compiled."""
