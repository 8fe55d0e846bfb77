#!/bin/sh
# Gives a pod a network of its own and holds it: sandbox.sh HOST LINK ADDRESS GATEWAY READY
#
# Runs as root in a fresh network namespace (unshare --net). HOST is the number of a process in the network of the machine,
# LINK the name that the machine's end of the cable gets. It goes with this process. READY is a file that says that it is up.
set -eu
host=$1 link=$2 address=$3 gateway=$4 ready=$5
ip link set lo up
ip link add eth0 type veth peer name "$link" netns "$host"
ip address add "$address/32" dev eth0
ip link set eth0 up
ip route add "$gateway/32" dev eth0
# All cables have the same address at the machine's end.
nsenter --target "$host" --net ip address add "$gateway" peer "$address/32" dev "$link"
nsenter --target "$host" --net ip link set "$link" up
: >"$ready"
exec sleep infinity
