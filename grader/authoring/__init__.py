"""For instructors: starter, notebook and lint, all made from an assignment and its reference."""
