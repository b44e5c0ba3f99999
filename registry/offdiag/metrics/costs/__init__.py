"""What decisions cost: cost matrices, totals, decisions, curves and break-even points."""
