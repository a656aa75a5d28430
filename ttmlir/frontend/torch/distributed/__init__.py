"""Programs of torch over several devices: DTensors, and what devices exchange."""
