import Foundation
import WebServiceClient
import WebServiceTesting

/// One request, one response.
enum PlainCases {
    static let all = [
        ConformanceCase("plain/methods", "Every method is sent unchanged, including custom ones.", run: methods),
        ConformanceCase("plain/method-case", "Methods are case-sensitive: a lowercase one is sent unchanged, or refused.", run: methodCase),
        ConformanceCase("plain/statuses", "Every status from 200 to 599 is a response.", run: statuses),
        ConformanceCase("plain/redirect-bodies", "A redirect's body is delivered.", run: redirectBodies),
        ConformanceCase(
            "plain/redirect-without-location", "A 3xx without Location is an ordinary response, with its body.", run: lostRedirects),
        ConformanceCase("plain/bodyless", "204, 304 and responses to HEAD end with their head, whatever its fields.", run: bodyless),
        ConformanceCase("plain/reasons", "Reason phrases may be empty, long, or odd.", run: reasons),
        ConformanceCase("plain/reason-missing", "A reason phrase may be missing, with the space before it.", run: noReason),
        ConformanceCase("plain/reason-bytes", "A reason phrase may contain bytes that aren't UTF-8.", run: reasonBytes),
        ConformanceCase("plain/response", "A response has the request's URL and its body's length, if known.", run: response),
        ConformanceCase("plain/until-close", "A body without a length ends with the connection.", run: untilClose),
        ConformanceCase("plain/http-1.0", "HTTP/1.0 responses are accepted.", run: http10),
        ConformanceCase("plain/chunks", "Chunks are joined, and their extensions ignored.", run: chunks),
        ConformanceCase("plain/large", "A megabyte arrives unchanged, by length and in chunks.", run: large),
        ConformanceCase("plain/bodies-everywhere", "DELETE, PATCH and OPTIONS can have a body, too.", run: bodiesEverywhere),
        ConformanceCase("plain/get-body", "GET can have a body, or is refused as unsupported before anything is sent.", run: getBody),
    ]

