"""The host's clocks: reading them, sampling plans, statistics, credit. Runs no student process."""
