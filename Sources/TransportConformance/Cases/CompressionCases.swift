import Foundation
import WebServiceClient
import WebServiceTesting

/// Content codings: a body is decoded or left unchanged, never partly decoded.
enum CompressionCases {
    static let all = [
        ConformanceCase("compression/gzip", "gzip arrives decoded or unchanged, by length and in chunks.") { subject in
            for coding in ["gzip", "x-gzip", "GZIP"] { try await decodes(Samples.gzip, coding, subject) }
        },
        ConformanceCase("compression/deflate", "deflate arrives decoded or unchanged.") { subject in
            try await decodes(Samples.zlib, "deflate", subject)
        },
        ConformanceCase("compression/raw-deflate", "deflate without the zlib format arrives decoded or unchanged.") { subject in
            try await decodes(Samples.rawDeflate, "deflate", subject)
        },
        ConformanceCase("compression/offered", "Each coding that is offered in Accept-Encoding is decoded.", run: offered),
        ConformanceCase("compression/unknown", "An unknown coding leaves the body unchanged, or is an error.", run: unknown),
        ConformanceCase(
            "compression/truncated", "Truncated compressed bytes are an error if they are decoded.", run: truncated),
        ConformanceCase("compression/corrupt", "Damaged compressed bytes are an error if they are decoded.", run: corrupt),
        ConformanceCase("compression/bodyless", "A coding without a body isn't an error.", run: bodyless),
        ConformanceCase("compression/large", "A body that grows nearly a thousandfold arrives complete, piece by piece.", run: large),
    ]

    /// The text "compressed ", repeated two thousand times, in the three formats of zlib.
    private enum Samples {
        static let plain = Data(String(repeating: "compressed ", count: 2_000).utf8)
        static let gzip = bytes(
            "H4sIAAAAAAACA+3GsQ0AIAgAsFf8DRmJRv5P/IG5nRqn7svu3CtU" + String(repeating: "V", count: 55) + "13g/LzGM18FUAAA==")
        static let zlib = bytes(
            "eNrtxrENACAIALBX/A0ZiUb+T/yBuZ0ap+7L7twrVF" + String(repeating: "V", count: 54) + "dd4Pg2raAA==")
        static let rawDeflate = bytes(
            "7caxDQAgCACwV/wNGYlG/k/8gbmdGqfuy+7cK1R" + String(repeating: "V", count: 54) + "XXeDw==")
        /// 300000 zeros as gzip.
        static let zeros = bytes("H4sIAAAAAAACA+3BAQ0AAADCoPdPbQ8HF" + String(repeating: "A", count: 387) + "/Bj74rL24JMEAA==")

        private static func bytes(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
    }

    private static func response(_ bytes: Data, _ coding: String) -> LoopbackResponse {
        .data(bytes, type: "text/plain").with("Content-Encoding", coding)
    }

    /// Returns whether the transport decodes a coding. Fails if the body is neither the plain nor the packed bytes.
    @discardableResult
    private static func decodes(_ packed: Data, _ coding: String, _ subject: ConformanceSubject) async throws -> Bool {
        var isDecoding = false
        for framing in [LoopbackResponse.Framing.automatic, .chunked, .untilClose] {
            try await answering(with: response(packed, coding).framed(framing)) { server in
                let (response, body) = try await subject.exchange(try server.request())
                isDecoding = body == Samples.plain
                guard !isDecoding else {
                    let length = response.body.expectedLength ?? Int64(body.count)
                    return try demand(length, is: Int64(body.count), "\(coding), the expected length of the decoded body")
                }
                try demand(body, is: packed, "\(coding), neither decoded nor unchanged")
                try demand(response.headers[.contentEncoding], is: coding, "Content-Encoding of a body that isn't decoded")
            }
        }
        return isDecoding
    }

