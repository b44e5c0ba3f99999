"""Logging from the libraries that models are made with.

Each module is named after its library and imported when it is first used, as `offdiag.sklearn`
and so on, because only there the library itself is needed.
"""
