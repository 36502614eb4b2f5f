"""What runs in Lambda; it ships whole and imports nothing of `evac` or `infra`."""
