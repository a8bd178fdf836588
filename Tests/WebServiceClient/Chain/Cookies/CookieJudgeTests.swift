#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// The same random exchanges for a store of this library, for curl, and for Python's `http.cookiejar`: the same cookies are sent each time,
/// and the jars are the same at the end.
///
/// `COOKIE_EXCHANGES` sets their number. The exchanges leave out what the judges do differently on purpose.
///
/// | subject | here, by RFC 6265bis | curl | `http.cookiejar` |
/// |---|---|---|---|
/// | order of sending | path length, creation | path, domain and name length, creation | path length |
/// | a path that ends with `/` | matches only below it | the slash is dropped | as here |
/// | a `Path` without a slash | the default path | `/` | as it is |
/// | set and ended by one response | in the order of its fields | as here | the end comes first |
/// | default path of `/a/b` | `/a` | `/a/`, used as `/a` | as here |
/// | no equals sign, no name | a cookie without a name | refused | a cookie without a value |
/// | an invalid `Max-Age` | ignored | ends the cookie | ignored |
/// | more than 400 days | cut | kept (before 8.9) | kept |
/// | dates | the tolerant algorithm | its own parser | its own parser |
/// | `__Host-` and `__Secure-` | without case | with case | unknown |
/// | `__Host-` without `Path` | refused | accepted below `/` | unknown |
/// | `SameSite=None` without `Secure` | refused | accepted | accepted |
/// | overlay of a `Secure` cookie | any overlapping domain, whole path | same domain, first segment | accepted |
/// | `Secure` set over http | refused | refused | accepted |
/// | public suffixes | refused | refused | one label only |
@Suite struct CookieJudgeTests {
    private struct Exchange: Codable {
        let url: String
        let fields: [String]
    }

    private struct Verdict: Decodable {
        let sent: [[String]]
        let jar: String
    }

    /// The number of exchanges, enough to meet each rule.
    private static let count = ProcessInfo.processInfo.environment["COOKIE_EXCHANGES"].flatMap { Int($0) } ?? 300

    @Test func `curl sends and keeps the same cookies`() async throws {
        guard try await ChildProcess.run(["sh", "-c", "curl --version && python3 -c 'import ssl' && openssl version"]).status == 0 else {
            print("skipped: curl, python3 or openssl isn't installed")
            return
        }
        // An older curl has other rules for secure contexts, names and prefixes.
        let version = try await ChildProcess.run(["curl", "--version"]).text.split(separator: " ").dropFirst().first ?? ""
        guard version.compare("7.84.0", options: .numeric) != .orderedAscending else {
            print("skipped: curl \(version) is too old")
            return
        }
        try await compare(with: Self.curlServer, isCurl: true)
    }

    @Test func `Python sends and keeps the same cookies`() async throws {
        guard try await ChildProcess.run(["python3", "-c", "import http.cookiejar"]).status == 0 else {
            print("skipped: python3 isn't installed")
            return
        }
        try await compare(with: Self.pythonJar, isCurl: false)
    }

    private func compare(with script: String, isCurl: Bool) async throws {
        let exchanges = Self.exchanges(Self.count, isCurl: isCurl)
        let folder = TemporaryFolder()
        try JSONEncoder().encode(exchanges).write(to: folder.url.appending(path: "exchanges.json"))
        try Data(script.utf8).write(to: folder.url.appending(path: "judge.py"))
        let run = try await ChildProcess.run(["python3", "judge.py"], in: folder.url)
        try #require(run.status == 0, "\(run.text.suffix(2000))")
        let verdict = try JSONDecoder().decode(Verdict.self, from: run.output)
        try #require(verdict.sent.count == exchanges.count)
        var store = CookieStore()
        let now = Date()
        var different: [String] = []
        for (number, exchange) in exchanges.enumerated() {
            let place = try CookieExchange.place(exchange.url)
            var field: [UInt8] = []
            _ = store.append(to: &field, for: place, omitting: [], at: now)
            let own = String(decoding: field, as: UTF8.self).components(separatedBy: "; ").filter { !$0.isEmpty }.sorted()
            if own != verdict.sent[number].sorted() {
                different.append("\(number) \(exchange.url): \(own), and the judge \(verdict.sent[number].sorted())")
            }
            for field in exchange.fields {
                guard let parsed = try? SetCookieParser.parse(Array(field.utf8)),
                    let cookie = try? parsed.cookie(from: place, .system, now: now)
                else { continue }
                try? store.store(cookie, from: place, at: now)
            }
        }
        #expect(different.isEmpty, "\(different.count): \(different.prefix(5))")
        let theirs = NetscapeCookies.cookies(in: Data(verdict.jar.utf8), now: now)
        #expect(theirs.unread == [])
        let (own, judged) = (Set(store.all(at: now).map { Self.line($0) }), Set(theirs.cookies.map { Self.line($0) }))
        #expect(own == judged, "\(own.subtracting(judged).sorted().prefix(5)), and the judge \(judged.subtracting(own).sorted().prefix(5))")
        #expect(own.count > 10)
    }

