"""Resolves where a change belongs, checks it, and freezes the exact diff as a plan."""
