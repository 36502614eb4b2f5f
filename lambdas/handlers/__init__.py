"""Lambda entry points: settings from the environment, composition, and nothing else."""
