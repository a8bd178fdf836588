import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import WebServiceClient

@Suite struct PartParserTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let stream: String
        /// The fields and the body of each part; `nil` if the stream is truncated.
        let parts: [Part]?
        var testDescription: String { stream.debugDescription }
    }

    struct Part: Sendable, Equatable {
        var fields: [String] = []
        var body: String
    }

    static let examples: [Example] = [
        // RFC 2046 §5.1.1.
        Example(
            stream: "This is the preamble.\r\n--b\r\n\r\nimplicitly typed\r\n--b\r\nContent-type: text/plain; charset=us-ascii\r\n\r\n"
                + "explicitly typed\r\n\r\n--b--\r\n\r\nThis is the epilogue.\r\n--b\r\n",
            parts: [
                Part(body: "implicitly typed"),
                Part(fields: ["Content-type: text/plain; charset=us-ascii"], body: "explicitly typed\r\n"),
            ]),
        Example(stream: "--b--", parts: []),
        Example(stream: "--b\r\n\r\n--b--", parts: [Part(body: "")]),
        Example(stream: "--b\n\na\n--b\nX: y\n\n\n--b--\n", parts: [Part(body: "a"), Part(fields: ["X: y"], body: "")]),
        // What only begins like a delimiter is a part of the body.
        Example(
            stream: "--b\r\n\r\n--bb\r\n--b-\r\n--b x\r\n -b\r\n--\r\nx--b\r\n--b \t \r\n\r\n\r\n\r\n--b--  ",
            parts: [Part(body: "--bb\r\n--b-\r\n--b x\r\n -b\r\n--\r\nx--b"), Part(body: "\r\n")]),
        Example(stream: "--b\r\n\r\n\r\r\n\n\r\r\n--b--", parts: [Part(body: "\r\r\n\n\r")]),
        // A part that its delimiter ends within its fields.
        Example(
            stream: "--b\r\nX: y\r\n--b\r\nZ: z\r\n folded\r\n\r\na\r\n--b--",
            parts: [
                Part(fields: ["X: y"], body: ""), Part(fields: ["Z: z folded"], body: "a"),
            ]),
        // Truncated.
        Example(stream: "", parts: nil),
        Example(stream: "no delimiter", parts: nil),
        Example(stream: "--b\r\n\r\nbody\r\n--b", parts: nil),
        Example(stream: "--b\r\n\r\nbody\r\n--b-", parts: nil),
        Example(stream: "--b\r\nX: y", parts: nil),
        Example(stream: "--b\r\n\r\nbody\r\n", parts: nil),
    ]

    private func read(_ stream: Data, size: Int, boundary: String = "b") -> [Part]? {
        StreamParsers.parts(of: stream, boundary: boundary, inPiecesOf: size, fieldLimit: 1_000)?.map {
            Part(fields: $0.fields, body: String(decoding: $0.body, as: UTF8.self))
        }
    }

    @Test(arguments: examples) func `A body is divided the same however it is cut`(_ example: Example) {
        let stream = Data(example.stream.utf8)
        for size in 1...max(1, stream.count) { #expect(read(stream, size: size) == example.parts, "in pieces of \(size)") }
    }

    @Test func `Random parts come back`() throws {
        var random = SeededGenerator(seed: 7)
        let pieces = ["\r\n", "--", "b", "-", "x", "\n", "--b", "\r", "\0", " "]
        for _ in 0..<Sweep.rounds(ofAll: 2_000) {
            var bodies: [String] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let body = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
                // A sender chooses a boundary that doesn't occur.
                bodies.append(body.replacingOccurrences(of: "--b", with: "==b"))
            }
            let stream = bodies.map { "--b\r\nN: 1\r\n\r\n\($0)\r\n" }.joined() + "--b--\r\n"
            let size = Int.random(in: 1...30, using: &random)
            #expect(read(Data(stream.utf8), size: size)?.map(\.body) == bodies, "\(stream.debugDescription) in pieces of \(size)")
        }
    }

    @Test func `Endless fields are refused, and endless padding is a body`() throws {
        var parser = PartParser(boundary: "b", fieldLimit: 1_000)
        Data("--b\r\nX: ".utf8).withUnsafeBytes { parser.feed($0) }
        let piece = Data(repeating: UInt8(ascii: "x"), count: 300)
        var total = 0
        let error = #expect(throws: StreamError.self) {
            while total < 100_000 {
                piece.withUnsafeBytes { parser.feed($0) }
                total += piece.count
                let part = try parser.next()
                #expect(part == nil)
            }
        }
        #expect(error?.kind == .tooLarge && total < 2_000)
        let padded = "--b\r\n\r\na\r\n--b" + String(repeating: " ", count: 1_000) + "\r\n--b--"
        #expect(read(Data(padded.utf8), size: 7)?.count == 1)
    }

    @Test func `A boundary is 1 to 70 characters`() throws {
        func boundary(_ type: String) throws -> String { try #require(MediaType(type)).multipartBoundary() }
        #expect(try boundary("multipart/mixed; boundary=\"a b:c \"") == "a b:c")
        #expect(try boundary("multipart/mixed; boundary=abc") == "abc")
        let long = "multipart/mixed; boundary=" + String(repeating: "a", count: 71)
        for type in ["multipart/mixed", "multipart/mixed; boundary=", "text/plain; boundary=a", long] {
            #expect(throws: StreamError.self) { _ = try boundary(type) }
        }
    }
}
