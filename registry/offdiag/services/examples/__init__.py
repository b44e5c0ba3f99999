"""Lists of individual predictions: which ones are selected, in which order, page by page."""
