"""Scenarios and checks that any engine must pass."""
