"""The agent layer: what an analyzer or a model may see, and what it may spend."""
