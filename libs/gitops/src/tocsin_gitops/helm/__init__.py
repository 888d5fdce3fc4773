"""Find and change what decides a field of a chart: a value, never a template."""
