"""Verdicts become a report, and a report becomes files and tables. Nothing here judges."""
