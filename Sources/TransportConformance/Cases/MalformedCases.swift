import Foundation
import WebServiceClient
import WebServiceTesting

/// Responses that violate RFC 9112 or stretch its limits.
enum MalformedCases {
    static let all = [
        ConformanceCase("malformed/no-http", "A response that doesn't begin like HTTP is `unreadableResponse`.", run: noHTTP),
        ConformanceCase("malformed/fields", "A field line without a colon or a name is an error, or ignored.", run: fields),
        ConformanceCase("malformed/long-line", "A field of 100 kB is read, or is `unreadableResponse`.", run: longLine),
        ConformanceCase("malformed/many-fields", "10000 fields are read, or are `unreadableResponse`.", run: manyFields),
        ConformanceCase(
            "malformed/endless-head", "An endless head ends at the first-byte timeout or earlier.", run: endlessHead),
        ConformanceCase("malformed/too-short", "A body shorter than its length is `truncated`.", run: tooShort),
        ConformanceCase("malformed/too-long", "Bytes beyond a body's length belong to no response.", run: tooLong),
        ConformanceCase("malformed/two-lengths", "Two different lengths are an error (RFC 9112 §6.3).", run: twoLengths),
        ConformanceCase("malformed/bad-length", "A length that isn't a number is an error.", run: badLength),
        ConformanceCase("malformed/huge-length", "A length too large for any integer is an error.", run: hugeLength),
        ConformanceCase("malformed/length-and-chunks", "With chunks, a length is ignored or an error.", run: both),
        ConformanceCase("malformed/chunks", "Invalid chunk sizes, and chunks of another size, are an error.", run: badChunks),
    ]

    /// Demands that these responses are errors, and that the transport works after them.
    private static func errors(_ texts: [String], _ codes: [TransportError.Code], _ subject: ConformanceSubject) async throws {
        for text in texts {
            let first = Locked(true)
            let answer: LoopbackRoutes.Handler = { _ in
                let isFirst = first.withLock { first in
                    defer { first = false }
                    return first
                }
                return isFirst ? .raw(text) : .text("ok")
            }
            try await answering(answer) { server in
                let what = "“\(text.prefix(100))”"
                do {
                    let (response, body) = try await subject.exchange(try server.request())
                    throw TestingFailure("\(what): expected an error, found status \(response.status) and \(body.count) bytes")
                } catch let error as TransportError {
                    try demand(codes.contains(error.code), "\(what): expected one of \(codes), found \(error)")
                }
                try await subject.expect(200, "ok", for: try server.request(), "The request after \(what)")
            }
        }
    }

    @Sendable private static func noHTTP(_ subject: ConformanceSubject) async throws {
        let texts = [
            "220 smtp.example.org ESMTP\r\n", "<html>no</html>", "HTTP", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
            "ICY 200 OK\r\n\r\n", "{}", "garbage\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "\u{16}\u{3}\u{1}\0\u{5}\u{1}",
        ]
        try await errors(texts, [.unreadableResponse, .connectionLost], subject)
    }

    @Sendable private static func fields(_ subject: ConformanceSubject) async throws {
        for line in ["no colon here", ": no name", "X Y: blank", "\u{1}: control"] {
            try await answering(with: .raw("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\nok")) { server in
                try await subject.expect("ok", or: [.unreadableResponse], for: try server.request(), "“\(line)”")
            }
        }
    }

    /// Demands that a response is right or unreadable, and that the transport works after it.
    private static func strained(
        _ strain: LoopbackResponse, _ subject: ConformanceSubject, check: (HTTPFields) throws -> Void
    ) async throws {
        try await serving({ routes in
            routes.get("/strain") { _ in strain }
            routes.get("/ok") { _ in .text("ok") }
        }) { server in
            do {
                let (response, body) = try await subject.exchange(try server.request(.get, "/strain"))
                try demand(body, is: Data("strain".utf8), "The body")
                try check(response.headers)
            } catch let error as TransportError {
                try demand(error.code, is: .unreadableResponse, "The error “\(error.message)”, its code")
            }
            try await subject.expect(200, "ok", for: try server.request(.get, "/ok"), "The request after it")
        }
    }

