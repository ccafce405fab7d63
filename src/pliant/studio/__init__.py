"""The studio: a scene set up, run and understood in the browser. `pliant studio` starts it; see docs/studio.md."""
