import Foundation
import TestSupport
import WebServiceClient

/// A service over SQLite in Python that parses filters by PyPI's `odata-query`, an independent implementation.
///
/// Only its parser and the precedence in its trees are used. The operators are implemented in new SQL, since the package's SQL omits
/// parentheses, mishandles null, and doesn't support letters beyond ASCII, blanks other than the space, halves below zero, seconds and
/// times.
///
/// Its parser doesn't support `divby`, `case`, lists of one value or unknown functions (such as `cast` and `isof`). It does parse `any` and
/// `all`, `has`, geography, subsets and offsets, but an SQLite table has no rows for these. None of them is tested here.
enum FilterJudge {
    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    static func isAvailable() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import odata_query, sqlite3"]))?.status == 0
    }

    struct Silent: Error {}

    /// Runs a closure with the service's root while the service runs. The service ends when its folder is removed, even if it starts later.
    static func serving<Result>(_ rows: Data, _ body: (String) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "judge-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        async let process = ChildProcess.run([python, "-c", program, folder.path(percentEncoded: false)], input: rows)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(try await root(in: folder)))
        } catch {
            result = .failure(error)
        }
        try? FileManager.default.removeItem(at: folder)
        _ = try await process
        return try result.get()
    }

    /// Returns the root that the service writes once it listens. The long deadline allows for all other tests starting before it.
    private static func root(in folder: URL) async throws -> String {
        let place = folder.appending(path: "root", directoryHint: .notDirectory)
        let deadline = ContinuousClock.now.advanced(by: .seconds(300))
        while ContinuousClock.now < deadline {
            if let text = try? String(contentsOf: place, encoding: .utf8) { return text }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Silent()
    }

    private static let program = #"""
        import http.server, json, math, os, re, sqlite3, sys, threading, time, urllib.parse
        from odata_query import ast
        from odata_query.grammar import ODataLexer, ODataParser
        from odata_query.sql.sqlite import AstToSqliteSqlVisitor

        class Visitor(AstToSqliteSqlVisitor):
            def visit_BinOp(self, node): return '(' + super().visit_BinOp(node) + ')'
            def visit_BoolOp(self, node): return '(%s %s %s)' % (self.visit(node.left), self.visit(node.op), self.visit(node.right))
            def visit_UnaryOp(self, node): return '(%s (%s))' % (self.visit(node.op), self.visit(node.operand))
            def visit_USub(self, node): return '-'
            def visit_Compare(self, node):
                # To equal null, and not to, is true or false (URL Conventions, section 5.1.1.1); to be more or less than null is false.
                sign = {'=': 'IS', '!=': 'IS NOT'}.get(self.visit(node.comparator), self.visit(node.comparator))
                text = '(%s) %s %s' % (self.visit(node.left), sign, self.visit(node.right) if sign == 'IN' else '(' + self.visit(node.right) + ')')
                return '(%s)' % text if sign.startswith('IS') else 'COALESCE(%s, 0)' % text
            def visit_DateTime(self, node): return "STRFTIME('%%Y-%%m-%%dT%%H:%%M:%%SZ', '%s')" % node.val
            def visit_Date(self, node): return "'%s'" % node.val
            def sqlfunc_contains(self, a, b): return 'INSTR(%s, %s) > 0' % (self.visit(a), self.visit(b))
            def sqlfunc_startswith(self, a, b): return '(SUBSTR({0}, 1, LENGTH({1})) = {1})'.format(self.visit(a), self.visit(b))
            def sqlfunc_endswith(self, a, b):
                return '(LENGTH({0}) >= LENGTH({1}) AND SUBSTR({0}, LENGTH({0}) - LENGTH({1}) + 1) = {1})'.format(self.visit(a), self.visit(b))
            # As Python does it, which knows all letters and blanks, and where SQLite may have been built without it.
            def sqlfunc_tolower(self, a): return 'PY_LOWER(%s)' % self.visit(a)
            def sqlfunc_toupper(self, a): return 'PY_UPPER(%s)' % self.visit(a)
            def sqlfunc_trim(self, a): return 'PY_STRIP(%s)' % self.visit(a)
            def sqlfunc_floor(self, a): return 'PY_FLOOR(%s)' % self.visit(a)
            def sqlfunc_ceiling(self, a): return 'PY_CEILING(%s)' % self.visit(a)
            def sqlfunc_matchespattern(self, a, b): return 'PY_MATCHES(%s, %s)' % (self.visit(a), self.visit(b))
            # SQLite rounds halves away from zero, as OData does.
            def sqlfunc_round(self, a): return 'ROUND(%s)' % self.visit(a)
            def sqlfunc_indexof(self, a, b): return '(INSTR(%s, %s) - 1)' % (self.visit(a), self.visit(b))
            def sqlfunc_substring(self, a, start, *length):
                return 'SUBSTR(%s)' % ', '.join([self.visit(a), '(%s) + 1' % self.visit(start)] + ['(%s)' % self.visit(n) for n in length])
            def sqlfunc_second(self, a): return "CAST(STRFTIME('%%S', %s) AS INTEGER)" % self.visit(a)
            def sqlfunc_time(self, a): return "STRFTIME('%%H:%%M:%%S', %s)" % self.visit(a)
            def visit_Time(self, node): return "'%s'" % node.val
            def sqlfunc_concat(self, a, b): return '(%s || %s)' % (self.visit(a), self.visit(b))

        rows = json.load(sys.stdin)
        base = sqlite3.connect(':memory:', check_same_thread=False)
        for name, function in [
            ('LOWER', str.lower), ('UPPER', str.upper), ('STRIP', str.strip),
            ('FLOOR', lambda x: float(math.floor(x))), ('CEILING', lambda x: float(math.ceil(x))),
            ('MATCHES', lambda x, pattern: re.search(pattern, x) is not None),
        ]:
            count = 2 if name == 'MATCHES' else 1
            # Of null all of them make null.
            base.create_function('PY_' + name, count, lambda *given, call=function: None if None in given else call(*given))
        columns = sorted({name for row in rows for name in row})
        base.execute('CREATE TABLE t (%s)' % ', '.join('"%s"' % name for name in columns))
        for row in rows:
            base.execute('INSERT INTO t VALUES (%s)' % ', '.join('?' * len(columns)), [row.get(name) for name in columns])

        def sql(text): return Visitor().visit(ODataParser().parse(ODataLexer().tokenize(text)))

        def ordering(text):
            parts, depth, quoted, part = [], 0, False, ''
            for letter in text:
                if letter == "'": quoted = not quoted
                if not quoted: depth += (letter == '(') - (letter == ')')
                if letter == ',' and depth == 0 and not quoted: parts.append(part); part = ''
                else: part += letter
            result = []
            for part in parts + [part]:
                falls = part.endswith(' desc')
                part = part[:-5] if falls else part[:-4] if part.endswith(' asc') else part
                # Null comes before all values (URL Conventions, section 5.1.4): as SQLite has it.
                result.append(sql(part) + (' DESC' if falls else ' ASC'))
            return ', '.join(result)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def log_message(self, *args): pass
            def do_GET(self):
                try:
                    path, _, query = self.path.partition('?')
                    options = {}
                    for pair in query.split('&') if query else []:
                        name, _, value = pair.partition('=')
                        # As most services do it, which take a plus for a blank.
                        options[urllib.parse.unquote_plus(name)] = urllib.parse.unquote_plus(value, errors='strict')
                    where = ' WHERE ' + sql(options['$filter']) if '$filter' in options else ''
                    order = ' ORDER BY ' + ordering(options['$orderby']) if '$orderby' in options else ''
                    count = base.execute('SELECT COUNT(*) FROM t' + where).fetchone()[0]
                    if path.endswith('/$count'): return self.answer(200, str(count), 'text/plain')
                    cut = ' LIMIT %d OFFSET %d' % (int(options.get('$top', -1)), int(options.get('$skip', 0)))
                    found = base.execute('SELECT %s FROM t' % ', '.join('"%s"' % n for n in columns) + where + order + cut).fetchall()
                    page = {'@odata.context': '$metadata#Rows'}
                    if options.get('$count') == 'true': page['@odata.count'] = count
                    page['value'] = [dict(zip(columns, row)) for row in found]
                    self.answer(200, json.dumps(page), 'application/json')
                except Exception as error:
                    text = {'error': {'code': type(error).__name__, 'message': '%s in %s' % (error, urllib.parse.unquote(self.path))}}
                    self.answer(400, json.dumps(text), 'application/json')
            def answer(self, status, text, kind):
                data = text.encode()
                self.send_response(status)
                self.send_header('Content-Type', kind)
                self.send_header('Content-Length', str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        folder, start = sys.argv[1], time.time()
        place = os.path.join(folder, 'root')
        try:
            with open(place + '.new', 'w') as file: file.write('http://127.0.0.1:%d/svc' % server.server_address[1])
            os.rename(place + '.new', place)
        except FileNotFoundError: sys.exit(0)
        # Whoever asked for it takes the folder away; a test that was killed doesn't.
        while os.path.exists(folder) and time.time() - start < 600: time.sleep(0.05)
        """#
}
