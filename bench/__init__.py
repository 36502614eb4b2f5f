"""What the product costs in time, memory and requests, beside what people would use instead, in the same run."""
