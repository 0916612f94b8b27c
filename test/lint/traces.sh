#!/bin/sh
# Fails when a file under version control names a folder of somebody's machine
# or the host of a package mirror: both work for one person only.
set -u

folders='(^|[^A-Za-z0-9._~/-])/(root|home/[a-z]+|Users/[A-Za-z]+|work|opt/wheels)/'
hosts='"resolved": *"http|^ *--(extra-)?index-url|^ *--find-links|^ *--trusted-host|registry\.npmjs\.org|files\.pythonhosted\.org|pypi\.org/simple|proxy\.golang\.org'
if git grep -nIE -e "$folders" -e "$hosts" -- . ':!test/lint/traces.sh'; then
	echo "these lines name a folder or a host of one machine" >&2
	exit 1
fi
