"""Costs of decisions: cost matrices, totals, decisions, curves and break-even points."""
