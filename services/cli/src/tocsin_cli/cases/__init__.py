"""Recorded failures, to see what Tocsin makes of them: an alert, manifests, and what was seen."""
