"""Showing a replay: lines as it happens, tables and sentences at its end, or one JSON document."""
