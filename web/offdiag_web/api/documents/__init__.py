"""JSON documents of the HTTP interface, built from what the services return."""
