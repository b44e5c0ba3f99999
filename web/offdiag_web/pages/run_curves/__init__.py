"""ROC and precision-recall curves, calibration and thresholds of a run."""
