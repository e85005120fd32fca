# Doxygen's filter for headers: turns plain comments into documentation.
#   the first comment of a file  -> /// \file
#   before a declaration         -> ///
#   behind one                   -> ///<  (and the lines below it, in the same column)
# Lines indented by three blanks within a comment are code. A comment before a blank line stays plain.
function flush(documents,  i, text, was_code, code) {
  if (documents && !file_done) { print "/// \\file"; file_done = 1 }
  for (i = 1; i <= n; ++i) {
    text = block[i]
    if (!documents) { print text; continue }
    code = text ~ /\/\/   /
    sub(/\/\/( |$)/, "/// ", text)
    if (code && !was_code) sub(/\/\/\/ /, "/// @code{.unparsed}", text)
    if (code && (i == n || block[i + 1] !~ /\/\/   /)) text = text " @endcode"
    was_code = code
    print text
  }
  n = 0
}
/^ *\/\// && !(column && index($0, "//") == column) { column = 0; block[++n] = $0; next }
{ flush($0 !~ /^ *$/) }
/^#pragma once/ { next }  # makes room for \file: line numbers stay
/^ *\/\// { sub(/\/\//, "///<"); print; next }
{ column = 0 }
/[^ {]  +\/\/ / && !/^[#}]/ && !/NOLINT/ { column = index($0, "//"); sub(/\/\/ /, "///< ") }
{ print }
END { flush(0) }
