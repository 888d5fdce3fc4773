"""From an alert to a hypothesis: look, name the cause, say what proves it."""