    @Sendable private static func offered(_ subject: ConformanceSubject) async throws {
        let codings = try await answering(with: .text("ok")) { server in
            try await subject.expect(200, "ok", for: try server.request())
            let lists = try server.onlyRequest().fields.values(of: "Accept-Encoding").joined(separator: ",")
            return lists.split(separator: ",").map { $0.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() }
        }
        for (coding, packed) in [("gzip", Samples.gzip), ("deflate", Samples.zlib)] where codings.contains(coding) {
            try demand(try await decodes(packed, coding, subject), "\(coding) is offered, but not decoded")
        }
    }

    @Sendable private static func unknown(_ subject: ConformanceSubject) async throws {
        for coding in ["unheard-of", "gzip, unheard-of", "identity, unheard-of"] {
            try await answering(with: response(Data("as it is".utf8), coding)) { server in
                do {
                    let (response, body) = try await subject.exchange(try server.request())
                    try demand(body, is: Data("as it is".utf8), "\(coding), the body")
                    try demand(response.headers[.contentEncoding], is: coding, "Content-Encoding")
                } catch let error as TransportError {
                    try demand(error.code, is: .unreadableResponse, "\(coding), the error's code")
                }
            }
        }
        try await answering(with: response(Data("as it is".utf8), "identity")) { server in
            try await subject.expect(200, "as it is", for: try server.request(), "identity")
        }
    }

    /// Demands an error, or the unchanged bytes if the coding isn't decoded.
    private static func failsOrPasses(_ bytes: Data, _ coding: String, _ what: String, _ subject: ConformanceSubject) async throws {
        for framing in [LoopbackResponse.Framing.automatic, .chunked, .untilClose] {
            try await answering(with: response(bytes, coding).framed(framing)) { server in
                do {
                    let (_, body) = try await subject.exchange(try server.request())
                    try demand(body == bytes, "\(what), \(framing): expected an error, found \(body.count) bytes as a complete body")
                } catch let error as TransportError {
                    let isRight = [.unreadableResponse, .truncated].contains(error.code)
                    try demand(isRight, "\(what), \(framing): expected unreadableResponse or truncated, found \(error)")
                }
            }
        }
    }

    @Sendable private static func truncated(_ subject: ConformanceSubject) async throws {
        for count in [1, 9, 15, 40, 82, 86, 90] {
            try await failsOrPasses(Samples.gzip.prefix(count), "gzip", "\(count) of \(Samples.gzip.count) bytes of gzip", subject)
        }
        for count in [1, 40, 76] {
            try await failsOrPasses(Samples.zlib.prefix(count), "deflate", "\(count) of \(Samples.zlib.count) bytes of deflate", subject)
        }
    }

    @Sendable private static func corrupt(_ subject: ConformanceSubject) async throws {
        for place in [0, 11, 20, 85] {
            var bytes = Samples.gzip
            bytes[place] ^= 0x55
            try await failsOrPasses(bytes, "gzip", "gzip damaged at byte \(place)", subject)
        }
        try await failsOrPasses(Data("no gzip at all".utf8), "gzip", "Data other than gzip", subject)
    }

    @Sendable private static func bodyless(_ subject: ConformanceSubject) async throws {
        try await answering(with: response(Samples.gzip, "gzip")) { server in
            try await subject.expect(200, "", for: try server.request(.head), "HEAD")
        }
        try await answering(with: response(Data(), "gzip")) { server in
            try await subject.expect(200, "", for: try server.request(), "An empty body")
        }
        try await answering(with: LoopbackResponse(status: 204, fields: ["Content-Encoding": "gzip"])) { server in
            try await subject.expect(204, "", for: try server.request(), "204")
        }
    }

    @Sendable private static func large(_ subject: ConformanceSubject) async throws {
        try await answering(with: response(Samples.zeros, "gzip").framed(.chunked)) { server in
            let response = try await subject.transport.send(try server.request())
            var received = Data()
            for try await piece in response.body { received.append(piece) }
            let isRight = received == Data(count: 300_000) || received == Samples.zeros
            try demand(isRight, "Neither decoded nor unchanged: \(received.count) bytes")
        }
    }
}
