"""One port, one vendor, one module; none knows another."""
