"""What agents are told: named segments in one order, the security policy first."""
