#!/bin/sh
# Makes sure that what a real Node needs of this machine is there: iptables, ipset and conntrack for its network, and a C compiler with
# libseccomp for runc. They are installed, or apt-get installs them where that is possible.
set -eu

packages=
need() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null || packages="$packages $2"; }
need ip iproute2
need nsenter util-linux
need sysctl procps
need iptables iptables
need ipset ipset
need conntrack conntrack
need gcc gcc
need pkg-config pkg-config
pkg-config --exists libseccomp 2>/dev/null || packages="$packages libseccomp-dev"
echo '#include <sys/types.h>' | gcc -E - >/dev/null 2>&1 || packages="$packages libc6-dev"
[ -n "$packages" ] || exit 0
# shellcheck disable=SC2086 # words are packages
exec test/stack/apt.sh $packages
