"""What is computed on devices: written down, added up, watched, and run again elsewhere."""
