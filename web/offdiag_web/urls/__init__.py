"""URLs of pages: read from a query string, and written in one canonical form.

The state of a page is its address. Defaults are left out, keys are sorted, unknown keys are
dropped. A known key with an invalid value still shows the page, with a notice, because a person
followed that link.

This package has the addresses that other pages link to; an address that only its own page writes
is in the folder of that page.
"""
