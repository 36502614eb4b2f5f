"""A drain as one page that opens offline.

Law: nothing is fetched, and nothing that a cluster wrote is markup: `Html` is made by `tag` alone, all else is escaped.
"""
