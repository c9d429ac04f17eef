"""Questions to a curator over HTTP, in the same words as to a table of one's own.

import letalone as la
client = la.Client("https://curator.example.org")
visits = client.open("visits", purpose="research")
visits.group_by("ward").agg(n=la.count()).release(epsilon=0.1)
"""

from letalone.client.client import Client

__all__ = ["Client"]
