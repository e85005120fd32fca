"""Lines of at most 120 characters; relative links and anchors that exist; code that equals the file that a comment
before it names. Usage: check_pages.py SOURCE <PAGES"""

import re
import sys
from pathlib import Path

MOST = 120
source = Path(sys.argv[1]).resolve()
pages = [source / line for line in sys.stdin.read().split("\n") if line]
problems = []


def without_code(text):
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """As GitHub makes them of headings."""
    out = set()
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*?) *$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        known, count = name, 0
        while known in out:
            count += 1
            known = f"{name}-{count}"
        out.add(known)
    return out


def targets(text):
    """(line, target) of every link, image and reference."""
    text = without_code(text)
    for match in re.finditer(r"\]\(\s*<?([^)>\s]+)>?[^)]*\)|^\[[^]]+\]:\s*<?(\S+?)>?\s*$", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]
    defined = set(re.findall(r"^\[([^]]+)\]:", text, re.M))
    for match in re.finditer(r"\]\[([^]]+)\]", text):
        if match[1] not in defined:
            yield text.count("\n", 0, match.start()) + 1, f"reference {match[1]}"


for page in pages:
    text = page.read_text()
    name = page.relative_to(source)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST:
            problems.append(f"{name}:{number}: {len(line)} characters, at most {MOST}")
    for number, target in targets(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        if not to.exists():
            problems.append(f"{name}:{number}: {target} does not exist")
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            problems.append(f"{name}:{number}: {path or name} has no heading #{anchor}")
    for file, code in re.findall(r"^<!-- ([\w./]+\.\w+) -->\n+```\w*\n(.*?)^```$", text, re.M | re.S):
        if not (source / file).exists() or (source / file).read_text() != code:
            problems.append(f"{name}: the code below <!-- {file} --> must equal that file")
for problem in problems:
    print(problem)
sys.exit(bool(problems))
