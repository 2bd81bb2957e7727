"""Timing: which functions are timed, by which clock, and what that comes to."""
