"""The scheduler: which nodes a pod may go to, and which of them it gets."""
