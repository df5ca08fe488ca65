#!/bin/sh
# Fetches what the tests in `tests/vm` need on a Debian-like amd64 host: QEMU, a static busybox, and the distribution's
# own kernel, which is unpacked into CACHE/vm and not installed. Does nothing where all is there.
#
# usage: prepare.sh CACHE
set -eu
cache=$1/vm

if ! command -v qemu-system-x86_64 >/dev/null || ! [ -x /bin/busybox ]; then
    [ "$(id -u)" = 0 ] || {
        echo "run: sudo apt-get install -y --no-install-recommends qemu-system-x86 busybox-static" >&2
        exit 1
    }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-system-x86 busybox-static
fi

[ -e "$cache/kernel" ] && exit 0
mkdir -p "$cache"
work=$(mktemp -d "$cache/new-XXXXXXXX")
trap 'rm -rf "$work"' EXIT
# The plain name is a package that only depends on the newest kernel.
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[ -n "$package" ] || {
    echo "no kernel package is known: run apt-get update" >&2
    exit 1
}
(cd "$work" && apt-get -q download "$package" >&2 && dpkg-deb --fsys-tarfile ./*.deb | tar -x ./boot)
# Renamed last, so that half a kernel is never found.
mv "$work"/boot/vmlinuz-* "$cache/kernel"
