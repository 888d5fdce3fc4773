"""A person talks to an agent: it looks, and at most starts a run that ends at people's approval."""
