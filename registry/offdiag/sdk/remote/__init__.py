"""A registry on a server, read over HTTP and logged to by a thread next to the job."""
