"""The parts of ingest that a role may do without; each is imported only where it runs."""
