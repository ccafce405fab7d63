"""Newton's method on the incremental potential of a step."""
