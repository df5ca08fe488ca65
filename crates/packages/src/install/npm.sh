#!/bin/sh
# Behaves as npm does, as far as an installation looks: one package with one file, whose content is in $CONTENT.
set -eu
echo "$1" >>"$LOG"
case "$1" in
config) echo '{"registry": "https://r.example/"}' ;;
view) echo '"https://r.example/x/-/x-1.0.0.tgz"' ;;
install)
    integrity=$(printf %s "${CONTENT:-1}" | sha512sum | cut -c1-40)
    cat >package-lock.json <<END
{"name": "tree", "lockfileVersion": 3, "packages": {
  "": {"dependencies": {"x": "1.0.0"}},
  "node_modules/x": {"version": "1.0.0", "integrity": "sha512-$integrity", "deprecated": "it leaks", "hasInstallScript": true}}}
END
    ;;
ci)
    test -f package-lock.json && grep -q '"x":"1.0.0"' package.json
    sleep "${PAUSE:-0}"
    if [ -n "${FAIL:-}" ]; then
        printf 'npm error code %s\nnpm error it did not work\n' "$FAIL" >&2
        exit 1
    fi
    mkdir -p node_modules/x
    echo '{"name": "x", "version": "1.0.0", "bin": "run.js"}' >node_modules/x/package.json
    printf '#!/usr/bin/env node\n// %s\n' "${CONTENT:-1}" >node_modules/x/run.js
    echo "$$" >node_modules/.package-lock.json
    echo 'npm http fetch GET 200 https://r.example/x/-/x-1.0.0.tgz 5ms (cache miss)' >&2
    ;;
rebuild) test "$npm_config_ignore_scripts" = false && echo built >"node_modules/$3/built" ;;
esac
