"""The agent layer: what an investigation may spend, whoever thinks in it."""
