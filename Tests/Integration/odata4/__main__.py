"""An OData service over SQLite in memory, in versions 4.0 and 4.01, which executes batches and tracks changes.

    odata4 PORT LOG         # listens on 127.0.0.1; with port 0 on a free one, which it prints; errors are appended to the file LOG

    /MODE/NAME/             # the service root of the database NAME, which is made with three items when it is first used
    GET    /state/NAME      # all rows, for comparisons; DELETE forgets the database
    POST   /state/NAME/ACT  # savepoint, rollback or release, so that requests of their own can be taken back like a change set
    DELETE /changes/NAME    # forgets the changes so far: delta links from before are answered by 410
    GET    /batches/NAME    # how many batches came

One entity set, Items, with the properties Key, Name, Count and Price. MODE is `plain`, or what disturbs a batch, joined by dots:

    shuffle-SEED            # JSON responses in a random order
    nameless                # multipart responses without Content-ID
    nested                  # a failed change set in multipart has a response to each request, instead of a single one
    fail-ID                 # the request ID is performed and then fails
    refuse-COUNT            # batches of more than COUNT requests are answered by 413
    cut-COUNT               # the connection is closed after COUNT bytes of the answer's body
    end-COUNT               # the answer's body has only its first COUNT bytes, as a complete message
"""
import http.server
import re
import sqlite3
import sys
import threading
import traceback

from batches import Batch
from items import PROPERTIES, Database, Failure, Reply, Request, Service, object_of


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise an answer in two writes waits for an acknowledgement.
    disable_nagle_algorithm = True
    databases, lock = {}, threading.Lock()

    def log_message(self, *_):
        pass

    def database(self, name):
        if name not in self.databases:
            self.databases[name] = Database()
        return self.databases[name]

    def serve(self):
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not re.fullmatch("[0-9]{1,9}", length):
            self.close_connection = True
            return self.send(Failure(411, "The length of the body isn't known").reply(), {})
        request = Request(self.command, self.path, self.headers.items(), self.rfile.read(int(length)))
        words = self.path.split("/", 3)
        mode = {}
        try:
            if len(words) < 3 or not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", words[2]):
                raise Failure(404, "There is nothing at %s" % self.path[:100])
            with self.lock:
                if words[1] in ("state", "changes", "batches"):
                    reply = self.control(words[1], words[2], "/".join(words[3:]))
                else:
                    mode = self.mode(words[1])
                    reply = self.exchange(request, words, mode)
        except Failure as failure:
            mode, reply = {}, failure.reply()
        except Exception:
            traceback.print_exc()
            mode, reply = {}, Failure(500, "The service has a fault").reply()
        return self.send(reply, mode)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = serve

    @staticmethod
    def mode(text):
        found = {}
        for word in text.split("."):
            match = re.fullmatch(r"(plain|nameless|nested|(?:shuffle|fail|refuse|cut|end)-[0-9]{1,9})", word)
            if not match:
                raise Failure(404, "There is no mode %s" % word[:100])
            name, _, number = word.partition("-")
            found[name] = int(number or 0)
        return found

    def control(self, what, name, act):
        database = self.database(name)
        if what == "batches" and self.command == "GET":
            return Reply(200, str(database.batches))
        if what == "changes" and self.command == "DELETE":
            # The next delta link is one behind these.
            database.note(0, ("nothing",))
            database.forgotten = database.last_change()
            return Reply(204)
        if what == "state" and self.command == "GET":
            return Reply(200, "[" + ",".join(object_of(row, PROPERTIES + ("version",)) for row in database.rows()) + "]")
        if what == "state" and self.command == "DELETE":
            self.databases.pop(name).link.close()
            return Reply(204)
        commands = {"savepoint": ["SAVEPOINT outer"], "release": ["RELEASE outer"], "rollback": ["ROLLBACK TO outer", "RELEASE outer"]}
        if what != "state" or self.command != "POST" or act not in commands:
            raise Failure(404, "There is no %s of %s" % (self.command, what))
        for command in commands[act]:
            try:
                database.link.execute(command)
            except sqlite3.OperationalError as error:
                raise Failure(409, str(error))
        return Reply(204)

    def exchange(self, request, words, mode):
        database = self.database(words[2])
        root = "http://%s/%s/%s/" % (self.headers.get("Host", "127.0.0.1"), words[1], words[2])
        service = Service(database, root, (request.header("OData-MaxVersion") or "4.01").strip() == "4.01")
        request.url = words[3] if len(words) > 3 else ""
        if request.url != "$batch":
            mode.clear()
            return service.answer(request)
        if request.method != "POST":
            raise Failure(405, "A batch is posted")
        database.batches += 1
        try:
            reply = Batch(service, request, mode).answer()
        except Failure as failure:
            mode.clear()
            reply = failure.reply()
        return service.versioned(reply)

    def send(self, reply, mode):
        body = reply.body or b""
        if "end" in mode:
            body = body[:mode["end"]]
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if "cut" in mode and mode["cut"] < len(body):
            body = body[:mode["cut"]]
            self.close_connection = True
        if self.command != "HEAD" and body:
            self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    sys.stderr = open(sys.argv[2], "a", buffering=1)
    server.serve_forever()


if __name__ == "__main__":
    main()
