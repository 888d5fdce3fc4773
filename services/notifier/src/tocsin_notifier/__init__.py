"""Tells people what a run needs from them and how it ended."""
