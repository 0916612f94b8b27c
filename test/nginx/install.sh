#!/bin/sh
# Makes sure that nginx is there for the tests: NGINX names one, or one is installed, or Debian's package is unpacked into
# .cache/nginx. It is not installed: that would start the service, which takes port 80.
set -eu

[ -z "${NGINX:-}" ] || exit 0
PATH="$PATH:/usr/sbin" command -v nginx >/dev/null && exit 0
into=.cache/nginx
[ ! -x $into/usr/sbin/nginx ] || exit 0

instruction="install it (on Debian: apt-get install nginx), or name one with NGINX=/path/to/nginx"
if ! command -v apt-get >/dev/null; then
	echo "nginx is missing: $instruction" >&2
	exit 1
fi
log=$PWD/.run/build/nginx.log
mkdir -p .run/build $into
echo "nginx                    getting the package by apt-get (some seconds)"
get() { (cd $into && rm -f ./*.deb && apt-get download nginx >>"$log" 2>&1); }
: >"$log"
if ! get; then # the lists of packages are missing, or old
	as_root=
	[ "$(id -u)" = 0 ] || as_root="sudo -n"
	$as_root apt-get update >>"$log" 2>&1 || true
	if ! get; then
		echo "nginx could not be got: $(tail -n 1 "$log") (all of its output: $log); $instruction" >&2
		exit 1
	fi
fi
dpkg-deb -x $into/nginx_*.deb $into
rm -f $into/*.deb
if ! $into/usr/sbin/nginx -v >>"$log" 2>&1; then # a library of its own is missing
	echo "nginx does not run: $(tail -n 1 "$log"); $instruction" >&2
	exit 1
fi
