#!/bin/sh
# Exchanges the pod's ServiceAccount token for a token of the box (RFC 7523 §2.2), and calls the box with it.
# The file is read each time: the kubelet replaces the token long before it expires.
set -eu
answer=$(curl --silent --show-error --fail-with-body "$BOX_URL/auth/token" \
  --data-urlencode grant_type=client_credentials \
  --data-urlencode client_id="$CLIENT_ID" \
  --data-urlencode client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
  --data-urlencode client_assertion@"$SERVICE_ACCOUNT_TOKEN") || { echo "no token: $answer" >&2; exit 1; }
token=$(printf %s "$answer" | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
# A header on the command line would show the token to everybody who may list processes.
printf 'Authorization: Bearer %s' "$token" |
  curl --silent --show-error --output /dev/null --write-out 'GET /Session %{http_code}\n' --header @- "$BOX_URL/Session"
