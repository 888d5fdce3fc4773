"""Agents that run elsewhere: found by their cards, asked over HTTP, never trusted."""
