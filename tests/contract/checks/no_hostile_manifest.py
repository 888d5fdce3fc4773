from dataclasses import replace

from tocsin_testing import build

DOORS = (
    "      hostNetwork: true\n",
    "      hostPID: true\n",
    "      volumes: [{name: h, hostPath: {path: /}}]\n",
    "      volumes: [{name: h, csi: {socket: /var/run/docker.sock}}]\n",
    "      initContainers: [{name: i, image: evil.example/miner:1}]\n",
    "      initContainers: [{name: i, securityContext: {privileged: true}}]\n",
    "      initContainers: [{name: i, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]\n",
    "      initContainers: [{name: i, ports: [{hostPort: 80}]}]\n",
)
ROLE = "---\nkind: Role\nmetadata: {name: r}\nrules: [{verbs: ['*'], resources: [pods]}]\n"
BINDING = "---\nkind: RoleBinding\nmetadata: {name: b}\nroleRef: {name: cluster-admin}\n"


def samples(make):
    def opened(text, before=make.manifest):
        return make.change(before, after={make.edit.file: make.manifest + text.encode()})

    image = make.manifest.replace(b"registry.example/api:1", b"registry.example/api-old:1")
    undone = replace(
        make.change(image, edits=()),
        edits=(
            build.edit(
                path=("image",), old="registry.example/api-old:1", new="registry.example/api:1"
            ),
        ),
        after={make.edit.file: make.manifest},
    )
    there = make.manifest + DOORS[0].encode()
    return {
        "passing": (make.change(), undone, opened(DOORS[0], there)),
        "failing": tuple(opened(door) for door in (*DOORS, ROLE, BINDING)),
        "unknown": (opened("      x: &a 1\n      y: *a\n"),),
    }
