"""The commands of `ttrt` and their options."""
