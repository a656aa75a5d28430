"""Operations of StableHLO that apply functions of the program, in terms of loops and sorts."""
