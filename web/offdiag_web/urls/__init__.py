"""The state of a page is its address: read from a query string, written in one canonical form.

Defaults are left out, keys are sorted, unknown keys are dropped. A known key with a value that
cannot be meant is answered with the page and a notice, because a person followed that link.

Here are the addresses that other pages link to; one that only its own page writes is in the
folder of that page.
"""
