"""Real models on real data, so that a new registry has something true to show.

The data ships inside scikit-learn; nothing is downloaded and no number is written down here:
what the dashboard shows is what these models did.
"""
