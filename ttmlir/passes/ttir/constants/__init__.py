"""Passes on constants of ttir: folded, evaluated, moved; `ttir_constant_folding.py` computes."""