    /// A cookie in one line. The judge's clock runs for some seconds or, on a busy machine, minutes, so ends are rounded to a tenth of a
    /// day.
    private static func line(_ cookie: Cookie) -> String {
        var path = cookie.path
        if path.count > 1, path.last == "/" { path.removeLast() }
        let end = cookie.expires.map { String(Int(($0.timeIntervalSince1970 / 8640).rounded())) } ?? "session"
        return "\(cookie.domain) \(cookie.isHostOnly) \(path) \(cookie.isSecure) \(cookie.isHTTPOnly) \(end) \(cookie.name)=\(cookie.value)"
    }

    // MARK: Exchanges

    private static let sites = [
        ["example.com", "www.example.com", "a.www.example.com"], ["other.net", "shop.other.net"], ["example.co.uk", "www.example.co.uk"],
        ["10.0.0.7"],
    ]
    private static let paths = ["/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/b", "/b/x"]

    private static func exchanges(_ count: Int, isCurl: Bool) -> [Exchange] {
        var random = SeededGenerator(seed: 32)
        return (0..<count).map { number in
            let site = sites[Int.random(in: 0..<(isCurl ? 4 : 3), using: &random)]
            let host = site.randomElement(using: &random) ?? site[0]
            let isSecure = Bool.random(using: &random)
            let path = paths.randomElement(using: &random) ?? "/"
            let fields = (0..<Int.random(in: 0..<(isCurl ? 4 : 2), using: &random)).map { _ in
                field(from: host, of: site, isSecure: isSecure, isCurl: isCurl, &random)
            }
            return Exchange(url: "\(isSecure ? "https" : "http")://\(host)\(path)?\(number)", fields: fields)
        }
    }

