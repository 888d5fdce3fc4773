"""A Slack in this process: its Web API and Socket Mode over HTTP, with the limits that it has."""
