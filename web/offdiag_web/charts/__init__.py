"""Charts as SVG text: small pure functions of numbers, without request, database or template."""
