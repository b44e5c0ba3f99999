"""Methods: runs that differ by seed or by fold, taken together, compared and by training size."""
