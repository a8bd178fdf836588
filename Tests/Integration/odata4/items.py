"""The items of a database, and the requests for them."""
import decimal
import json
import re
import sqlite3
import urllib.parse

PROPERTIES = ("Key", "Name", "Count", "Price")
INT64 = range(-(2 ** 63), 2 ** 63)
METADATA = """<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="Store" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item">
      <Key><PropertyRef Name="Key"/></Key>
      <Property Name="Key" Type="Edm.Int64" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/>
      <Property Name="Count" Type="Edm.Int64"/>
      <Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
    </EntityType>
    <EntityContainer Name="Container"><EntitySet Name="Items" EntityType="Store.Item"/></EntityContainer>
  </Schema>
</edmx:DataServices></edmx:Edmx>
"""


class Failure(Exception):
    """A request that is answered by an error."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status

    def reply(self):
        return Reply(self.status, json.dumps({"error": {"code": str(self.status), "message": str(self)}}))


class Reply:
    def __init__(self, status, body=None, headers=(), kind="application/json"):
        self.status, self.headers = status, dict(headers)
        self.body = body.encode() if isinstance(body, str) else body
        if self.body is not None:
            self.headers["Content-Type"] = kind

    @property
    def failed(self):
        return self.status >= 300 and self.status != 304


class Request:
    def __init__(self, method, url, headers, body):
        self.method, self.url, self.body = method, url, body
        self.headers = {}
        for name, value in headers:
            # Field lines with the same name are one list (RFC 9110, section 5.3).
            before = self.headers.get(name.lower())
            self.headers[name.lower()] = value if before is None else before + ", " + value

    def header(self, name):
        return self.headers.get(name.lower())

    def preferences(self):
        """The preferences without the prefix that 4.0 requires."""
        found = {}
        for part in (self.header("Prefer") or "").split(","):
            name, _, value = part.strip().partition("=")
            found[name.strip().lower().removeprefix("odata.")] = value.strip().strip('"').lower()
        return found


class Number(decimal.Decimal):
    """A number with its own text, so that no digit is lost."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


