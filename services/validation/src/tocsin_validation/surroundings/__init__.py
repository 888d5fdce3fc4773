"""The questions about a change that need IO: asked once, at the same time, each with a deadline."""
