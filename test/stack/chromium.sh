#!/bin/sh
# Makes sure that a Chromium is there for the browser tests: CHROMIUM names one,
# or one is on the PATH, or apt-get installs it where that is possible, with its
# build without windows, by which tests take a third less processor time.
set -eu

found() {
	for name in "$@"; do
		command -v "$name" >/dev/null && return 0
	done
	return 1
}
browser_found() {
	found "${CHROMIUM:-chromium}" chromium-browser google-chrome google-chrome-stable
}
fail() {
	browser_found && exit 0 # which is enough
	echo "$1" >&2
	exit 1
}

if browser_found && found "${CHROMIUM:-chromium-headless-shell}"; then
	exit 0
fi
packages="chromium chromium-headless-shell"
instruction="install it (on Debian: apt-get install $packages), or name one with CHROMIUM=/path/to/chromium"
command -v apt-get >/dev/null || fail "chromium is missing: $instruction"
as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	$as_root true 2>/dev/null || fail "chromium is missing, and installing it needs root: $instruction"
fi
log=.run/build/chromium.log
mkdir -p .run/build
echo "chromium                 installing by apt-get (about 1 min)"
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $packages; } >$log 2>&1; then
	fail "chromium could not be installed: $(tail -n 1 $log) (all of its output: $log); $instruction"
fi
browser_found
