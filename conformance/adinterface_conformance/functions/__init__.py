"""Every function of the Array API standard on every engine in every mode: data, checks and the table."""
