"""The one vocabulary for computing on arrays, whatever holds them: numbers, IR, or shapes alone."""