    private static func field(from host: String, of site: [String], isSecure: Bool, isCurl: Bool, _ random: inout SeededGenerator) -> String
    {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func any(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        let value = String(
            (0..<Int.random(in: 0..<8, using: &random)).map { _ in "abcXYZ019-_.,%=+/\"".randomElement(using: &random) ?? "x" })
        let kind = any(isCurl ? ["plain", "plain", "plain", "secure", "overlay", "__Secure-", "__Host-"] : ["plain", "plain", "secure"])
        let domain = any(
            ["", "", host, ".\(host)", site[0], site[0].uppercased(), "foreign.org"] + (isCurl ? [any(["com", "co.uk"])] : []))
        var attributes: [String] = []
        var name = any(["a", "b", "c", "D"])
        switch kind {
        case "secure":
            name = any(["s", "t"])
            // Python sets Secure cookies over http.
            if isSecure || isCurl { attributes.append(any(["Secure", "secure", "SECURE"])) } else { name = "plain" }
        case "overlay":
            // curl compares the first segment of the path, within one domain.
            name = "o"
            attributes = ["Path=/"] + (site.count > 1 ? ["Domain=\(site[0])"] : []) + (chance(50) ? ["Secure"] : [])
        case "__Secure-":
            name = "__Secure-x"
            if chance(70) { attributes.append("Secure") }
        case "__Host-":
            name = "__Host-x"
            attributes = ["Path=\(any(["/", "/", "/a"]))"] + (chance(80) ? ["Secure"] : []) + (chance(10) ? ["Domain=\(host)"] : [])
        default: break
        }
        if kind != "overlay", kind != "__Host-" {
            // An IP address has no domain cookies; a public suffix for it is one of a label.
            if !domain.isEmpty, site.count > 1 || domain == host { attributes.append("\(any(["Domain", "domain"]))=\(domain)") }
            let path = any(["", "", "/", "/a", "/a/b", "/b"])
            if !path.isEmpty { attributes.append("\(any(["Path", "PATH"]))=\(path)") }
        }
        // Python looks for another spelling when it writes the file.
        if isCurl, chance(15) { attributes.append("HttpOnly") }
        if isCurl, chance(10) { attributes.append(any(["SameSite=Lax", "samesite=strict", "Unknown=1", "Priority=High"])) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: attributes.append("Max-Age=\(any(["0", "-1"]))")
        case 1, 2: attributes.append("Max-Age=\(86_400 * 30)")
        case 3: attributes.append("Expires=\(any(["Sun, 06 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 1970 00:00:01 GMT"]))")
        case 4, 5: attributes.append("Expires=\(HTTPDate.text(of: Date().addingTimeInterval(86_400 * 100)))")
        case 6: attributes += ["Expires=Sun, 06 Nov 1994 08:49:37 GMT", "Max-Age=\(86_400 * 20)"]
        default: break
        }
        return (["\(name)=\(value)"] + attributes.shuffled(using: &random)).joined(separator: any(["; ", ";", " ; "]))
    }

    // MARK: Judges

    /// Answers the requests of one curl process, in order, over http and https.
    private static let curlServer = #"""
        import http.server, json, ssl, subprocess, sys, threading

        exchanges = json.load(open("exchanges.json"))
        sent = [None] * len(exchanges)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_GET(self):
                number = int(self.path.rsplit("?", 1)[1])
                sent[number] = [pair for field in self.headers.get_all("Cookie", []) for pair in field.split("; ")]
                self.send_response(200)
                for field in exchanges[number]["fields"]: self.send_header("Set-Cookie", field)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments): pass

        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
                        "-out", "cert.pem", "-subj", "/CN=judge", "-days", "2"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        ports = []
        for secure in (False, True):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            server.daemon_threads = True
            if secure: server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            ports.append(server.server_address[1])
        with open("curlrc", "w") as config:
            for exchange in exchanges: config.write('url = "%s"\n' % exchange["url"])
        result = subprocess.run(["curl", "-q", "-s", "-S", "-k", "--noproxy", "*", "-o", "/dev/null", "--globoff", "-b", "", "-c", "jar.txt",
                                 "--connect-to", ":80:127.0.0.1:%d" % ports[0], "--connect-to", ":443:127.0.0.1:%d" % ports[1], "-K", "curlrc"],
                                capture_output=True, text=True)
        if result.returncode: sys.exit(result.stderr)
        json.dump({"sent": sent, "jar": open("jar.txt").read()}, sys.stdout)
        """#

    /// The jar of Python's standard library, without a network.
    private static let pythonJar = #"""
        import email.message, http.cookiejar, json, sys, urllib.request

        class Response:
            def __init__(self, fields):
                self.message = email.message.Message()
                for field in fields: self.message["Set-Cookie"] = field
            def info(self): return self.message

        policy = http.cookiejar.DefaultCookiePolicy(strict_ns_domain=http.cookiejar.DefaultCookiePolicy.DomainStrictNonDomain)
        jar = http.cookiejar.MozillaCookieJar("jar.txt", policy=policy)
        sent = []
        for exchange in json.load(open("exchanges.json")):
            request = urllib.request.Request(exchange["url"])
            jar.add_cookie_header(request)
            sent.append((request.get_header("Cookie") or "").split("; ") if request.has_header("Cookie") else [])
            jar.extract_cookies(Response(exchange["fields"]), request)
        jar.save(ignore_discard=True)
        json.dump({"sent": sent, "jar": open("jar.txt").read()}, sys.stdout)
        """#
}
#endif
