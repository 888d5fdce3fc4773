"""Slack: one message per incident that shows how it stands, a thread, and buttons that decide."""
