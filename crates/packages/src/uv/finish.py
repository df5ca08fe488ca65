"""Makes an installed tree the same whoever's machine installed it, and says what is in it.

Arguments: the tree, and where it will be seen. Run with `-I -S`: nothing of the tree is imported or run here.
"""

import base64
import compileall
import configparser
import csv
import hashlib
import importlib.machinery
import io
import json
import os
import platform
import py_compile
import re
import shutil
import stat
import sys

# Ours, in the tree but not of it: written anew at every installation.
OWN = ".fumehood"

# As in a virtual environment: packages are found after the standard library, and none of the host's beside them. No
# `.pth` file is looked at.
SITE = '''\
import os
import sys

_own = os.path.dirname(os.path.abspath(__file__))
_foreign = ("site-packages", "dist-packages")
sys.path[:] = [
    entry for entry in sys.path if entry != _own and os.path.basename(entry) not in _foreign
] + [os.path.dirname(_own)]
'''

# What is digested must not depend on the version of the installer, so it is not the installer's own script.
SCRIPT = '''\
#!/usr/bin/env {python}
import sys

from {module} import {first}

if __name__ == "__main__":
    sys.exit({function}())
'''

ENTRY = re.compile(r"([A-Za-z_][\w.]*)\s*:\s*(([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*)\s*(?:\[[^\]]*\])?\Z")
# Bytes of a script's beginning in which its interpreter is named.
HEAD = 4096
# The most that is read of a text: the lists of what large wheels hold have some megabytes.
TEXT = 32 << 20


def interpreter():
    """Its own path, not that of an environment around it."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def python_name():
    """What the programs of the tree call it: the same on every machine with this version of it."""
    name = "python" if sys.implementation.name == "cpython" else "pypy"
    return "{}{}.{}{}".format(name, sys.version_info[0], sys.version_info[1], threads())


def threads():
    return "t" if "t" in getattr(sys, "abiflags", "") else ""


def platform_name():
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower())
    libc = "-musl" if "musl" in importlib.machinery.EXTENSION_SUFFIXES[0] else ""
    version = "{}.{}{}".format(sys.version_info[0], sys.version_info[1], threads())
    machine = machine or platform.machine().lower()
    return "{}-{}{}-{}-{}".format(sys.platform, machine, libc, sys.implementation.name, version)


def is_plain(path):
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def read(path):
    with open(path, "rb") as file:
        return file.read(TEXT).decode("utf-8", "replace")


def write(path, content, mode=0o644):
    """A new file in place of the old one, which the installer's cache may share."""
    temporary = path + ".new"
    with open(temporary, "wb") as file:
        file.write(content)
    os.chmod(temporary, mode)
    os.replace(temporary, path)


def clear(tree):
    """Takes out what wheels brought of our own things, bytecode that nobody compiled here, interpreters that are none, and
    the installer's lock."""
    found = []
    for folder, folders, files in os.walk(tree):
        for name in list(folders):
            path = os.path.join(folder, name)
            if name == "__pycache__" or path == os.path.join(tree, OWN):
                folders.remove(name)
                found.append(os.path.relpath(path, tree))
                os.unlink(path) if os.path.islink(path) else shutil.rmtree(path)
        for name in files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, tree)
            if name == "__pycache__" or relative == OWN or re.match(r"bin/(python|pypy)[0-9.t]*\Z", relative):
                found.append(relative)
                os.unlink(path)
            elif relative == ".lock":
                os.unlink(path)
    return found


