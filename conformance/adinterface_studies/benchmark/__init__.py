"""The benchmark of the judge, and what only this project measures: objectives, loops, models, memory, rules, solvers."""
