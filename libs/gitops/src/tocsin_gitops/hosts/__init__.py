"""The read side of the places that hold pull requests, by type of host; nothing here writes."""
