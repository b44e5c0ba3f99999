"""How far a measured value may be from the true one: intervals of proportions and metrics."""
