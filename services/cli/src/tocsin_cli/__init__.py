"""The `tocsin` command: start everything on one machine, see it at work, follow and decide runs."""
