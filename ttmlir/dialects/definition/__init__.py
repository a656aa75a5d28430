"""What dialects are defined with: fields, forms, traits, checks and rows."""
