"""The Python that kernels become: its parts, what it calls, and what is done to it last."""
