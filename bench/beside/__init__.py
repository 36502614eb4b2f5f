"""The same two minutes with each tool, on identical fresh clusters, seen by a recorder that knows none of them."""
