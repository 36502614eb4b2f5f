"""The controllers that replace pods, keep budgets' status true and collect what nobody owns."""
