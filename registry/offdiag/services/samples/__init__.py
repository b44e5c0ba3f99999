"""What samples look like: logged, shown, and found wrong."""
