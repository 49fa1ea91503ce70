import os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

check = os.environ["BOXGATE_URL"] + "/auth/check?app=orders.example"

def status_for(method, path, token):
    headers = {"Authorization": token, "X-Original-Method": method, "X-Original-URI": path}
    try:
        with urlopen(Request(check, headers=headers), timeout=2) as answer:
            if answer.status == 200 and answer.url == check:
                return 200
            print("Boxgate answered", answer.status, answer.url, file=sys.stderr)
    except Exception as error:
        if isinstance(error, HTTPError) and error.code in (401, 403):
            return error.code
        print(error, file=sys.stderr)
    return 503

class Orders(BaseHTTPRequestHandler):
    def do_GET(self):
        status = status_for(self.command, self.path, self.headers.get("Authorization", ""))
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        if status == 200:
            self.wfile.write(b'[{ "order": 7 }]')
    do_POST = do_GET

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Orders).serve_forever()
