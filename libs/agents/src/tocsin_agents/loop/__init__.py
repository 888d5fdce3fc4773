"""The one bounded loop in which every agent works: think, gate, act, until there is an outcome."""
