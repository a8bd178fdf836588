"""Batches of requests, in multipart and in JSON."""
import email.parser
import email.policy
import http.client
import json
import random
import re
import urllib.parse

from items import Failure, Number, Reply, Request, read_json


class Part(Request):
    """A request of a batch."""

    def __init__(self, method, url, headers, body, name, group=None, needed=()):
        super().__init__(method, url, headers, body)
        self.name, self.group, self.needed = name, group, list(needed)


class Batch:
    def __init__(self, service, request, mode):
        self.service, self.request, self.mode = service, request, mode
        self.database = service.database
        # The replies by the requests' names, the names of groups and requests that failed, and the URLs that references mean.
        self.replies, self.failed, self.places = {}, set(), {}
        preferences = request.preferences()
        self.stops = preferences.get("continue-on-error", "false") == "false"

    def answer(self):
        kind = self.request.header("Content-Type") or ""
        is_json = kind.split(";")[0].strip().lower() == "application/json"
        units = self.json_units() if is_json else self.multipart_units(kind)
        names = [part.name for unit in units for part in unit if part.name is not None]
        if len(names) != len(set(names)):
            raise Failure(400, "Two requests have the same id")
        if "refuse" in self.mode and sum(map(len, units)) > self.mode["refuse"]:
            raise Failure(413, "The batch has more than %d requests" % self.mode["refuse"])
        done = []
        for unit in units:
            done.append(unit)
            if unit[0].group is None:
                self.single(unit[0])
            else:
                self.together(unit)
            if self.stops and any(self.replies[part].failed for part in unit):
                break
        return self.json_answer(done) if is_json else self.multipart_answer(done)

    # ------------------------------------------------------------------------------------------------------------------- performing

    def resolved(self, part):
        """The URL with the reference to an earlier request replaced, or the reply if there is none."""
        reference = re.match(r"\$([^/?(]+)", part.url)
        needed = list(part.needed)
        url = part.url
        if reference and reference[1] not in ("metadata", "batch"):
            if reference[1] not in self.places and reference[1] not in self.failed:
                raise Failure(400, "The reference %s is to no earlier request" % reference[0][:100])
            needed.append(reference[1])
            url = self.places.get(reference[1], "") + part.url[reference.end():]
        for name in needed:
            if name in self.failed:
                raise Failure(424, "The request %s failed" % name[:100])
            if name not in self.places:
                raise Failure(400, "It depends on %s, which is no earlier request" % name[:100])
        return url

    def single(self, part):
        try:
            plain = Request(part.method, self.resolved(part), (), part.body)
            plain.headers = {**self.inherited(), **part.headers}
            if plain.url.partition("?")[0].rstrip("/").endswith("$batch"):
                raise Failure(400, "A batch contains no batch")
            self.database.link.execute("SAVEPOINT single")
            reply = self.service.answer(plain)
            if part.name is not None and part.name == str(self.mode.get("fail")):
                reply = self.service.versioned(Failure(500, "The request was made to fail").reply())
            self.database.link.execute("ROLLBACK TO single" if reply.failed else "RELEASE single")
            if reply.failed:
                self.database.link.execute("RELEASE single")
        except Failure as failure:
            reply = self.service.versioned(failure.reply())
        self.replies[part] = reply
        if part.name is not None:
            if reply.failed:
                self.failed.add(part.name)
            else:
                self.places[part.name] = reply.headers.get("Location") or urllib.parse.urljoin(self.service.root, plain.url).partition("?")[0]
        return reply

    def inherited(self):
        """The fields of the batch that apply to its requests."""
        return {name: value for name, value in self.request.headers.items() if name in ("odata-maxversion", "odata-version", "prefer")}

    def together(self, parts):
        self.database.link.execute("SAVEPOINT together")
        bad = next((part for part in parts if self.single(part).failed), None)
        if bad is None:
            self.database.link.execute("RELEASE together")
            self.places[parts[0].group] = ""
            return
        self.database.link.execute("ROLLBACK TO together")
        self.database.link.execute("RELEASE together")
        self.failed.add(parts[0].group)
        for part in parts:
            self.failed.add(part.name)
            if part is not bad:
                self.replies[part] = self.service.versioned(Failure(424, "Another request of the group failed").reply())

    # ------------------------------------------------------------------------------------------------------------------------- JSON

    def json_units(self):
        value = read_json(self.request.body or b"")
        if not isinstance(value, dict) or not isinstance(value.get("requests"), list):
            raise Failure(400, "The batch has no array 'requests'")
        units, groups = [], {}
        for entry in value["requests"]:
            if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in ("id", "method", "url")):
                raise Failure(400, "A request has no id, method or url")
            headers = entry.get("headers", {})
            if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
                raise Failure(400, "The headers of %s aren't texts" % entry["id"][:100])
            needed, group = entry.get("dependsOn", []), entry.get("atomicityGroup")
            if not isinstance(needed, list) or not all(isinstance(name, str) for name in needed):
                raise Failure(400, "The dependsOn of %s isn't an array of texts" % entry["id"][:100])
            body = self.digits(entry["body"]).encode() if "body" in entry else None
            part = Part(entry["method"].upper(), entry["url"], headers.items(), body, entry["id"], group, needed)
            if group is None:
                units.append([part])
            elif group in groups:
                groups[group].append(part)
            else:
                groups[group] = [part]
                units.append(groups[group])
        return units

    @classmethod
    def digits(cls, value):
        """JSON with the digits that came."""
        if isinstance(value, Number):
            return value.text
        if isinstance(value, dict):
            return "{" + ",".join(json.dumps(name) + ":" + cls.digits(member) for name, member in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(cls.digits, value)) + "]"
        return json.dumps(value)

    def json_answer(self, units):
        texts = []
        for part in (part for unit in units for part in unit):
            reply = self.replies[part]
            members = ['"id":' + json.dumps(part.name)]
            if part.group is not None:
                members.append('"atomicityGroup":' + json.dumps(part.group))
            members.append('"status":%d' % reply.status)
            members.append('"headers":' + json.dumps({name.lower(): value for name, value in reply.headers.items()}))
            if reply.body is not None:
                text = reply.body.decode()
                members.append('"body":' + (text if reply.headers["Content-Type"] == "application/json" else json.dumps(text)))
            texts.append("{" + ",".join(members) + "}")
        if "shuffle" in self.mode:
            random.Random(self.mode["shuffle"]).shuffle(texts)
        return Reply(200, '{"responses":[%s]}' % ",".join(texts))

    # -------------------------------------------------------------------------------------------------------------------- multipart

    @staticmethod
    def parts_of(kind, body):
        head = b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n"
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        if not message.is_multipart() or message.defects:
            raise Failure(400, "The body isn't multipart: %s" % (message.defects[:1] or kind[:100]))
        return message.get_payload()

    def part(self, message, group):
        if message.get_content_type() != "application/http":
            raise Failure(400, "A part is %s, not application/http" % message.get_content_type())
        head, _, body = message.get_payload(decode=True).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        start = lines[0].split(" ")
        fields = [line.partition(":") for line in lines[1:] if line]
        if len(start) != 3 or start[2] != "HTTP/1.1" or any(not colon for _, colon, _ in fields):
            raise Failure(400, "A part has no request: %s" % lines[0][:100])
        headers = [(name, value.strip()) for name, _, value in fields]
        name = message["Content-ID"]
        return Part(start[0], start[1], headers, body or None, None if name is None else str(name), group)

    def multipart_units(self, kind):
        if not kind.lower().startswith("multipart/mixed"):
            raise Failure(415, "A batch is multipart/mixed or application/json")
        units = []
        for message in self.parts_of(kind, self.request.body or b""):
            if message.get_content_type() != "multipart/mixed":
                units.append([self.part(message, None)])
                continue
            if not message.is_multipart() or message.defects:
                raise Failure(400, "A change set isn't multipart")
            unit = [self.part(inner, "change set %d" % len(units)) for inner in message.get_payload()]
            if any(part.method == "GET" for part in unit):
                raise Failure(400, "A change set contains a GET")
            units.append(unit)
        return units

    def text_of(self, part, reply, boundary):
        lines = ["--" + boundary, "Content-Type: application/http", "Content-Transfer-Encoding: binary"]
        if part.name is not None and "nameless" not in self.mode:
            lines.append("Content-ID: " + part.name)
        lines += ["", "HTTP/1.1 %d %s" % (reply.status, http.client.responses.get(reply.status, "Unknown"))]
        lines += ["%s: %s" % field for field in reply.headers.items()]
        if reply.body is not None:
            lines.append("Content-Length: %d" % len(reply.body))
        return "\r\n".join(lines + ["", ""]).encode() + (reply.body or b"") + b"\r\n"

    def multipart_answer(self, units):
        text = b""
        for number, unit in enumerate(units):
            bad = next((part for part in unit if self.replies[part].failed and self.replies[part].status != 424), None)
            bad = bad or next((part for part in unit if self.replies[part].failed), None)
            if unit[0].group is None or bad is not None and "nested" not in self.mode:
                text += self.text_of(bad or unit[0], self.replies[bad or unit[0]], "answer")
                continue
            inner = "set_%d" % number
            text += ("--answer\r\nContent-Type: multipart/mixed; boundary=%s\r\n\r\n" % inner).encode()
            text += b"".join(self.text_of(part, self.replies[part], inner) for part in unit) + ("--%s--\r\n" % inner).encode()
        return Reply(200, text + b"--answer--\r\n", kind="multipart/mixed; boundary=answer")
