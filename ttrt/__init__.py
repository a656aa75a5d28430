"""The runtime under the import name that the guides use."""
