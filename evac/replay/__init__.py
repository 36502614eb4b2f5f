"""Running a replay: events and a cluster in, what became of every pod out."""
