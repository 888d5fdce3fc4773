"""Turns webhooks into accepted alerts and decides which of them deserve an investigation."""
