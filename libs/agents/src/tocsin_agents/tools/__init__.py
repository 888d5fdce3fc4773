"""Tools: what agents, and people through the gateway, can ask and do."""
