#!/bin/sh
# Prints the listing every two seconds: poll.sh [COUNT]
# BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.
set -eu
left=${1:--1}
url="${BASE_URL%/}/v1/servers"

key=$(printf %s "$SERVER_LISTING_KEY" | tr -d '[:space:]')
if ! printf '%s\n' "$key" | grep -Exq 'svc_live_[0-9a-f]{64}'; then
  echo 'SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits' >&2
  exit 2
fi

while [ "$left" != 0 ]; do
  # After 429, 502, 503 or a lost connection, curl waits as long as Retry-After says, or else 1, 2,
  # 4 and 8 seconds. It gives up after five attempts. Any other error ends the script.
  # The key comes from standard input, so that the list of processes does not show it.
  printf 'Authorization: Bearer %s\n' "$key" |
    curl --fail --silent --show-error --max-time 10 \
      --retry 4 --retry-connrefused --header @- "$url"
  echo
  left=$((left - 1))
  if [ "$left" != 0 ]; then sleep 2; fi
done
