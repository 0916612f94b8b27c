#!/bin/sh
# Makes sure that PostgreSQL and MariaDB are there for the tests of database users: they are installed, or apt-get installs them where that is
# possible. No service of theirs is started.
set -eu

packages=
ls -d /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages="postgresql"
PATH="$PATH:/usr/sbin" command -v mariadbd >/dev/null || packages="$packages mariadb-server"
[ -n "$packages" ] || exit 0

instruction="install it (on Debian: apt-get install $packages)"
if ! command -v apt-get >/dev/null; then
	echo "$packages is missing: $instruction" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	if ! $as_root true 2>/dev/null; then
		echo "$packages is missing, and installing it needs root: $instruction" >&2
		exit 1
	fi
fi
log=.run/build/databases.log
mkdir -p .run/build
echo "$packages installing by apt-get (about 1 min)"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # words are packages
if ! { $as_root apt-get update && $as_root apt-get install -y -o DPkg::Lock::Timeout=120 --no-install-recommends $packages; } >$log 2>&1; then
	echo "$packages could not be installed: $(tail -n 1 $log) (all of its output: $log); $instruction" >&2
	exit 1
fi
