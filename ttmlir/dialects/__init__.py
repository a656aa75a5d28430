"""The dialects tt, ttir and ttnn, and what xDSL lacks of upstream ones."""
