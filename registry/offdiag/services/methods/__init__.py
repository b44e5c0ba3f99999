"""Methods: runs that differ by seed or fold, averaged, compared, and by training size."""
