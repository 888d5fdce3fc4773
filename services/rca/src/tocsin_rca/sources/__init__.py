"""Adapters to what tells more about a failure than its cluster and its repository do."""