def read_json(body):
    def refuse(text):
        raise ValueError("%s is no number of JSON" % text)
    try:
        return json.loads(body, parse_float=Number, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Failure(400, "The body isn't JSON: %s" % error)


# -------------------------------------------------------------------------------------------------------------------- the database

class Database:
    def __init__(self):
        self.batches = 0
        # Changes up to this number are forgotten.
        self.forgotten = 0
        self.link = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.link.execute("CREATE TABLE items (key INTEGER PRIMARY KEY, name TEXT, count INTEGER, price TEXT, version INTEGER NOT NULL)")
        self.link.execute("CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL, names TEXT NOT NULL)")
        for key in (1, 2, 3):
            self.write(key, {"Name": "item %d" % key, "Count": key, "Price": "%d.50" % key}, PROPERTIES)

    def note(self, key, names):
        return self.link.execute("INSERT INTO changes (key, names) VALUES (?, ?)", (key, ",".join(names))).lastrowid

    def write(self, key, row, names):
        version = self.note(key, names)
        self.link.execute(
            "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?)", (key, row.get("Name"), row.get("Count"), row.get("Price"), version))

    def delete(self, key):
        self.note(key, ())
        self.link.execute("DELETE FROM items WHERE key = ?", (key,))

    @staticmethod
    def _row(values):
        return dict(zip(PROPERTIES + ("version",), values))

    def rows(self):
        return [self._row(values) for values in self.link.execute("SELECT * FROM items ORDER BY key")]

    def row(self, key):
        values = self.link.execute("SELECT * FROM items WHERE key = ?", (key,)).fetchone()
        return self._row(values) if values else None

    def last_change(self):
        return self.link.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()[0]

    def changes(self, after, upto):
        """The keys that changed, with the names of the properties that were written."""
        found = {}
        for key, names in self.link.execute(
                "SELECT key, names FROM changes WHERE number > ? AND number <= ? ORDER BY key, number", (after, upto)):
            found.setdefault(key, set()).update(names.split(","))
        return found


def json_of(value, name):
    return value if name == "Price" and value is not None else json.dumps(value)


def object_of(row, names, extra=()):
    members = ['"%s":%s' % (name, json_of(row[name], name)) for name in names]
    return "{" + ",".join(list(extra) + members) + "}"


def etag(row):
    return 'W/"%d"' % row["version"]


# --------------------------------------------------------------------------------------------------------------------- the service

class Service:
    """One request's view of a database: its service root and its version."""

    def __init__(self, database, root, is401):
        self.database, self.root, self.is401 = database, root, is401
        self.at = "@" if is401 else "@odata."

    def answer(self, request):
        try:
            reply = self.perform(request)
        except Failure as failure:
            reply = failure.reply()
        return self.versioned(reply)

    def versioned(self, reply):
        reply.headers["OData-Version"] = "4.01" if self.is401 else "4.0"
        return reply

    def perform(self, request):
        url = urllib.parse.urlsplit(urllib.parse.urljoin(self.root, request.url))
        base = urllib.parse.urlsplit(self.root)
        if (url.scheme, url.netloc) != (base.scheme, base.netloc) or not url.path.startswith(base.path):
            raise Failure(404, "%s isn't below the service root" % request.url)
        path = urllib.parse.unquote(url.path[len(base.path):])
        options = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        if path == "$metadata" and request.method == "GET":
            return Reply(200, METADATA, kind="application/xml")
        if path == "Items/$count" and request.method == "GET":
            rows = self.matching(options, {"$filter"})
            return Reply(200, str(len(rows)), kind="text/plain")
        if path == "Items" and request.method == "GET":
            return self.page(options, request)
        if path == "Items" and request.method == "POST":
            return self.create(request, options)
        key = re.fullmatch(r"Items\((?:Key=)?(-?[0-9]{1,19})\)", path)
        if not key or int(key[1]) not in INT64:
            raise Failure(404, "There is no resource %s" % path[:100])
        return self.entity(int(key[1]), request, options)

    # ---------------------------------------------------------------------------------------------------------------------- reading

    def names(self, options):
        names = [name.strip() for name in options.get("$select", ",".join(PROPERTIES)).split(",")]
        if names == ["*"]:
            return list(PROPERTIES)
        if not set(names) <= set(PROPERTIES):
            raise Failure(400, "$select names an unknown property")
        return names

    def matching(self, options, known):
        unknown = set(options) - known
        if unknown:
            raise Failure(400, "The option %s isn't supported" % min(unknown))
        if "$filter" not in options:
            return self.database.rows()
        condition = self.condition(options)
        return [row for row in self.database.rows() if condition(row)]

    @staticmethod
    def condition(options):
        if "$filter" not in options:
            return lambda row: True
        match = re.fullmatch(r"(Key|Name|Count|Price) eq (null|'(?:[^']|'')*'|-?[0-9]+(?:\.[0-9]+)?)", options["$filter"])
        if not match:
            raise Failure(400, "This $filter isn't supported: only the equality of a property and a literal is")
        name, literal = match.groups()
        if literal == "null":
            return lambda row: row[name] is None
        if (name == "Name") != literal.startswith("'"):
            raise Failure(400, "$filter compares %s with a value of another type" % name)
        if name == "Name":
            wanted = literal[1:-1].replace("''", "'")
            return lambda row: row[name] == wanted
        return lambda row: row[name] is not None and decimal.Decimal(row[name]) == decimal.Decimal(literal)

    @staticmethod
    def whole(text, name):
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise Failure(400, "%s isn't a whole number" % name)
        return int(text)

    def context(self, options, rest=""):
        selected = "(%s)" % options["$select"] if "$select" in options else ""
        return '"%scontext":%s' % (self.at, json.dumps("%s$metadata#Items%s%s" % (self.root, selected, rest)))

    def link(self, options, **tokens):
        kept = {name: value for name, value in options.items() if name in ("$filter", "$select", "$count")}
        kept.update({"$" + name: value for name, value in tokens.items()})
        return json.dumps(self.root + "Items?" + urllib.parse.urlencode(kept, quote_via=urllib.parse.quote))

    def page(self, options, request):
        preferences = request.preferences()
        size = self.whole(preferences.get("maxpagesize") or "1000", "maxpagesize")
        if size < 1:
            raise Failure(400, "maxpagesize isn't positive")
        rows = self.matching(options, {"$filter", "$top", "$count", "$select", "$skiptoken", "$deltatoken"})
        names = self.names(options)
        # A token has the key after which the page begins and, when changes are tracked, the range of their numbers.
        after, since, upto = None, None, None
        token = options.get("$skiptoken") or options.get("$deltatoken")
        if token is not None:
            match = re.fullmatch(r"(-?[0-9]{1,19})?\.([0-9]{1,18})?\.([0-9]{1,18})?", token)
            if not match:
                raise Failure(400, "The token isn't one of this service")
            after, since, upto = (int(text) if text else None for text in match.groups())
        if since is not None:
            return self.delta(options, names, after, since, upto, size)
        if "track-changes" in preferences and token is None:
            upto = self.database.last_change()
        members = [self.context(options)]
        if options.get("$count") == "true":
            members.append('"%scount":%d' % (self.at, len(rows)))
        if "$top" in options:
            rows = rows[:self.whole(options["$top"], "$top")]
        rest = [row for row in rows if after is None or row["Key"] > after]
        page = rest[:size]
        values = [object_of(row, names, ['"%setag":%s' % (self.at, json.dumps(etag(row)))]) for row in page]
        members.append('"value":[%s]' % ",".join(values))
        tail = "" if upto is None else str(upto)
        if len(rest) > size:
            members.append('"%snextLink":%s' % (self.at, self.link(options, skiptoken="%d..%s" % (page[-1]["Key"], tail))))
        elif upto is not None:
            members.append('"%sdeltaLink":%s' % (self.at, self.link(options, deltatoken=".%d." % upto)))
        applied = {"Preference-Applied": "track-changes" if self.is401 else "odata.track-changes"} if upto is not None else {}
        return Reply(200, "{" + ",".join(members) + "}", applied)

    def delta(self, options, names, after, since, upto, size):
        if since < self.database.forgotten:
            raise Failure(410, "The changes since then are forgotten")
        if upto is None:
            upto = self.database.last_change()
        condition = self.condition(options)
        changes = [(key, written) for key, written in sorted(self.database.changes(since, upto).items()) if after is None or key > after]
        values = []
        for key, written in changes[:size]:
            row = self.database.row(key)
            if row and condition(row):
                # An entity that may be new to the query comes as a whole, others with the properties that were written.
                some = names if "$filter" in options or "Key" in written else [name for name in names if name == "Key" or name in written]
                values.append(object_of(row, some, ['"%setag":%s' % (self.at, json.dumps(etag(row)))]))
                continue
            reason = "changed" if row else "deleted"
            if not self.is401:
                place = json.dumps("%s$metadata#Items/$deletedEntity" % self.root)
                values.append('{"@odata.context":%s,"id":"Items(%d)","reason":"%s"}' % (place, key, reason))
            elif key % 2:
                values.append('{"@removed":{"reason":"%s"},"Key":%d}' % (reason, key))
            else:
                values.append('{"@removed":{"reason":"%s"},"@id":"Items(%d)"}' % (reason, key))
        members = [self.context(options, "/$delta"), '"value":[%s]' % ",".join(values)]
        if len(changes) > size:
            link = self.link(options, skiptoken="%d.%d.%d" % (changes[size - 1][0], since, upto))
            members.append('"%snextLink":%s' % (self.at, link))
        else:
            members.append('"%sdeltaLink":%s' % (self.at, self.link(options, deltatoken=".%d." % upto)))
        return Reply(200, "{" + ",".join(members) + "}")

    # ---------------------------------------------------------------------------------------------------------------------- writing

    @staticmethod
    def properties(request):
        value = read_json(request.body or b"")
        if not isinstance(value, dict):
            raise Failure(400, "The body isn't an entity")
        row = {name: member for name, member in value.items() if "@" not in name}
        for name, member in row.items():
            whole = isinstance(member, int) and not isinstance(member, bool)
            if name not in PROPERTIES:
                raise Failure(400, "There is no property %s" % name[:100])
            if name == "Key" and not (whole and member in INT64):
                raise Failure(400, "The Key isn't an Int64")
            if name == "Name" and not (member is None or isinstance(member, str)):
                raise Failure(400, "The Name isn't a text")
            if name == "Count" and not (member is None or whole and member in INT64):
                raise Failure(400, "The Count isn't an Int64")
            if name == "Price":
                if not (member is None or whole or isinstance(member, Number)):
                    raise Failure(400, "The Price isn't a number")
                row[name] = None if member is None else str(member) if whole else member.text
        return row

    def written(self, key, request, options, status):
        row = self.database.row(key)
        place = "%sItems(%d)" % (self.root, key)
        headers = {"ETag": etag(row)}
        if status == 201:
            headers["Location"] = place
        wanted = request.preferences().get("return")
        if wanted:
            headers["Preference-Applied"] = "return=" + wanted
        if wanted == "representation" or wanted != "minimal" and status == 201:
            extra = [self.context(options, "/$entity"), '"%setag":%s' % (self.at, json.dumps(etag(row)))]
            return Reply(200 if status == 204 else status, object_of(row, self.names(options), extra), headers)
        headers["OData-EntityId"] = place
        return Reply(204, None, headers)

    def create(self, request, options):
        row = self.properties(request)
        highest = max([other["Key"] for other in self.database.rows()], default=0)
        key = row.get("Key", highest + 1)
        if key not in INT64:
            raise Failure(409, "There is no key left")
        if self.database.row(key):
            raise Failure(409, "There is an item with the key %d" % key)
        self.database.write(key, row, PROPERTIES)
        return self.written(key, request, options, 201)

    def check(self, row, request):
        match, none = request.header("If-Match"), request.header("If-None-Match")
        if match is not None and (row is None or match.strip() != "*" and etag(row) not in [tag.strip() for tag in match.split(",")]):
            raise Failure(412, "The item isn't in the version of If-Match")
        if none is not None and row is not None and (none.strip() == "*" or etag(row) in [tag.strip() for tag in none.split(",")]):
            if request.method == "GET":
                return Reply(304, None, {"ETag": etag(row)})
            raise Failure(412, "The item is in the version of If-None-Match")
        return None

    def entity(self, key, request, options):
        if set(options) - {"$select"}:
            raise Failure(400, "An item has no option but $select")
        names = self.names(options)
        row = self.database.row(key)
        unchanged = self.check(row, request)
        if unchanged:
            return unchanged
        if request.method in ("PATCH", "PUT"):
            new = self.properties(request)
            if new.pop("Key", key) != key:
                raise Failure(400, "The Key of an item doesn't change")
            if row and request.method == "PATCH":
                self.database.write(key, {**row, **new}, sorted(new))
                return self.written(key, request, options, 204)
            self.database.write(key, new, PROPERTIES)
            return self.written(key, request, options, 204 if row else 201)
        if row is None:
            raise Failure(404, "There is no item with the key %d" % key)
        if request.method == "GET":
            extra = [self.context(options, "/$entity"), '"%setag":%s' % (self.at, json.dumps(etag(row)))]
            return Reply(200, object_of(row, names, extra), {"ETag": etag(row)})
        if request.method == "DELETE":
            self.database.delete(key)
            return Reply(204)
        raise Failure(405, "Items have no %s" % request.method)
