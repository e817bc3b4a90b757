"""Prints the listing every two seconds: python3 poll.py [COUNT]

BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

ATTEMPTS_MAX = 5
WAIT_MAX_SECONDS = 30
TRANSIENT = (408, 429, 502, 503)


def load_servers():
    """Asks until the list comes, at most ATTEMPTS_MAX times."""
    request = urllib.request.Request(
        os.environ["BASE_URL"] + "/v1/servers",
        headers={"Authorization": "Bearer " + os.environ["SERVER_LISTING_KEY"]},
    )
    for attempt in range(ATTEMPTS_MAX):
        retry_after = 0
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)["servers"]
        except urllib.error.HTTPError as error:
            if error.code not in TRANSIENT or attempt == ATTEMPTS_MAX - 1:
                raise
            retry_after = int(error.headers.get("Retry-After", 0))
        except OSError:  # no connection, or none in time
            if attempt == ATTEMPTS_MAX - 1:
                raise
        # 1, 2, 4 ... seconds, and never less than Retry-After.
        time.sleep(max(retry_after, min(2**attempt, WAIT_MAX_SECONDS)))


left = int(sys.argv[1]) if len(sys.argv) > 1 else -1
while left != 0:
    for server in load_servers():
        print(server["name"], server["address"], flush=True)
    left -= 1
    if left != 0:
        time.sleep(2)
