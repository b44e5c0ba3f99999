"""The predictions behind a number: which ones are meant, in which order, a page at a time."""
