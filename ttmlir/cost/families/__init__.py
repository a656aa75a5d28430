"""What operations of each family do on the cores: one module per family."""
