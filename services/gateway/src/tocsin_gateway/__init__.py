"""The HTTP API: shows runs and takes decisions. It calls no model and writes to no forge."""
