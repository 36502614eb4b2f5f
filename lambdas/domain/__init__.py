"""Pure: values as observed, and the decisions made from them. No I/O, no clock, no vendor."""
