"""A recorded incident and the repository behind it, to see the whole pipeline at work."""
