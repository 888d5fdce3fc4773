"""A person comments on a pull request of ours: an answer, or a change that is to be checked."""
