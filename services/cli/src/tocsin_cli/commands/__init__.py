"""One file for each command: what it does from its arguments to its exit."""
