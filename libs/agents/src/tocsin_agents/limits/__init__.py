"""What agents may spend: hard limits, the share at which people are asked, and who counts."""
