"""Pure decisions: what an event means, which pods leave, when, and how."""
