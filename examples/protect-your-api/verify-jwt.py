import os, socket, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import jwt

env = os.environ
socket.setdefaulttimeout(2)
box = jwt.PyJWKClient(env["BOXGATE_URL"] + "/.well-known/jwks.json")
needed = {"GET": "orders:read", "POST": "orders:write"}
expected = {"issuer": env["ISSUER"], "audience": env["AUDIENCE"], "algorithms": ["ES256"], "options": {"require": ["exp"]}}

def status_for(method, headers):
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or token == "":
        return 401
    try:
        keys = {key.key_id: key.key for key in box.get_signing_keys()}
    except Exception as error:
        print(error, file=sys.stderr)
        return 503
    try:
        header = jwt.get_unverified_header(token)
        claims = jwt.decode(token, keys[header["kid"]], **expected)
    except (jwt.PyJWTError, KeyError, TypeError):
        return 401
    if header.get("typ") != "at+jwt":
        return 401
    return 200 if needed.get(method) in claims.get("scope", "").split() else 403

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
