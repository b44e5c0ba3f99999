"""Domain types and rules: labels, orientation, runs, metric values. No I/O, no formulas."""
