#!/bin/sh
# Print a kubeconfig for the reader of reader.yaml, in the cluster of kubectl's current context.
set -eu
part() { kubectl --namespace tocsin get secret tocsin-reader --output "jsonpath={.data.$1}"; }
server=$(kubectl config view --minify --output 'jsonpath={.clusters[0].cluster.server}')
ca=$(part 'ca\.crt')
token=$(part token | base64 -d)
if [ -z "$token" ]; then
    echo "kubeconfig.sh: the cluster has not made the token yet; try again" >&2
    exit 1
fi
cat <<END
apiVersion: v1
kind: Config
current-context: reader
contexts: [{name: reader, context: {cluster: cluster, user: reader, namespace: tocsin}}]
clusters: [{name: cluster, cluster: {server: "$server", certificate-authority-data: "$ca"}}]
users: [{name: reader, user: {token: "$token"}}]
END
