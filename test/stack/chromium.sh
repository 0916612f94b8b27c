#!/bin/sh
# Makes sure that a Chromium is there for the browser tests: CHROMIUM names one,
# or one is on the PATH, or apt-get installs it where that is possible.
set -eu

find_chromium() {
	for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome google-chrome-stable; do
		command -v "$name" && return 0
	done
	return 1
}

find_chromium >/dev/null && exit 0

instruction="install it (on Debian: apt-get install chromium), or name one with CHROMIUM=/path/to/chromium"
if ! command -v apt-get >/dev/null; then
	echo "chromium is missing: $instruction" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	if ! $as_root true 2>/dev/null; then
		echo "chromium is missing, and installing it needs root: $instruction" >&2
		exit 1
	fi
fi
log=.run/build/chromium.log
mkdir -p .run/build
echo "chromium                 installing by apt-get (about 1 min)"
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends chromium; } >$log 2>&1; then
	echo "chromium could not be installed: $(tail -n 1 $log) (all of its output: $log); $instruction" >&2
	exit 1
fi
find_chromium >/dev/null
