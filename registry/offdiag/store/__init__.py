"""Everything offdiag says to a database, and the only package that imports SQLAlchemy."""
