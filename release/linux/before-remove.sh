#!/bin/sh
# Runs before the package goes. What people installed out of it is theirs and stays.
set -e
case "$1" in
remove | 0)
	echo "Whoever has installed stopgate into Claude Code keeps it: the programs lie in their"
	echo "own ~/.local/share/stopgate/bin, and ~/.local/share/stopgate/bin/hookctl uninstall"
	echo "--purge takes it out."
	;;
esac
