"""The methods of a dataset: runs that differ by seed or fold."""
