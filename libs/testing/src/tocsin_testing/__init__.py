"""Builders, fakes and embedded servers for tests; never imported by a service."""
