"""The host's clocks: reading them, sampling plans, statistics, credit. No guest is run here."""
