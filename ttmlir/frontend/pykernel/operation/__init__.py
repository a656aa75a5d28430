"""Operations of ttnn whose kernels are written in Python."""
