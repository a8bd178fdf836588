import Foundation
import WebServiceClient
import WebServiceTesting

/// Responses that are cut, or arrive slowly.
enum TruncationCases {
    static let all = [
        ConformanceCase("cuts/head", "A head cut at any byte is an error, however its body is framed.", run: cutHeads),
        ConformanceCase("cuts/length", "A body with a length, cut at any byte, is `truncated`; uncut, it is right.", run: cutLengths),
        ConformanceCase("cuts/chunks", "A body in chunks, cut at any byte, is `truncated`; uncut, it is right.", run: cutChunks),
        ConformanceCase("cuts/code", "A body that is cut is `truncated`, after the bytes received so far.", run: code),
        ConformanceCase("cuts/empty", "A connection that ends without an answer is `connectionLost`.", run: empty),
        ConformanceCase("cuts/reset-before-head", "A reset before the head is `connectionLost`.", run: resetBeforeHead),
        ConformanceCase("cuts/reset-in-head", "A reset within the head is an error.", run: resetInHead),
        ConformanceCase("cuts/reset-in-body", "A reset within the body is `truncated`, however the body is framed.", run: resetInBody),
        ConformanceCase("cuts/half-close", "The response of a server that closes only its sending side is delivered.", run: halfClose),
        ConformanceCase("cuts/slow", "A response that arrives byte by byte is right.", run: slow),
    ]

    private static let sizedHead = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 12\r\n\r\n"
    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Sendable private static func cutHeads(_ subject: ConformanceSubject) async throws {
        for head in [sizedHead, chunkedHead, "HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n"] {
            for place in 1..<head.utf8.count {
                let sent = Array(head.utf8.prefix(place))
                try await answering(with: .raw(sent)) { server in
                    let what = "Cut at byte \(place), after \(String(decoding: sent.suffix(12), as: UTF8.self).debugDescription)"
                    try await subject.expect(.connectionLost, .unreadableResponse, for: try server.request(), what)
                }
            }
        }
    }

    @Sendable private static func cutLengths(_ subject: ConformanceSubject) async throws {
        try await cutBodies(head: sizedHead, body: "hello, world", mayLack: 0, subject)
    }

    @Sendable private static func cutChunks(_ subject: ConformanceSubject) async throws {
        // The whole body has arrived before its last line ends, so either result is right.
        try await cutBodies(head: chunkedHead, body: "7\r\nhello, \r\n5;e\r\nworld\r\n0\r\n\r\n", mayLack: 4, subject)
    }

    private static func cutBodies(head: String, body: String, mayLack: Int, _ subject: ConformanceSubject) async throws {
        let count = body.utf8.count
        for place in 0...count {
            try await answering(with: .raw(Array(head.utf8) + Array(body.utf8.prefix(place)))) { server in
                let what = "The body, cut at byte \(place) of \(count)"
                if place == count {
                    try await subject.expect(200, "hello, world", for: try server.request(), what)
                } else if place >= count - mayLack {
                    try await subject.expect("hello, world", or: [.truncated], for: try server.request(), what)
                } else {
                    try await subject.expect(.truncated, for: try server.request(), what)
                }
            }
        }
    }

    @Sendable private static func code(_ subject: ConformanceSubject) async throws {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nhalf",
        ] {
            try await answering(with: .raw(text)) { server in
                try await subject.expect(.truncated, for: try server.request(), text)
                let response = try await subject.transport.send(try server.request())
                var received = Data()
                let ending = await ConformanceEnding.of { for try await piece in response.body { received.append(piece) } }
                try demand(ending != .answered, "\(text): expected an error after the bytes")
                try demand(received, is: Data("half".utf8), "\(text): the bytes before the error")
            }
        }
    }

    @Sendable private static func empty(_ subject: ConformanceSubject) async throws {
        try await answering(with: .drop) { server in
            try await subject.expect(.connectionLost, for: try server.request())
        }
    }

    @Sendable private static func resetBeforeHead(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("no").failing(.reset(afterBytes: 0))) { server in
            try await subject.expect(.connectionLost, for: try server.request())
        }
    }

    @Sendable private static func resetInHead(_ subject: ConformanceSubject) async throws {
        for count in [1, 9, 12, 17, 30] {
            try await answering(with: .text("no").failing(.reset(afterBytes: count))) { server in
                try await subject.expect(.connectionLost, .unreadableResponse, for: try server.request(), "After \(count) bytes")
            }
        }
    }

    @Sendable private static func resetInBody(_ subject: ConformanceSubject) async throws {
        for framing in ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "\r\nhalf"] {
            let hasHead = Locked(false)
            let script = LoopbackResponse.script { wire in
                try wire.write("HTTP/1.1 200 OK\r\n\(framing)")
                try wire.wait { hasHead.withLock { $0 } }
                wire.reset()
            }
            try await answering(with: script) { server in
                let response = try await subject.transport.send(try server.request())
                hasHead.withLock { $0 = true }
                do {
                    let body = try await response.body.collect(upTo: .max)
                    throw TestingFailure("\(framing): expected `truncated`, found a body of \(body.count) bytes")
                } catch let error as TransportError {
                    try demand(error.code, is: .truncated, framing)
                }
            }
        }
    }

    @Sendable private static func halfClose(_ subject: ConformanceSubject) async throws {
        for response in [LoopbackResponse.text("heard"), .text("heard").framed(.chunked), .text("heard").framed(.untilClose)] {
            try await answering(with: response.failing(.halfClose)) { server in
                try await subject.expect(200, "heard", for: try server.request())
            }
        }
    }

    @Sendable private static func slow(_ subject: ConformanceSubject) async throws {
        for text in [
            "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        ] {
            let script = LoopbackResponse.script { wire in
                for byte in text.utf8 {
                    try wire.write(Data([byte]))
                    try wire.pause(for: .milliseconds(2))
                }
            }
            try await answering(with: script) { server in
                try await subject.expect(200, "hello", for: try server.request(), text)
            }
        }
    }
}
