"""From linalg, tensor, arith, math and ml_program to ttir."""
