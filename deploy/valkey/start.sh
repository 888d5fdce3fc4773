# Start the store with its users: their passwords come from the environment, and each has to be there.
set -eu
umask 077
eval "cat <<END
$(cat "$(dirname "$0")/users.acl")
END" >"${TMPDIR:-/tmp}/users.acl"
exec valkey-server --aclfile "${TMPDIR:-/tmp}/users.acl" "$@"
