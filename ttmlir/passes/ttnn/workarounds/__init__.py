"""What the ttnn library does not take as it is: other types, layouts, or operations."""
