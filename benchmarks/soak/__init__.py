"""Hours of calm load with a fault now and then, and what has grown by the end of them."""
