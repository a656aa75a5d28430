"""Constants, blobs, numbers and maps."""
