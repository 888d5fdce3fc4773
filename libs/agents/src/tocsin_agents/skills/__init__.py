"""Skills: knowledge for agents in markdown files that people edit without a rebuild."""
