"""What a service and its clients say to each other: one model a thing, for both ends.

`bodies` are sent to a service and refuse what they do not know; `records` come back, and what a
newer service adds to them is ignored. `json_values` says how exact numbers, budgets and schemas
stand in JSON, there and back.
"""
