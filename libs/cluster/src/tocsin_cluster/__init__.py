"""A read-only view of a cluster: one port, and one adapter per way to look."""
