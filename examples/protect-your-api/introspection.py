import json, os, sys
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

env = os.environ
basic = b64encode(f"{quote(env['CLIENT_ID'])}:{quote(env['CLIENT_SECRET'])}".encode()).decode()
needed = {"GET": "orders:read", "POST": "orders:write"}

def status_for(method, headers):
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or token == "":
        return 401
    body = urlencode({"token": token}).encode()
    request = Request(env["BOXGATE_URL"] + "/auth/introspect", body, {"Authorization": "Basic " + basic})
    try:
        with urlopen(request, timeout=2) as answer:
            told = json.load(answer)
    except Exception as error:
        print(error, file=sys.stderr)
        return 503
    if told.get("active") is not True or env["AUDIENCE"] not in told.get("aud", []):
        return 401
    return 200 if needed.get(method) in told.get("scope", "").split() else 403

class Orders(BaseHTTPRequestHandler):
    def do_GET(self):
        status = status_for(self.command, self.headers)
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        if status == 200:
            self.wfile.write(b'[{ "order": 7 }]')
    do_POST = do_GET

ThreadingHTTPServer(("127.0.0.1", int(env["PORT"])), Orders).serve_forever()
