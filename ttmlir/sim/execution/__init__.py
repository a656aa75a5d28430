"""Programs on a device, and the threads that run them."""
