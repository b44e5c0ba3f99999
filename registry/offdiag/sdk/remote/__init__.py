"""A registry behind a server: asked over HTTP, and logged to by a thread beside the job."""
