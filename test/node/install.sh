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
ls /usr/include/*/sys/types.h /usr/include/sys/types.h >/dev/null 2>&1 || packages="$packages libc6-dev"
[ -n "$packages" ] || exit 0

instruction="install it (on Debian: apt-get install$packages)"
if ! command -v apt-get >/dev/null; then
	echo "missing:$packages: $instruction" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	if ! $as_root true 2>/dev/null; then
		echo "missing:$packages, and installing it needs root: $instruction" >&2
		exit 1
	fi
fi
log=.run/build/node.log
mkdir -p .run/build
echo "installing$packages by apt-get"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # words are packages
if ! { $as_root apt-get update && $as_root apt-get install -y -o DPkg::Lock::Timeout=120 --no-install-recommends $packages; } >$log 2>&1; then
	echo "could not be installed:$packages: $(tail -n 1 $log) (all of its output: $log); $instruction" >&2
	exit 1
fi
