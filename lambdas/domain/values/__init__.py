"""What is observed and what can be done, as data. Ports and the simulator know these, never the decisions."""
