"""Logging from the libraries that models are trained with.

Each module is named after its library and imported on first use, as `offdiag.sklearn` and so on,
because only then the library itself is needed.
"""
