"""The console: pages that read and approve without any script."""
