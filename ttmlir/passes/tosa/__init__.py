"""From tosa to ttir."""
