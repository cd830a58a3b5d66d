"""Repairs of torch and of array-api-compat's namespace of it. They import these two alone."""
