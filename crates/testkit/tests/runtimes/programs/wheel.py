"""Makes a wheel of a package with one module, under the name that is given."""

import sys
import zipfile

METADATA = "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("tiny_thing.py", "SIZE = 'tiny'\n")
    wheel.writestr("tiny_thing-1.0.dist-info/METADATA", METADATA)
    wheel.writestr("tiny_thing-1.0.dist-info/WHEEL", WHEEL)
    names = ["tiny_thing.py"] + ["tiny_thing-1.0.dist-info/" + name for name in ("METADATA", "WHEEL", "RECORD")]
    wheel.writestr("tiny_thing-1.0.dist-info/RECORD", "".join(name + ",,\n" for name in names))
