"""The command `grader`."""
