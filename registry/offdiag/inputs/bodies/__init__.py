"""Reading columns from the bodies of requests, with limits that are checked first."""
