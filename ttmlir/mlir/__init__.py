"""What xDSL lacks of MLIR's text: reader, printer, locations, diagnostics."""
