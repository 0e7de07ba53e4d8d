"""Files in and out: one module per format."""
