#!/bin/sh
# Starts Paceline. Programs for Linux need a C library that is as new as the one they were made
# with; on an older one its loader would name symbols that it misses.
here=$(readlink -f -- "$0") || here=$0
here=${here%/*}
needed=@GLIBC@
found=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)
case $found in
    *musl*) version=0.0 ;;
    *[0-9].[0-9]*) version=${found##* } ;;
    *) version=$needed ;; # no tool here can tell
esac
minor=${version#*.}
minor=${minor%%[!0-9]*}
if [ $((${version%%.*} * 1000 + ${minor:-0})) -lt $((${needed%%.*} * 1000 + ${needed#*.})) ]; then
    echo "Paceline needs a Linux system with glibc $needed or newer, such as Debian 12, Ubuntu 22.04 or Fedora 36; this one has $found." >&2
    exit 1
fi
exec "$here/lib/paceline" "$@"
