"""The command line: what people run on their own machine. Never shipped to Lambda."""
