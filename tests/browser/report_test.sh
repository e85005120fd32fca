#!/usr/bin/env bash
# Pages in a real browser: charts are drawn, in light and dark, wide and on a phone, and nothing spills over; molecules have
# nodes that do not overlap.
# Usage: report_test.sh EGC_PROGRAM
set -euo pipefail
egc=$1
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then echo "skipped: no chromium"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$egc" data generate molecules --size 0.01 --out "$work/data" >/dev/null
"$egc" --quiet train "$work/data" --model egc-s --hidden 16 --layers 2 --epochs 8 --out "$work/run" >/dev/null
"$egc" --quiet explain "$work/run" "$work/data" --out "$work/explained" >/dev/null
page=run/report.html
chrome() {
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage --user-data-dir="$work/profile" \
    --force-device-scale-factor=1 "$@" "file://$work/$page" >"$work/out" 2>"$work/err" || { cat "$work/err"; exit 1; }
}
chrome --window-size=1200,1600 --screenshot="$work/light.png"
chrome --window-size=1200,1600 --screenshot="$work/dark.png" --force-dark-mode --enable-features=WebUIDarkMode --blink-settings=preferredColorScheme=0
chrome --window-size=500,1600 --screenshot="$work/phone.png"
page=explained/report.html
chrome --window-size=500,2400 --screenshot="$work/explained.png"
# No script is in the pages; this one is the test's. A frame, as windows cannot be as narrow as phones.
cat >"$work/measure.html" <<'HTML'
<body><iframe id="f" style="width:360px;height:800px;border:0"></iframe><pre id="out"></pre><script>
const pages = ["run/report.html", "explained/report.html"], f = document.getElementById("f");
function next() {
  if (pages.length == 0) return;
  f.onload = () => {
    const d = f.contentDocument, nodes = [...d.querySelectorAll("svg")].map(s => [...s.querySelectorAll("g circle")]);
    let overlaps = 0;
    for (const c of nodes) for (const a of c) for (const b of c) {
      const far = Math.hypot(a.cx.baseVal.value - b.cx.baseVal.value, a.cy.baseVal.value - b.cy.baseVal.value);
      if (a !== b && far < 2 * a.r.baseVal.value) ++overlaps;
    }
    const outside = [...d.querySelectorAll("svg text")].filter(t => {
      const box = t.getBBox(), view = t.ownerSVGElement.viewBox.baseVal;
      return !t.closest("g[transform]") && (box.x < -1 || box.x + box.width > view.width + 1);
    }).map(t => t.textContent);
    document.getElementById("out").textContent += `${d.title}: ${d.documentElement.scrollWidth} wide, ` +
      `${nodes.flat().length} nodes, ${overlaps} overlap, outside [${outside}]\n`;
    next();
  };
  f.src = pages.shift();
}
next();
</script></body>
HTML
page=measure.html
chrome --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom
measured=$(sed -n '/<pre id="out">/,/<\/pre>/p' "$work/out" | sed 's/.*<pre[^>]*>//; s/<\/pre>.*//' | grep . | head -2)
[ "$(grep -c ': 360 wide, [0-9]* nodes, 0 overlap, outside \[\]$' <<<"$measured")" -eq 2 ] || { echo "on a phone: $measured"; exit 1; }
grep -q ", 0 nodes" <(tail -1 <<<"$measured") && { echo "no nodes: $measured"; exit 1; }
[ -n "${EGC_KEEP_SCREENSHOTS:-}" ] && cp "$work"/*.png "$EGC_KEEP_SCREENSHOTS/"
python3 - "$work" <<'CHECK'
import struct, sys, zlib
def pixels(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, body, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR": size = struct.unpack(">IIBB", chunk[:10])
        if kind == b"IDAT": body += chunk
        at += 12 + length
    width, height, depth, colour = size
    assert depth == 8 and colour in (2, 6), size
    step = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(body), [], bytearray(width * step)
    for y in range(height):
        kind, line = raw[y * (width * step + 1)], bytearray(raw[y * (width * step + 1) + 1:(y + 1) * (width * step + 1)])
        for x in range(len(line)):
            a = line[x - step] if x >= step else 0
            b, c = before[x], before[x - step] if x >= step else 0
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[x] = (line[x] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append([tuple(line[k:k + 3]) for k in range(0, len(line), step)])
        before = line
    return rows
def count(rows, wanted):
    return sum(all(abs(p - w) < 24 for p, w in zip(pixel, wanted)) for row in rows for pixel in row)
work = sys.argv[1]
for name, back, one, two in (("light", (255, 255, 255), (11, 98, 196), (180, 83, 10)),
                             ("dark", (13, 17, 23), (108, 182, 255), (240, 163, 94)),
                             ("phone", (255, 255, 255), (11, 98, 196), (180, 83, 10))):
    rows = pixels(f"{work}/{name}.png")
    assert rows[2][2] == back, (name, rows[2][2])                      # the background of its theme
    assert count(rows, one) > 300 and count(rows, two) > 300, name     # both curves, and the histogram, are drawn
    assert all(row[-1] == back for row in rows), f"{name}: something spills over the right edge"
print("report: fine")
CHECK
