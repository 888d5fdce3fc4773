"""What an operator says of channels: which there are, who hears what, and when it can wait."""
