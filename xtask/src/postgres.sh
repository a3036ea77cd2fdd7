# One temporary PostgreSQL server, for as long as standard input stays open.
#
# arguments: the directory of the server's programs, a port, the server's settings, and the user to
# run as (empty: the present one). Writes `ready` when the server answers, or else its complaint.
#
# It is a process of its own, deaf to the signals that end xtask, and xtask holds the other end of
# its standard input. However xtask ends (done, panic, Ctrl-C, kill -9), the kernel closes that end,
# and what follows `while read` happens. There is no second way to clean up, so the one there is
# runs every time.
trap '' HUP INT TERM PIPE
bin=$1 port=$2 settings=$3 user=$4

as_user() {
    if [ -n "$user" ]; then runuser -u "$user" -- "$@"; else "$@"; fi
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/understory-pg.XXXXXX") || exit 1
[ -z "$user" ] || chown "$user" "$dir"
cd "$dir" || exit 1

# The text order of a real installation is rarely that of bytes. With a language's order here, a
# query that forgot to say which one it wants fails a test instead of a user. Servers before 15
# cannot be given one without the system's help and get the order of bytes.
new_cluster() {
    as_user "$bin/initdb" --no-sync -D "$dir/data" -A trust -U postgres -E UTF8 --locale=C "$@"
}

if { new_cluster --locale-provider=icu --icu-locale=en-US || new_cluster; } >setup.log 2>&1 &&
    as_user "$bin/pg_ctl" start -s -w -D "$dir/data" -l "$dir/data/server.log" \
        -o "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories='$dir' $settings" \
        >>setup.log 2>&1
then
    echo ready 2>/dev/null # xtask may be gone by now
    # Each line is the number of the process that xtask waits for; an empty line: it ended.
    child=
    while read -r line; do child=$line; done
    [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
    as_user "$bin/pg_ctl" stop -s -m immediate -D "$dir/data" >/dev/null 2>&1
else
    cat setup.log data/server.log 2>/dev/null
fi
cd / && rm -rf "$dir"
