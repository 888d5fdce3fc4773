"""The operator's rules about new runs: pure, one idea a file, together in `rules`."""
