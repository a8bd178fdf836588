#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private let hasShell = ["/bin/bash", "/usr/bin/bash"].contains(where: FileManager.default.isExecutableFile)
private let hasCurl = ["/usr/bin/curl", "/usr/local/bin/curl"].contains(where: FileManager.default.isExecutableFile)

/// Checks the command's text and the request that it sends when a shell runs it.
@Suite struct CurlCommandTests {
    /// A body and the fields that describe it.
    struct Sample: Sendable, CustomStringConvertible {
        let name: String
        let body: @Sendable (_ folder: URL) throws -> RequestBody?
        var method: ServiceRequest.Method = .post
        var description: String { name }

        init(_ name: String, _ method: ServiceRequest.Method = .post, _ body: @escaping @Sendable (_ folder: URL) throws -> RequestBody?) {
            self.name = name
            self.method = method
            self.body = body
        }
    }

    private static func file(_ name: String, _ data: Data, in folder: URL) throws -> URL {
        let file = folder.appending(path: name)
        try data.write(to: file)
        return file
    }

    private static let everyByte = Data((0...255).map { UInt8($0) })

    static let samples: [Sample] = [
        Sample("text") { _ in RequestBody(Data("plain text".utf8), contentType: "text/plain") },
        Sample("quotes") { _ in RequestBody(Data("it's \"quoted\" \\n $HOME `id` $(id) !x %s %% \\047".utf8), contentType: "text/plain") },
        Sample("quotes under combining marks") { _ in
            RequestBody(Data("'\u{301}; id #'\u{308} '\u{200D}$(id)'\u{FE0F} `id`'\u{E31}".utf8), contentType: "text/plain")
        },
        Sample("lines") { _ in RequestBody(Data("\n a\n\tb\n\n".utf8), contentType: "text/plain") },
        Sample("CRLF and controls") { _ in RequestBody(Data("a\r\nb\u{1B}[31m\u{7F}'\u{1}7".utf8), contentType: "text/plain") },
        Sample("an @ at the beginning") { _ in RequestBody(Data("@/etc/hostname".utf8), contentType: "text/plain") },
        Sample("a < at the beginning") { _ in RequestBody(Data("</etc/hostname".utf8), contentType: "text/plain") },
        Sample("beyond ASCII") { _ in RequestBody(Data("é 日本 😀 \u{202E}x\u{85}".utf8), contentType: "text/plain; charset=utf-8") },
        Sample("no media type") { _ in RequestBody(Data("a=b".utf8)) },
        Sample("every byte") { _ in RequestBody(everyByte, contentType: "application/octet-stream") },
        Sample("every byte but NUL") { _ in RequestBody(everyByte.dropFirst(), contentType: "application/octet-stream") },
        Sample("digits behind bytes") { _ in RequestBody(Data([0xFF, 0x31, 0x32, 0, 0x33, 0x34, 0xFE, 0x37])) },
        Sample("nothing") { _ in RequestBody(Data(), contentType: "text/plain") },
        Sample("GET", .get) { _ in RequestBody(Data(#"{"q":1}"#.utf8), contentType: "application/json") },
        Sample("DELETE", .delete) { _ in RequestBody(Data("x".utf8), contentType: "text/plain") },
        Sample("a form of texts") { _ in try MultipartForm([.text("title", "Zwei Bilder: é"), .text("n", "it's\r\n2%")]).body() },
        Sample("a form with bytes") { _ in
            try MultipartForm([.text("a", "b"), .data("file", everyByte, fileName: "b.bin"), .text("c", "d")]).body()
        },
        Sample("a form with a picture, and no NUL") { _ in
            try MultipartForm([.data("file", Data([0xFF, 0xD8, 0xFF, 0xE0, 0x10]), fileName: "b.jpg"), .text("c", "d")]).body()
        },
        Sample("a form with files") { folder in
            let (one, two) = try (file("it's one.bin", everyByte, in: folder), file("-two.txt", Data("two\r\n".utf8), in: folder))
            return try MultipartForm([.text("a", "100% \\0"), .file("f", one), .file("f", two), .text("c", "é")]).body()
        },
        Sample("a file", .put) { folder in
            try RequestBody(file: file("a 'file'; rm.bin", everyByte + everyByte, in: folder), contentType: "application/x-own")
        },
        Sample("a long file", .put) { folder in
            try RequestBody(file: file("long.bin", Data(repeating: 7, count: 200_000), in: folder), contentType: "application/x-own")
        },
        Sample("a file so long that curl would ask before it sends it") { folder in
            try RequestBody(file: file("longer.bin", Data(repeating: 7, count: 1 << 20 + 1), in: folder), contentType: "application/x-own")
        },
        Sample("file names with quotes, line ends and backslashes") { folder in
            let odd = try file("we\"ird\nna;me=\\.bin", everyByte, in: folder)
            return try MultipartForm([.file("f", odd), .data("é\"\r\n", everyByte, fileName: "a \"b\"; c='d'.txt")]).body()
        },
        Sample("a file name with a quotation mark under an accent", .put) { folder in
            try RequestBody(file: file("it'\u{301}s; id '\u{308}.bin", everyByte, in: folder), contentType: "application/x-own")
        },
        Sample("related parts") { folder in
            let picture = try file("-n", everyByte, in: folder)
            return try MultipartForm(
                [
                    .part(.data(Data("{}".utf8)), contentType: "application/json", contentID: "a@b"),
                    .part(.file(picture), contentType: "image/jpeg"),
                ], as: .related()
            ).body()
        },
        Sample("an empty file in a form") { folder in try MultipartForm([.file("f", file("empty", Data(), in: folder))]).body() },
        Sample("bytes in UTF-16") { _ in RequestBody(Data("h\u{E9}\r\n0".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })) },
        Sample("NUL and line ends") { _ in RequestBody(Data([0, 10, 10]), contentType: "application/x-own") },
        Sample("POST without a body") { _ in nil }, Sample("PUT without a body", .put) { _ in nil },
        Sample("PATCH without a body", .patch) { _ in nil }, Sample("DELETE without a body", .delete) { _ in nil },
        Sample("an own method", "M-SEARCH") { _ in nil },
        Sample("JSON") { _ in RequestBody(try JSONSerializer().encode(["a": [1, 2]]), contentType: "application/json") },
    ]

    @Test(.enabled(if: hasShell && hasCurl, "there is no bash or no curl here"), .atOnce(2), arguments: samples)
    func `The shell sends what the library would send`(sample: Sample) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let body = try sample.body(folder)
        let server = try LoopbackServer { routes in routes.on(sample.method.rawValue, "/in") { _ in .text("ok") } }
        let url = try #require(URL(string: "\(server.url)/in?a=%5B1%5D&b=it's"))
        let request = ServiceRequest(
            method: sample.method, url: url, headers: ["Accept": "*/*", "Warning": "co're", "X-Empty": "", "Via": "a\tb"], body: body)
        let command = request.curlCommand
        #expect(command.hasPrefix("curl "), "\(command)")
        let script = "curl() { command curl --silent --show-error --noproxy '*' --max-time 60 \"$@\"; }\n" + command
        let child = try await ChildProcess.run(["bash", "-c", script])
        #expect(child.status == 0 && child.text == "ok", "\(command)\n\(child.text)")
        let received = try #require(server.requests.first)
        #expect(received.body == (try await body?.collect(upTo: 1 << 21) ?? Data()), "\(command)")
        #expect(received.method == sample.method.rawValue && received.target == "/in?a=%5B1%5D&b=it's")
        #expect(received.fields["Content-Type"] == body?.contentType && received.fields["Warning"] == "co're")
        #expect(received.fields["X-Empty"] == "" && received.fields["Via"] == "a\tb" && received.fields["Expect"] == nil)
        // A body that the transport announces as empty is announced by curl as well.
        let length: String? = body != nil || [.post, .put, .patch].contains(sample.method) ? "\(received.body.count)" : nil
        #expect(received.fields["Content-Length"] == length, "\(command)")
    }

    @Test(.enabled(if: hasShell, "there is no bash here"))
    func `A quotation mark in a header ends no text of the shell`() async throws {
        let url = try #require(URL(string: "https://h.test/in"))
        for mark in ["", "\u{301}", "\u{308}", "\u{200D}", "\u{FE0F}", "\u{20DD}", "\u{E31}", "\u{903}", "\u{1F3FB}"] {
            let value = "a'\(mark); echo broken #'\(mark)"
            let command = ServiceRequest(url: url, headers: ["Warning": value]).curlCommand
            let child = try await ChildProcess.run(["bash", "-c", "curl() { printf '%s\\n' \"$@\"; }\n" + command])
            let words = child.text.unicodeScalars.split(separator: "\n").map(String.init)
            #expect(child.status == 0 && words == ["--header", "Warning: \(value)", url.absoluteString], "\(command)")
        }
    }

    @Test func `What isn't shown is told in a comment of its own line`() throws {
        let url = try #require(URL(string: "https://h.test/in"))
        let stream = RequestBody { AsyncThrowingStream { nil } }
        let long = RequestBody(Data(repeating: 65, count: 5_000), contentType: "text/plain")
        for (body, words) in [(stream, "stream"), (long, "5000 bytes")] {
            let lines = ServiceRequest(method: .post, url: url, body: body).curlCommand.split(separator: "\n")
            #expect(lines.count == 2 && lines[0].hasPrefix("# ") && lines[0].contains(words) && lines[0].contains("\"body\""), "\(lines)")
            #expect(lines[1].hasPrefix("curl ") && lines[1].contains("'@body'"))
        }
    }

    @Test func `Secrets stay masked beside bytes that are no text`() throws {
        let url = try #require(URL(string: "https://h.test/in"))
        let json = Data(#"{"password":"s3cret-s3cret","picture":""#.utf8) + Data([0xFF, 0xFE]) + Data(#""}"#.utf8)
        for data in [json, json + Data([0])] {
            let body = RequestBody(data, contentType: "application/json")
            let command = ServiceRequest(method: .post, url: url, body: body).curlCommand
            #expect(!command.contains("s3cret") && command.contains("masked"), "\(command)")
        }
    }

    @Test func `Brackets in a URL are no pattern of curl's`() throws {
        let url = try #require(URL(string: "http://[::1]:8080/in"))
        #expect(ServiceRequest(url: url).curlCommand == "curl --globoff 'http://[::1]:8080/in'")
    }

    @Test(arguments: [
        ("/a/../b", true), ("/.", true), ("/a/./b?x", true), ("/%2e%2E/a", true), ("/.%2e", true), ("/a..b/.c/...", false),
        ("/a?x=/../b", false), ("/%2e%2e%2f", false),
    ])
    func `A path with dot segments stays as it is`(path: String, isKept: Bool) throws {
        let url = try #require(URL(string: "http://h.example" + path))
        #expect(
            ServiceRequest(url: url).curlCommand == "curl \(isKept ? "--path-as-is " : "")'http://h.example\(path)'")
    }

    private struct Order: Codable, Sendable {
        struct Item: Codable, Sendable { var sku = "x", count = 1, b = "", a = 0 }
        var zeta = 1, name = "n", items = [Item(), Item()], alpha = true, mid: [String: Int] = ["z": 1, "a": 2, "é": 3, "m": 4]
    }

    private static let sorted =
        #"{"alpha":true,"items":[{"a":0,"b":"","count":1,"sku":"x"},{"a":0,"b":"","count":1,"sku":"x"}],"#
        + #""mid":{"a":2,"m":4,"z":1,"é":3},"name":"n","zeta":1}"#

    @Test func `Dry runs and curl text have JSON in the order of its names, and the wire as ever`() async throws {
        let dry = try await request { $0.http.post("/orders").body(Order()) }
        #expect(dry.body?.data.map { String(decoding: $0, as: UTF8.self) } == Self.sorted)
        // A request in flight, as interceptors see it.
        let seen = Locked<[ServiceRequest]>([])
        let (client, stub) = Store.stubbed {
            $0.interceptors = [RequestPreparer { request in seen.withLock { [request] in $0.append(request) } }]
        }
        for _ in 0..<20 { try await client.http.post("/orders").body(Order()).send() }
        #expect(seen.withLock { $0.allSatisfy { $0.curlCommand.contains("'" + Self.sorted + "'") } })
        for sent in stub.requests { try sent.expectBody(json: Self.sorted) }
        // Bodies written by the caller are kept unchanged.
        let own = try await request {
            $0.http.post("/orders").body(Data(#"{"b":1,"a":2}"#.utf8)).header("Content-Type", "application/json")
        }
        #expect(own.body?.data == Data(#"{"b":1,"a":2}"#.utf8) && own.curlCommand.contains(#"{"b":1,"a":2}"#))
    }

    @Test func `A preparer signs the body that the dry run gives`() async throws {
        let signed = Locked<Data?>(nil)
        let preparer = RequestPreparer { request in signed.withLock { [request] in $0 = request.body?.data } }
        let dry = try await request(configure: { $0.interceptors = [preparer] }) { $0.http.post("/orders").body(Order()) }
        #expect(dry.body?.data == signed.withLock { $0 })
    }
}
#endif
