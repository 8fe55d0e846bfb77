#!/bin/sh
# Makes the file system of a container and runs a command in it: container.sh IMAGE ROOT MOUNTS ro|rw COMMAND...
#
# Runs as root in a fresh mount namespace (unshare --mount), so that all mounts go with it. IMAGE is the folder of the unpacked
# image, ROOT the folder for the container's root. Each line of the file MOUNTS is a source, a path in the container and ro or
# rw, with tabs in between. COMMAND has to change its root to ROOT.
set -eu
image=$1 root=$2 mounts=$3 mode=$4
shift 4

# A copy, for the places of mounts that the image does not have; hard links, because nothing writes into the files.
rm -rf "$root"
mkdir -p "$root/proc" "$root/dev"
cp -al "$image/." "$root/"
for device in null zero random urandom; do
  : >"$root/dev/$device"
done
tab=$(printf '\t')
while IFS=$tab read -r source path access; do
  mkdir -p "$root$path"
done <"$mounts"

mount --bind "$root" "$root"
[ "$mode" = rw ] || mount -o remount,bind,ro "$root"
for device in null zero random urandom; do
  mount --bind "/dev/$device" "$root/dev/$device"
done
while IFS=$tab read -r source path access; do
  mount --bind "$source" "$root$path"
  [ "$access" = rw ] || mount -o remount,bind,ro "$root$path"
done <"$mounts"
exec "$@"