    @Sendable private static func longLine(_ subject: ConformanceSubject) async throws {
        for length in [100_000, 110_000] {
            let value = String(repeating: "v", count: length)
            try await strained(.text("strain").with("X-Long", value).with("X-After", "a"), subject) { headers in
                try demand(headers["X-Long"], is: value, "X-Long")
                try demand(headers["X-After"], is: "a", "X-After")
            }
        }
    }

    @Sendable private static func manyFields(_ subject: ConformanceSubject) async throws {
        let response = (0..<10_000).reduce(into: LoopbackResponse.text("strain")) { $0.fields.append("X-\($1)", "v") }
        try await strained(response, subject) { headers in
            try demand(headers.filter { $0.value == "v" }.count, is: 10_000, "The fields that arrived")
        }
    }

    @Sendable private static func endlessHead(_ subject: ConformanceSubject) async throws {
        for pause in [Duration.milliseconds(2), .zero] {
            let script = LoopbackResponse.script { wire in
                try wire.write("HTTP/1.1 200 OK\r\n")
                for number in 0... {
                    try wire.write("X-\(number): \(String(repeating: "v", count: 50))\r\n")
                    if pause > .zero || number % 200 == 0 { try wire.pause(for: .milliseconds(2)) }
                }
            }
            try await answering(with: script) { server in
                var request = try server.request()
                request.timeouts.firstByte = .milliseconds(500)
                try await subject.expect(.timedOutWaiting, .unreadableResponse, for: request)
                try await server.waitForOpenConnections(atMost: 0)
            }
        }
    }

    @Sendable private static func tooShort(_ subject: ConformanceSubject) async throws {
        let texts = ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour", "HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\n"]
        try await errors(texts, [.truncated], subject)
    }

    @Sendable private static func tooLong(_ subject: ConformanceSubject) async throws {
        let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        for rest in ["more of it", evil] {
            let script = LoopbackResponse.script { wire in
                try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour" + rest)
                // The connection seems alive: a transport that reuses it receives bytes that don't belong to the next request.
                try? wire.pause(for: .milliseconds(500))
            }
            try await serving({ routes in
                routes.get("/long") { _ in script }
                routes.get("/ok") { _ in .text("ok") }
            }) { server in
                try await subject.expect(200, "four", for: try server.request(.get, "/long"))
                let next = try server.request(.get, "/ok")
                try await subject.expect("ok", or: [.connectionLost, .unreadableResponse], for: next, "The next request")
            }
        }
    }

    @Sendable private static func twoLengths(_ subject: ConformanceSubject) async throws {
        let texts = [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 8\r\n\r\nfourfour",
            "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nContent-Length: 4\r\n\r\nfourfour",
            "HTTP/1.1 200 OK\r\nContent-Length: 4, 8\r\n\r\nfourfour",
        ]
        try await errors(texts, [.unreadableResponse, .truncated], subject)
    }

    @Sendable private static func badLength(_ subject: ConformanceSubject) async throws {
        let texts = ["-1", "abc", "4x", "0x4"].map { "HTTP/1.1 200 OK\r\nContent-Length: \($0)\r\n\r\nfour" }
        try await errors(texts, [.unreadableResponse, .truncated], subject)
    }

    @Sendable private static func hugeLength(_ subject: ConformanceSubject) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999999\r\n\r\nfour"
        try await errors([text], [.unreadableResponse, .truncated], subject)
    }

    @Sendable private static func both(_ subject: ConformanceSubject) async throws {
        for length in [3, 5, 100] {
            try await answering(with: .text("right").framed(.chunkedWithContentLength(length))) { server in
                try await subject.expect("right", or: [.unreadableResponse], for: try server.request(), "With a length of \(length)")
            }
        }
    }

    @Sendable private static func badChunks(_ subject: ConformanceSubject) async throws {
        let sizes = ["zz", "-5", "FFFFFFFFFFFFFFFFFF", "", "3", "8", "0x5"]
        let bodies = sizes.map { $0 + "\r\nhello\r\n0\r\n\r\n" } + ["5\r\nhello0\r\n\r\n"]
        let texts = bodies.map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + $0 }
        try await errors(texts, [.unreadableResponse, .truncated], subject)
    }
}
