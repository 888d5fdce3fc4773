"""Faults by a seed, and a checker that judges what they left behind by the promises."""
