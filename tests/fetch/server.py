#!/usr/bin/env python3
"""A web server that misbehaves on demand, for fetch_test.sh. Serves the files of DIRECTORY at
/<way>/<name>, where <way> says how:
  good      with ranges            whole     without ranges: always all of it
  cut       stops after half, once per file, then good
  cutwhole  stops after half, once per file, then whole
  nolength  stops after half, always, and never tells a length
  lie       other bytes of the same length
  moved     redirects to good      loop      redirects to itself
  tofile    redirects to file://   toftp     redirects to ftp://
  none      404                    broken    500
  html      a page instead of the file, as a login wall sends
Writes its port to PORT_FILE and a line "way name range-or-dash" per request to LOG.
Usage: server.py DIRECTORY PORT_FILE LOG"""
import http.server
import os
import sys

directory, port_file, log = sys.argv[1:4]
cut = set()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def redirect(self, to):
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        way, _, name = self.path.strip("/").partition("/")
        wanted = self.headers.get("Range")
        with open(log, "a") as file:
            file.write(f"{way} {name} {wanted or '-'}\n")
        path = os.path.join(directory, os.path.basename(name))
        if way == "moved":
            return self.redirect(f"/good/{name}")
        if way == "loop":
            return self.redirect(f"/loop/{name}")
        if way == "tofile":
            return self.redirect(f"file://{os.path.abspath(path)}")
        if way == "toftp":
            return self.redirect(f"ftp://127.0.0.1/{name}")
        if way == "broken":
            return self.send_error(500)
        if way == "none" or not os.path.exists(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            content = file.read()
        if way == "lie":
            content = bytes(b ^ 0x55 for b in content)
        if way == "html":
            content = b"<html>please log in</html>"
        begin = 0
        if wanted and way in ("good", "cut", "lie"):
            begin = int(wanted.split("=")[1].split("-")[0])
            if begin >= len(content):
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        half = way == "nolength" or (way in ("cut", "cutwhole") and (way, name) not in cut)
        if way != "nolength":
            self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        cut.add((way, name))
        self.wfile.write(content[begin:len(content) // 2] if half else content[begin:])
        self.close_connection = True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
