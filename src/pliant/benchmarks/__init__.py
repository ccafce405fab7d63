"""Benchmarks that anyone can re-run: `pliant bench NAME [--json]`. Each returns {name, cores, cases: [...]}."""
