#!/bin/sh
# Makes sure that a Chromium is there for the browser tests: CHROMIUM names one,
# or one is on the PATH, or apt-get installs it where that is possible. Where apt
# has Chromium's build without windows, it is installed too: tests take a third
# less processor time.
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
offered() {
	[ -n "$(apt-cache --quiet=0 madison "$1" 2>/dev/null)" ]
}

shell=chromium-headless-shell
if browser_found && { [ -n "${CHROMIUM:-}" ] || found $shell || ! offered $shell; }; then
	exit 0
fi
fail() {
	if browser_found; then
		echo "$2: the tests use the whole browser"
		exit 0
	fi
	echo "$1" >&2
	exit 1
}
instruction="install it (on Debian: apt-get install chromium $shell), or name one with CHROMIUM=/path/to/chromium"
command -v apt-get >/dev/null || fail "chromium is missing: $instruction" ""
as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	$as_root true 2>/dev/null ||
		fail "chromium is missing, and installing it needs root: $instruction" "installing $shell needs root"
fi
log=.run/build/chromium.log
mkdir -p .run/build
echo "chromium                 installing by apt-get (about 1 min)"
export DEBIAN_FRONTEND=noninteractive
install() { $as_root apt-get install -y --no-install-recommends "$@"; }
if browser_found; then
	install $shell >$log 2>&1 || fail "" "$shell could not be installed: $(tail -n 1 $log)"
elif ! { $as_root apt-get update && install chromium; } >$log 2>&1; then
	fail "chromium could not be installed: $(tail -n 1 $log) (all of its output: $log); $instruction" ""
elif offered $shell; then
	install $shell >>$log 2>&1 || fail "" "$shell could not be installed: $(tail -n 1 $log)"
fi
browser_found