    @Sendable private static func methods(_ subject: ConformanceSubject) async throws {
        try await answering({ .text($0.method) }) { server in
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH", "X!#$%&'*+-.^_`|~1"] {
                try await subject.expect(200, method, for: try server.request(.init(rawValue: method)), method)
            }
            let (head, body) = try await subject.exchange(try server.request(.head))
            try demand(head.status, is: 200, "HEAD, status")
            try demand(body.isEmpty, "HEAD: expected no body, found \(body.count) bytes")
            try demand(server.requests.last?.method, is: "HEAD", "The last method")
        }
    }

    @Sendable private static func methodCase(_ subject: ConformanceSubject) async throws {
        try await answering({ .text($0.method) }) { server in
            for method in ["get", "Post", "x-own"] {
                try await subject.expect(method, or: [.badRequest], for: try server.request(.init(rawValue: method)), method)
            }
        }
    }

    @Sendable private static func statuses(_ subject: ConformanceSubject) async throws {
        let build: (inout LoopbackRoutes) -> Void = { routes in
            routes.get("/:status") { request in
                let text = request.parameters["status"] ?? ""
                let status = Int(text) ?? 0
                return (300..<400).contains(status) || status == 205 ? .status(status) : .text(text, status: status)
            }
        }
        try await serving(build) { server in
            for status in 200..<600 {
                let isBare = [204, 205, 304].contains(status) || (300..<400).contains(status)
                try await subject.expect(status, isBare ? "" : "\(status)", for: try server.request(.get, "/\(status)"), "\(status)")
            }
        }
    }

    @Sendable private static func redirectBodies(_ subject: ConformanceSubject) async throws {
        for status in [300, 301, 302, 303, 307, 308] {
            try await answering(with: .text("moved", status: status).with("Location", "/elsewhere")) { server in
                let response = try await subject.expect(status, "moved", for: try server.request(), "\(status)")
                try demand(response.headers[.location], is: "/elsewhere", "\(status), Location")
            }
        }
    }

    @Sendable private static func lostRedirects(_ subject: ConformanceSubject) async throws {
        for status in [300, 301, 302, 305, 307, 399] {
            try await answering(with: .text("lost", status: status)) { server in
                try await subject.expect(status, "lost", for: try server.request(), "\(status)")
            }
        }
    }

    @Sendable private static func bodyless(_ subject: ConformanceSubject) async throws {
        // The connection stays open after each: a transport that waits for a body hangs, and one that reads on corrupts the next response.
        try await serving({ routes in
            routes.get("/204") { _ in LoopbackResponse(status: 204) }
            routes.get("/304") { _ in LoopbackResponse(status: 304, fields: ["Content-Length": "12345", "ETag": "\"a\""]) }
            routes.get("/gzip") { _ in LoopbackResponse(status: 304, fields: ["Content-Encoding": "gzip"]) }
            routes.get("/text") { _ in .text("text") }
            routes.get("/chunks") { _ in .pieces([.init("text")]) }
            routes.get("/zero") { _ in .data(Data()) }
        }) { server in
            for (method, target, status, length) in [
                ("GET", "/204", 204, nil), ("GET", "/304", 304, "12345"), ("GET", "/gzip", 304, nil), ("HEAD", "/text", 200, "4"),
                ("HEAD", "/chunks", 200, nil), ("GET", "/zero", 200, "0"), ("HEAD", "/gzip", 304, nil),
            ] {
                let request = try server.request(.init(rawValue: method), target)
                let response = try await subject.expect(status, "", for: request, "\(method) \(target)")
                if let length { try demand(response.headers[.contentLength], is: length, "\(method) \(target), Content-Length") }
                try await subject.expect(200, "text", for: try server.request(.get, "/text"), "GET after \(method) \(target)")
            }
        }
    }

    @Sendable private static func reasons(_ subject: ConformanceSubject) async throws {
        let rest = "\r\nContent-Length: 2\r\n\r\nok"
        for line in ["HTTP/1.1 200 ", "HTTP/1.1 200 \(String(repeating: "very ", count: 200))good", "HTTP/1.1 200 404 500: -"] {
            try await answering(with: .raw(line + rest)) { server in
                try await subject.expect(200, "ok", for: try server.request(), "“\(line.prefix(40))”")
            }
        }
    }

    @Sendable private static func noReason(_ subject: ConformanceSubject) async throws {
        try await answering(with: .raw("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok")) { server in
            try await subject.expect(200, "ok", for: try server.request())
        }
    }

    @Sendable private static func reasonBytes(_ subject: ConformanceSubject) async throws {
        let rest = "s bien\r\nContent-Length: 2\r\n\r\nok"
        try await answering(with: .raw(Array("HTTP/1.1 200 Tr".utf8) + [0xE8] + Array(rest.utf8))) { server in
            try await subject.expect(200, "ok", for: try server.request(), "A reason in Latin-1")
        }
    }

    @Sendable private static func response(_ subject: ConformanceSubject) async throws {
        try await serving({ routes in
            routes.get("/length") { _ in .text("12345") }
            routes.get("/chunks") { _ in .pieces([.init("12345")]) }
        }) { server in
            let request = try server.request(.get, "/length?a=b")
            let sized = try await subject.expect(200, "12345", for: request)
            try demand(sized.url, is: request.url, "The response's URL")
            try demand(sized.body.expectedLength, is: 5, "The expected length")
            let chunked = try await subject.expect(200, "12345", for: try server.request(.get, "/chunks"))
            let length = chunked.body.expectedLength
            try demand(length == nil || length == 5, "The expected length of chunks: expected none or 5, found \(length ?? 0)")
        }
    }

    @Sendable private static func untilClose(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("until the end").framed(.untilClose)) { server in
            try await subject.expect(200, "until the end", for: try server.request())
        }
        try await answering(with: .raw("HTTP/1.1 200 OK\r\n\r\n")) { server in
            try await subject.expect(200, "", for: try server.request(), "Nothing until the end")
        }
    }

    @Sendable private static func http10(_ subject: ConformanceSubject) async throws {
        try await answering(with: .raw("HTTP/1.0 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nolden")) { server in
            try await subject.expect(200, "olden", for: try server.request(), "With a length")
        }
        try await answering(with: .raw("HTTP/1.0 404 Not Found\r\n\r\nolden times")) { server in
            try await subject.expect(404, "olden times", for: try server.request(), "Without a length")
        }
    }

    @Sendable private static func chunks(_ subject: ConformanceSubject) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for body in [
            "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "5;name=value\r\nhello\r\n6 ; a=\"b;c\" ; d\r\n world\r\n0;last\r\n\r\n",
            "00005\r\nhello\r\n6\r\n world\r\n0000\r\n\r\n", "B\r\nhello world\r\n0\r\n\r\n", "b\r\nhello world\r\n0\r\n\r\n",
        ] {
            try await answering(with: .raw(head + body)) { server in
                try await subject.expect(200, "hello world", for: try server.request(), "“\(body)”")
            }
        }
        try await answering(with: .raw(head + "0\r\n\r\n")) { server in
            try await subject.expect(200, "", for: try server.request(), "No chunk but the last")
        }
    }

    @Sendable private static func large(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(1 << 20)
        for framing in [LoopbackResponse.Framing.automatic, .chunked, .untilClose] {
            try await answering(with: .data(data).framed(framing)) { server in
                let (_, body) = try await subject.exchange(try server.request())
                try demand(body, is: data, "The body, framing \(framing)")
            }
        }
    }

    @Sendable private static func bodiesEverywhere(_ subject: ConformanceSubject) async throws {
        for method in ["DELETE", "PATCH", "OPTIONS", "PROPFIND"] {
            try await answering({ .text($0.text) }) { server in
                let body = RequestBody(Data("with it".utf8), contentType: "text/plain")
                let request = try server.request(.init(rawValue: method), body: body)
                try await subject.expect(200, "with it", for: request, method)
                try demand(try server.onlyRequest().fields["Content-Type"], is: "text/plain", "\(method), Content-Type")
            }
        }
    }

    @Sendable private static func getBody(_ subject: ConformanceSubject) async throws {
        try await answering({ .text($0.text) }) { server in
            let request = try server.request(.get, body: RequestBody(Data("with it".utf8)))
            let isAble = subject.transport.capabilities.contains(.bodiesWithGET)
            try await subject.expect("with it", or: isAble ? [] : [.unsupported], for: request)
            try demand(server.requests.allSatisfy { $0.text == "with it" }, "The request was sent without its body")
        }
    }
}
