"""Located messages, and places in sources."""
