#!/bin/sh
# Installs Debian packages where apt-get can, as root or with sudo; elsewhere it says which are missing: apt.sh PACKAGE...
set -eu

instruction="install them (on Debian: apt-get install $*)"
if ! command -v apt-get >/dev/null; then
	echo "missing: $*: $instruction" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	if ! $as_root true 2>/dev/null; then
		echo "missing: $*, and installing them needs root: $instruction" >&2
		exit 1
	fi
fi
log=.run/build/$1.log
mkdir -p .run/build
echo "installing $* by apt-get (about 1 min)"
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update && $as_root apt-get install -y -o DPkg::Lock::Timeout=120 --no-install-recommends "$@"; } >"$log" 2>&1; then
	echo "could not be installed: $*: $(tail -n 1 "$log") (all of its output: $log); $instruction" >&2
	exit 1
fi
