"""Everything offdiag says to a database, and the only package that imports SQLAlchemy.

A noun has one to three modules: what is written of it is beside what is read. What pages read is
a few statements whose number never grows with rows.
"""
