"""Assignments: their types, and how their files are found, read and checked."""
