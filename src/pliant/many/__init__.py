"""Several simulations at once: for sweeps over parameters, and for learning."""
