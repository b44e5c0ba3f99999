"""A folder for each page: `page` answers, `view` says what is shown, templates lie beside them.

A folder imports no other one; what pages share is in `components`, and addresses that others
link to are in `urls`.
"""
