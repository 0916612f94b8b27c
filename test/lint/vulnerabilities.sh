#!/bin/sh
# Runs govulncheck. What it finds fails; a database that cannot be reached is said
# aloud and does not: the check then says nothing about this code.
set -u

out=$(mktemp)
trap 'rm -f "$out"' EXIT
timeout 300 bin/govulncheck ./... >"$out" 2>&1
status=$?
case $status in
0)
	echo "govulncheck: no known vulnerability is reachable"
	exit 0
	;;
3)
	cat "$out"
	exit 1
	;;
esac
if [ $status = 124 ] || grep -qiE 'vuln\.go\.dev|fetching vulnerabilities|dial tcp|no such host|deadline exceeded|proxyconnect' "$out"; then
	echo "********************************************************************"
	echo "govulncheck was SKIPPED: its database cannot be reached from here."
	echo "  $(tail -n 1 "$out")"
	echo "********************************************************************"
	exit 0
fi
cat "$out"
exit 1
