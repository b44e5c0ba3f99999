"""Groups of samples side by side: gaps between them, and fairness by its usual names."""
