"""Prints the listing every two seconds: python3 poll.py [COUNT]

BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.
"""

import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

ATTEMPTS_MAX = 5
WAIT_MAX_SECONDS = 30
TRANSIENT = (408, 429, 502, 503)

URL = os.environ["BASE_URL"].strip().rstrip("/") + "/v1/servers"
KEY = os.environ["SERVER_LISTING_KEY"].strip()
# Checked here, because urllib prints a header that it refuses.
if not re.fullmatch("svc_live_[0-9a-f]{64}", KEY):
    sys.exit("SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits")


def load_servers():
    """Asks until the list comes, at most ATTEMPTS_MAX times."""
    request = urllib.request.Request(URL, headers={"Authorization": "Bearer " + KEY})
    for attempt in range(ATTEMPTS_MAX):
        retry_after = 0
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)["servers"]
        except urllib.error.HTTPError as error:
            if error.code not in TRANSIENT or attempt == ATTEMPTS_MAX - 1:
                raise
            seconds = error.headers.get("Retry-After", "")
            retry_after = int(seconds) if seconds.isdigit() else 0
        except OSError:  # no connection, or none in time
            if attempt == ATTEMPTS_MAX - 1:
                raise
        # 1, 2, 4 ... seconds, and never less than Retry-After.
        time.sleep(max(retry_after, min(2**attempt, WAIT_MAX_SECONDS)))


sys.stdout.reconfigure(errors="replace")  # A terminal may lack characters of a name.
left = int(sys.argv[1]) if len(sys.argv) > 1 else -1
while left != 0:
    for server in load_servers():
        print(server["name"], server["address"], flush=True)
    left -= 1
    if left != 0:
        time.sleep(2)
