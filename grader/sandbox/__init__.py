"""Starts, watches and ends guests; ``walls`` is what a guest puts up around itself."""
