"""Training in torch: gradients inside of functions, and steps of an optimizer as programs."""
