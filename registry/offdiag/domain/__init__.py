"""Values of the field: labels, orientation, runs, measured values. No I/O, no numpy formulas."""
