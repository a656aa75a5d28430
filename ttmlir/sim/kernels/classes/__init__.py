"""Classes: their members, how objects are made, and lambdas, which are objects of classes."""
