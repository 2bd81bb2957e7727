"""From an assignment and a seed to observations and verdicts: effects, and no judging."""
