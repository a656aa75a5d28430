"""Many cases of one command: files times boards, numerics and seeds, on processes or a cluster."""
