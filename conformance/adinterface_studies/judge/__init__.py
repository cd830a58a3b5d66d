"""How often `check_gradient` and `check_rule` fail what is right, and miss what is wrong."""
