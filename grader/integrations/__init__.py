"""What other programs load: pytest and notebooks."""
