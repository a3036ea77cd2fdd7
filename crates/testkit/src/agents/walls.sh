# A network with nothing but loopback, for as long as standard input stays open.
#
# It runs inside that network. Writes `ready` when it is up. The test holds the other end of its
# standard input; however the test ends (done, panic, Ctrl-C, kill -9), the kernel closes that end, and
# then everything that was started in this network is killed. The network goes with its last process.
trap '' HUP INT TERM PIPE
ip link set lo up || exit 1
echo ready
while read -r _; do :; done

number=$(readlink /proc/self/ns/net | tr -cd 0-9)
# Some start others while they die, so this goes on until nobody is left but this shell and its helper.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    others=$(find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\\[$number\\]" 2>/dev/null |
        cut -d/ -f3 | grep -vx "$$")
    alive=
    for pid in $others; do
        kill -9 "$pid" 2>/dev/null && alive=yes
    done
    [ -n "$alive" ] || break
    sleep 0.1
done
