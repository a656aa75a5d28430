"""From general ttir operations to those that the backends have."""
