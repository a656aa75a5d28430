"""Operations of ttnn: tables over the rows of `ttmlir.optable`, a file for each family."""
