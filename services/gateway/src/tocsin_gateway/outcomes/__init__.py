"""What becomes of runs: from events to rows, figures and metrics."""
