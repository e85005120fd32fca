"""Prints the runnable blocks of a page as one script. Usage: blocks.py PAGE"""

import re
import sys

blocks = re.findall(r"^<!-- test -->\n+```bash\n(.*?)^```$", open(sys.argv[1]).read(), re.M | re.S)
if not blocks:
    sys.exit(f"{sys.argv[1]}: no runnable block")
for block in blocks:
    print("set -x\n" + block)
