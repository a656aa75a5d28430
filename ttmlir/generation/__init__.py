"""Language models in use: programs with caches on the device, sampling, tokens one by one."""
