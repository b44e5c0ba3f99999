"""Filling a new registry with runs of real models on real data.

The data ships with scikit-learn; nothing is downloaded and no results are hard-coded: the
dashboard shows what these models did.
"""
