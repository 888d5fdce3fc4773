"""Forges that answer over a real bare git repository, as the real ones would."""
