#!/bin/sh
# Prints the listing every two seconds: poll.sh [COUNT]
# BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.
set -eu
left=${1:--1}

while [ "$left" != 0 ]; do
  # After 429, 502, 503 or a lost connection, curl waits as long as Retry-After says, or else 1, 2,
  # 4 and 8 seconds. It gives up after five attempts. Any other error ends the script.
  # The key comes from standard input, so that the list of processes does not show it.
  printf 'Authorization: Bearer %s\n' "$SERVER_LISTING_KEY" |
    curl --fail --silent --show-error --max-time 60 --connect-timeout 10 \
      --retry 4 --retry-connrefused --header @- "$BASE_URL/v1/servers"
  echo
  left=$((left - 1))
  if [ "$left" != 0 ]; then sleep 2; fi
done
