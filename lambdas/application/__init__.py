"""The imperative shell on ports."""
