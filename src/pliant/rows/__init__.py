"""Rows: joints, contacts and elements as one table that every solver sees (theory section 2)."""
