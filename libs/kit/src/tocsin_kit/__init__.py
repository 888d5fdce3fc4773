"""What every service needs to run: bus, run store, approvals, checkpoints, settings, health."""
