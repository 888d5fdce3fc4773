"""Asks people, and turns an approved plan into one pull request. No model is asked here."""
