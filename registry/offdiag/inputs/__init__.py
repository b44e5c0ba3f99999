"""Converting users' arrays (lists, numpy, pandas, polars, Arrow, tensors) to class codes."""
