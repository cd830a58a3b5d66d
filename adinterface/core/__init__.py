"""The dispatcher: from the arguments of a call to an engine and back.

Six folders. Each imports only those above it in this list, and nothing else of `adinterface`:
`support`: what the core itself needs below all;
`contract`: what engines and containers must provide;
`tree`: nested arguments as flat leaves;
`derive`: every operator from one primitive, on flat arrays;
`call`: plan a call, convert, evaluate f, convert back;
`operators`: one file an operator.
"""
