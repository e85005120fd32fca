#!/usr/bin/env bash
# The documentation: the parameter page is the program's, lines are short, links lead somewhere, commands run.
# A ```bash block of README.md or docs/getting-started.md after a line <!-- test --> is run; the blocks of a page share a
# directory and run in order. The C++ of README.md compiles.
# Usage: docs_test.sh EGC_PROGRAM
set -- "$(realpath "$1")"
. "$(dirname "$0")/../cli/begin.sh"
pages=$(cd "$source" && { git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*' -printf '%P\n'; })

"$source/scripts/make_parameters" "$egc" --check || fail "docs/parameters.md"
python3 "$source/tests/docs/check_pages.py" "$source" <<<"$pages" || fail "lines or links"

mkdir bin home
ln -s "$egc" bin/egc
export PATH=$work/bin:$PATH HOME=$work/home
unset EGC_DATA
for page in README.md docs/getting-started.md; do
  mkdir -p "$work/$page"
  python3 "$source/tests/docs/blocks.py" "$source/$page" >"$work/$page.sh" || fail "$page: no blocks"
  (cd "$work/$page" && bash -euo pipefail "$work/$page.sh") >"$work/$page.out" 2>&1 ||
    fail "$page: the blocks do not run: $(tail -n 5 "$work/$page.out")"
done

{
  echo '#include <egc/egc.hpp>'
  echo 'void snippet(int64_t num_nodes, const std::vector<int64_t>& sources, const std::vector<int64_t>& targets,'
  echo '             const egc::Tensor& x, const egc::Tensor& grad_y) {'
  sed -n '/^```cpp$/,/^```$/p' "$source/README.md" | grep -v -e '^```' -e '^#include'
  echo '}'
} >readme.cpp
[ "$(wc -l <readme.cpp)" -gt 10 ] || fail "README.md: no C++"
c++ -std=c++20 -fsyntax-only -I "$source/include" readme.cpp 2>errors || fail "README.md: the C++ does not compile: $(head -n 3 errors)"

[ "$failures" -eq 0 ] && echo "docs: fine"
exit "$failures"
