#!/bin/sh
# Make a password for everybody who connects to bus and store, once. What the servers have to know is in
# passwords.env; each service's folder gets its own two addresses, and nobody else's.
set -eu
umask 077
cd "$(dirname "$0")"
[ ! -e passwords.env ] || { echo "passwords.env is here already; remove it for new passwords" >&2; exit 1; }
for who in owner ingest rca validation action notifier gateway dashboard; do
    password=p$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n') # the servers read one of digits as a number
    echo "TOCSIN_PASSWORD_$(echo "$who" | tr '[:lower:]' '[:upper:]')=$password" >>passwords.env.new
    [ "$who" != dashboard ] || continue
    mkdir -p "$who"
    echo "nats://$who:$password@nats:4222" >"$who/TOCSIN_NATS_URL"
    echo "redis://$who:$password@valkey:6379/0" >"$who/TOCSIN_REDIS_URL"
done
mv passwords.env.new passwords.env
