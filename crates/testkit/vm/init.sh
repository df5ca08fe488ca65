#!/bin/busybox sh
# The kernel's first root cannot be pivoted away from, and that is what the jail does; a bind of it on itself can.
mkdir -p /new
mount --bind / /new
cd /new || exit 1
mount --move . /
exec chroot . /bin/sh /vm/system
