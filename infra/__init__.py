"""The deployment: constructs and the stack. Imports `lambdas.contract` and nothing else of ours."""
