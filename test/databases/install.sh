#!/bin/sh
# Makes sure that PostgreSQL and MariaDB are there for the tests of database users: they are installed, or apt-get installs them where that is
# possible. No service of theirs is started.
set -eu

packages=
ls -d /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages="postgresql"
PATH="$PATH:/usr/sbin" command -v mariadbd >/dev/null || packages="$packages mariadb-server"
[ -n "$packages" ] || exit 0
# shellcheck disable=SC2086 # words are packages
exec test/stack/apt.sh $packages
