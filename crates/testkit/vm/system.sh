# Makes of the initial file system what a small host has, runs the test's script, and ends the machine.
export PATH=/usr/bin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /tmp /run /root /home/user
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=755 run /run
mkdir -p -m 700 /run/user/1000
chown user:user /home/user /run/user/1000
chmod 700 /root /home/user
ip link set lo up
hostname machine

case $(cat /vm/groups) in
unified)
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    ;;
legacy | hybrid)
    mount -t tmpfs cgroups /sys/fs/cgroup
    for controllers in cpu,cpuacct memory pids; do
        mkdir "/sys/fs/cgroup/$controllers"
        mount -t cgroup -o "$controllers" cgroup "/sys/fs/cgroup/$controllers"
    done
    if [ "$(cat /vm/groups)" = hybrid ]; then
        mkdir /sys/fs/cgroup/unified
        mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
    fi
    ;;
esac

cd /root
sh /vm/script </dev/null 2>&1
status=$?
# A program may have left the last line open.
echo
echo "ended: $status"
# The line has to leave the serial port before the machine does.
sleep 0.2
reboot -f
