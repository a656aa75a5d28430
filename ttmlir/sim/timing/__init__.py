"""How long things take: cycles of calls, the networks on chip, recordings and reports."""
