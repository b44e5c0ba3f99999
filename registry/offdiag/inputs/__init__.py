"""Arrays as users hold them (lists, numpy, pandas, polars, Arrow, tensors) turned into codes."""
