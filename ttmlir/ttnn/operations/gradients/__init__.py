"""Operations that compute gradients of others, whose names end with `_bw`."""
