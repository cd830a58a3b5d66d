"""Every function of the Array API standard, and NumPy's, on every engine in every mode: data,
checks and the table.
"""