class Distribution:
    """One installed wheel, by what it says of itself."""

    def __init__(self, tree, folder):
        self.tree = tree
        self.folder = os.path.join(tree, folder)
        self.name, _, self.version = folder[: -len(".dist-info")].partition("-")
        for line in self.text("METADATA").splitlines():
            if not line.strip():
                break
            key, _, value = line.partition(":")
            if key.lower() == "name":
                self.name = value.strip()
            elif key.lower() == "version":
                self.version = value.strip()

    def text(self, name):
        path = os.path.join(self.folder, name)
        return read(path) if is_plain(path) else ""

    def tags(self):
        """The machines it says it is for."""
        lines = (line.partition(":") for line in self.text("WHEEL").splitlines())
        return [value.strip() for key, _, value in lines if key.lower() == "tag"]

    def entries(self):
        """Name, module and function of every program it declares."""
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
        parser.optionxform = str
        try:
            parser.read_string(self.text("entry_points.txt"))
        except configparser.Error:
            return
        for section in ("gui_scripts", "console_scripts"):
            if not parser.has_section(section):
                continue
            for name, value in parser.items(section, raw=True):
                entry = ENTRY.match(value or "")
                if entry and is_plain(self.program(name)):
                    yield name, entry.group(1), entry.group(3), entry.group(2)

    def program(self, name):
        """Where a program of that name would be; nowhere, if the name is a path."""
        if not name or "/" in name or "\0" in name or name in (".", ".."):
            return ""
        return os.path.join(self.tree, "bin", name)

    def record(self):
        return [row for row in csv.reader(io.StringIO(self.text("RECORD"))) if row]

    def programs(self):
        """The names of the programs it brought."""
        names = {name for name, _, _, _ in self.entries()}
        for row in self.record():
            folder, _, name = row[0].partition("/")
            if folder == "bin" and is_plain(self.program(name)):
                names.add(name)
        return sorted(names)

    def settle(self):
        """Writes what it says is installed as it is now, in an order that is always the same."""
        rows = []
        for row in self.record():
            path = row[0]
            if "__pycache__" in path.split("/"):
                continue
            folder, _, name = path.partition("/")
            program = self.program(name) if folder == "bin" else ""
            if program and not is_plain(program):
                continue
            if program:
                with open(program, "rb") as file:
                    content = file.read()
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                row = [path, "sha256=" + digest, str(len(content))]
            rows.append(row)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(sorted(rows))
        write(os.path.join(self.folder, "RECORD"), text.getvalue().encode("utf-8", "replace"))


def distributions(tree):
    for folder in sorted(os.listdir(tree)):
        if folder.endswith(".dist-info") and not os.path.islink(os.path.join(tree, folder)):
            if os.path.isdir(os.path.join(tree, folder)):
                yield Distribution(tree, folder)


def write_programs(tree, found, main):
    """The programs of the wheels; where two declare one of the same name, that of the package asked for counts."""
    for one in sorted(found, key=lambda one: (plain_name(one.name) == main, plain_name(one.name))):
        for name, module, first, function in one.entries():
            text = SCRIPT.format(python=python_name(), module=module, first=first, function=function)
            write(one.program(name), text.encode(), 0o755)


def without_place(path):
    """Names the interpreter of a script without saying where this machine has it."""
    with open(path, "rb") as file:
        content = file.read()
    head = content[:HEAD]
    line, _, rest = head.partition(b"\n")
    own = "#!/usr/bin/env {}".format(python_name()).encode()
    words = line[2:].split() if line.startswith(b"#!") else []
    if words and re.match(rb"(python|pypy)[\w.]*\Z", os.path.basename(words[0])) and b"/" in words[0]:
        write(path, own + content[len(line) :], 0o755)
    elif line == b"#!/bin/sh" and rest.startswith(b"'''exec' "):
        # How an interpreter is named whose path is too long for a first line.
        tail = content.split(b"\n", 3)[3:]
        write(path, b"\n".join([own] + tail), 0o755)


def plain_name(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def notes(tree, found, cleared):
    for path in sorted(cleared)[:8]:
        yield "`{}` came in a wheel and was left out: what is in it would be run unseen".format(path)
    for name in sorted(os.listdir(tree)):
        if name.endswith(".pth"):
            yield "`{}` would be run at every start of Python; it is not".format(name)
        elif re.match(r"(sitecustomize|usercustomize)(\.|\Z)", name):
            yield "`{}` would be run at every start of Python; it is not".format(name)


def main():
    tree, inside, asked = sys.argv[1:4]
    cleared = clear(tree)
    found = list(distributions(tree))
    write_programs(tree, found, plain_name(asked))
    programs = os.path.join(tree, "bin")
    if os.path.isdir(programs) and not os.path.islink(programs):
        for name in sorted(os.listdir(programs)):
            path = os.path.join(programs, name)
            if is_plain(path):
                without_place(path)
    for one in found:
        one.settle()
    os.mkdir(os.path.join(tree, OWN))
    write(os.path.join(tree, OWN, "sitecustomize.py"), SITE.encode())
    told = {
        "interpreter": interpreter(),
        "platform": platform_name(),
        "distributions": [
            {"name": one.name, "version": one.version, "tags": one.tags(), "programs": one.programs()}
            for one in found
        ],
        "notes": list(notes(tree, found, cleared)),
    }
    write(os.path.join(tree, OWN, "python.json"), json.dumps(told, sort_keys=True).encode())
    # By the source's hash: what counts is what was installed, not when. A file that does not compile stays a source.
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(tree, ddir=inside, quiet=2, invalidation_mode=mode, workers=0, maxlevels=32)
    print(json.dumps(told, sort_keys=True))


main()
