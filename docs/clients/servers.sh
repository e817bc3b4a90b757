if key=$(printf %s "$SERVER_LISTING_KEY" | tr -d '[:space:]' | grep -Ex 'svc_live_[0-9a-f]{64}'); then
  printf 'Authorization: Bearer %s\n' "$key" |
    curl --fail --silent --show-error --max-time 10 --retry 4 --header @- 'https://api.example.com/v1/servers'
else
  echo 'SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits' >&2
fi
