"""The feed of facts for people who look on: read once, given to many."""
