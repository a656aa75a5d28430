"""Random numbers of torch programs, drawn from a seed that is an argument."""
