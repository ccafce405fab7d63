"""One step, prediction and integration, integrators."""
