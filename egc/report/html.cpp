#include "egc/report/html.h"

#include <fmt/format.h>

namespace egc::report {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { --text: #1b1f24; --soft: #57606a; --back: #ffffff; --card: #f4f6f8; --grid: #d8dee4;
        --one: #0b62c4; --two: #b4530a; --mark: #1a7f37; color-scheme: light dark;
        --k0: #0b62c4; --k1: #b4530a; --k2: #1a7f37; --k3: #8250df; --k4: #bf3989; --k5: #6e7781; --k6: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa5b1; --back: #0d1117; --card: #161b22; --grid: #30363d;
          --one: #6cb6ff; --two: #f0a35e; --mark: #57ab5a;
          --k0: #6cb6ff; --k1: #f0a35e; --k2: #57ab5a; --k3: #d2a8ff; --k4: #ff9bce; --k5: #b1bac4; --k6: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--back); color: var(--text);
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0 1rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 0; }
dl div { background: var(--card); border-radius: .5rem; padding: .6rem .8rem; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-size: 1.2rem; font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1rem; } dl + .charts { margin-top: 1rem; }
figure { margin: 0; background: var(--card); border-radius: .5rem; padding: .75rem; }
figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 13px; }
@media (max-width: 480px) { svg text { font-size: 16px; } }
.grid { stroke: var(--grid); } .axis { stroke: var(--soft); fill: none; }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
.hit { fill: transparent; } .hit:hover { fill: var(--soft); opacity: .25; } .bar { opacity: .65; }
path.train { stroke: var(--one); } path.valid { stroke: var(--two); }
circle.train, rect.train { fill: var(--one); } circle.valid, rect.valid { fill: var(--two); }
line.mark, path.mark { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 6 4; }
.legend { margin: .25rem 0 0; color: var(--soft); font-size: .9rem; }
.legend span { margin-right: 1rem; } .legend span::before { content: "\25A0\00A0"; }
.legend .train::before { color: var(--one); } .legend .valid::before { color: var(--two); }
.legend .mark::before { color: var(--mark); }
.edge { stroke: var(--soft); stroke-width: 2; } .dashed { stroke-dasharray: 4 3; }
svg text.symbol { fill: var(--back); font-weight: 600; text-anchor: middle; }
.kind0 { --kind: var(--k0); } .kind1 { --kind: var(--k1); } .kind2 { --kind: var(--k2); }
.kind3 { --kind: var(--k3); } .kind4 { --kind: var(--k4); } .kind5 { --kind: var(--k5); }
.kind6 { --kind: var(--k6); }
circle[class^=kind] { fill: var(--kind); } .legend [class^=kind]::before { color: var(--kind); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: right; white-space: nowrap; border: 1px solid var(--grid); }
th { color: var(--soft); font-weight: 500; } pre { background: var(--card); border-radius: .5rem;
  padding: .75rem; overflow-x: auto; font-size: .85rem; }
summary { cursor: pointer; } dd { overflow-wrap: anywhere; }
</style>
)";

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string cards(const Facts& facts) {
  std::string out = "<dl>\n";
  for (const auto& [name, value] : facts)
    out += "<div><dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd></div>\n";
  return out + "</dl>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format("{0}<title>{1}</title></head><body>\n<h1>{1}</h1>\n{2}</body></html>\n", kHead,
                     escape_html(title), body);
}

}  // namespace egc::report
