"""Repairs of JAX: functions whose derivatives it lacks or gets wrong. They import JAX alone."""
