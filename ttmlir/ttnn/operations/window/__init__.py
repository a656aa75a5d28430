"""Operations that move a window over images, or change their size."""
