"""The dual family: box-constrained problems in the impulses."""
