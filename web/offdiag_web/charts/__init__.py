"""Charts: small pure functions from numbers to SVG text. No request, no database, no templates."""
