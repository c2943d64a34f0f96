#!/bin/sh
# Runs after the package is put in place. Nobody's settings are touched: whoever
# wants stopgate says so, and what was installed from an older package goes on.
set -e
new=$("${DPKG_ROOT:-}/usr/lib/stopgate/hookctl" version 2>/dev/null | cut -d' ' -f2) || new=
old= again=
case "$1" in
configure) # deb: $2 is the version that was configured before, if any
	old=$2 again=$2
	;;
[2-9]*) # rpm: so many of the package are there now
	old=$(rpm -q --qf '%{VERSION}\n' stopgate 2>/dev/null | grep -vxF "$new" | head -n 1) || old=
	again=yes
	;;
esac
if [ -z "$again" ]; then
	echo "stopgate $new. To guard your sessions of Claude Code, run as yourself: stopgate install"
elif [ "$old" != "$new" ]; then
	echo "stopgate ${old:+$old -> }$new. Whoever has installed it into Claude Code goes on with the"
	echo "programs of then until they run: stopgate install"
fi
