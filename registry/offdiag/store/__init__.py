"""Every statement that offdiag sends to a database; the only package that imports SQLAlchemy.

Each kind of object (run, dataset, flag) has one to three modules, which hold both its reads and
its writes. A page is read with a few statements; their number never grows with the rows.
"""
