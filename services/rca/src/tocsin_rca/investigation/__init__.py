"""A model looks further where no analyzer is sure: with tools that only read, within limits."""
