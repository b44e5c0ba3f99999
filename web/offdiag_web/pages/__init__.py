"""Pages of the dashboard, one folder each: `page` responds, `view` decides what is shown.

Templates are in the same folder. No folder imports another one; what pages share is in
`components`, and addresses that others link to are in `urls`.
"""
