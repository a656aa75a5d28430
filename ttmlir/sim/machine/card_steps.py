"""How many steps of a card's units operations take here, and how many of them are few."""

FEW_STEPS = 1 << 20
"""Steps of a card's units that take a few milliseconds here."""
ALL_STEPS = 1 << 62

MULTIPLICATION_STEPS = 2
"""Steps for a multiplication of a product of matrices, in the default fidelity."""
REDUCTION_STEPS = 16
"""Steps for each number that is added up."""
ROW_STEPS = 32
"""Steps for each number of a softmax or a norm."""
CAST_STEPS = 2
"""Steps for each number that is stored in another type."""
CALL_STEPS = 1 << 15
"""Steps that an operation of a program takes as long as, however small it is."""
