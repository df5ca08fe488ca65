# Installs the service in a mount namespace of its own, shuts it in as far as its unit says and mounts can, and becomes it.
# Arguments: the folder with the programs, a folder that both sides see, the server's program.
set -eu
programs=$1 outside=$2 server=$3
layers=/mnt
mount -t tmpfs none $layers
for folder in etc var/lib usr/local; do
    mkdir -p $layers/$folder/up $layers/$folder/work
    mount -t overlay overlay -o lowerdir=/$folder,upperdir=$layers/$folder/up,workdir=$layers/$folder/work /$folder
done
mkdir -p /usr/local/bin /usr/local/lib
cp "$programs/fumehood" "$programs/fumehood-jail" /usr/local/bin/
cp "$server" /usr/local/lib/orders.sh
mount -t tmpfs -o mode=755 none /run
mkdir /run/outside
mount --bind "$outside" /run/outside

/usr/local/bin/fumehood serve --install
/usr/local/bin/fumehood serve --install 2>"$outside/again"
cp /run/outside/config.toml /etc/fumehood/config.toml
stat -c '%A %U:%G %n' /etc/fumehood /etc/fumehood/config.toml /var/lib/fumehood /etc/systemd/system/fumehood.service \
    >"$outside/modes"

unit=/etc/systemd/system/fumehood.service
said() { sed -n "s/^$1=//p" $unit; }
[ "$(said NoNewPrivileges) $(said CapabilityBoundingSet) $(said ProtectSystem) $(said ProtectHome) $(said PrivateTmp)" = \
    "yes  strict yes yes" ]
install -d -o "$(said User)" -g "$(said Group)" -m "$(said RuntimeDirectoryMode)" "/run/$(said RuntimeDirectory)"
state=$(said ReadWritePaths)
mount --bind "$state" "$state"
for folder in /home /root /usr/lib/modules; do
    [ ! -d $folder ] || mount -t tmpfs -o mode=000 none $folder
done
mount -t tmpfs -o mode=1777 none /tmp
for folder in / /etc /var/lib /usr/local; do mount -o remount,bind,ro $folder; done
cd "$(said WorkingDirectory)"
umask "$(said UMask)"
as_service() {
    setpriv --reuid "$(said User)" --regid "$(said Group)" --clear-groups --no-new-privs --inh-caps=-all \
        --ambient-caps=-all --bounding-set=-all env -i "$(said Environment)" PATH=/usr/local/bin:/usr/bin:/bin "$@"
}
fingerprint=$(as_service fumehood review orders --json | sed -n 's/^  "fingerprint": "\(.*\)",$/\1/p')
as_service fumehood review orders --accept "$fingerprint"
as_service fumehood serve --check
exec setpriv --reuid "$(said User)" --regid "$(said Group)" --clear-groups --no-new-privs --inh-caps=-all \
    --ambient-caps=-all --bounding-set=-all env -i "$(said Environment)" PATH=/usr/local/bin:/usr/bin:/bin \
    NOTIFY_SOCKET=/run/outside/notify $(said ExecStart)
