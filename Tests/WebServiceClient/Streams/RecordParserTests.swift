import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import WebServiceClient

/// Lines, NDJSON and JSON text sequences, each cut at every place.
@Suite struct RecordParserTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let stream: String
        /// The records; `nil` for a faulty one.
        let records: [String?]
        var testDescription: String { stream.debugDescription }
    }

    private func check(_ example: Example, _ framing: StreamFraming) {
        let stream = Data(example.stream.utf8)
        for size in 1...max(1, stream.count) {
            let records = StreamParsers.records(of: stream, as: framing, inPiecesOf: size, limit: 1_000)
            let texts = records?.map { $0.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) } }
            #expect(texts == example.records, "in pieces of \(size)")
        }
    }

    @Test(arguments: [
        Example(stream: "{\"a\":1}\n{\"a\":2}\n", records: ["{\"a\":1}", "{\"a\":2}"]),
        Example(stream: "1\r\n2\r\n\r\n3", records: ["1", "2", "3"]),
        Example(stream: "\n\n \t\n1\n\n\n", records: ["1"]),
        Example(stream: "\u{FEFF}1\n\"\u{2028}\u{85}\"\n", records: ["1", "\"\u{2028}\u{85}\""]),
        Example(stream: "", records: []),
        Example(stream: "\n", records: []),
        Example(stream: "[1,\r2]\n3\n", records: ["[1,\r2]", "3"]),
    ])
    func `Lines are records, the last one without its end too`(_ example: Example) {
        check(example, .jsonLines)
    }

    @Test(arguments: [
        Example(stream: "\u{1E}{\"a\":1}\n\u{1E}[2]\n", records: ["{\"a\":1}", "[2]"]),
        Example(stream: "\u{1E}\u{1E}\u{1E}1\n\u{1E}\u{1E}\n\u{1E}2\n", records: ["1", "2"]),
        // §2.4: a number, true, false or null without white space may be cut.
        Example(stream: "\u{1E}12\u{1E}true\u{1E}null \u{1E}\"a\"\u{1E}{}", records: [nil, nil, "null", "\"a\"", "{}"]),
        Example(stream: "\u{1E}{\"cut\":\u{1E}2\n", records: ["{\"cut\":", "2"]),
        Example(stream: "junk\u{1E}1\n", records: [nil, "1"]),
        Example(stream: "\u{FEFF}\u{1E}1\n", records: ["1"]),
        Example(stream: "\u{1E}{\n \"a\": 1\n}\n", records: ["{\n \"a\": 1\n}"]),
        Example(stream: "", records: []),
        Example(stream: "{\"a\":1}\n", records: [nil]),
    ])
    func `A text sequence is divided at its separators`(_ example: Example) {
        check(example, .jsonSequence)
    }

    @Test func `Lines of text end with LF, CR or CRLF`() throws {
        let text = "\u{FEFF}a\nb\r\nc\rd\n\re\r\r\nf"
        for size in 1...text.utf8.count {
            let lines = StreamParsers.lines(of: Data(text.utf8), inPiecesOf: size, limit: 10)
            #expect(lines == ["a", "b", "c", "d", "", "e", "", "f"], "in pieces of \(size)")
        }
        #expect(StreamParsers.lines(of: Data("abc\nabcd".utf8), inPiecesOf: 2, limit: 3) == nil)
        #expect(StreamParsers.lines(of: Data("abc\nabcd\n".utf8), inPiecesOf: 100, limit: 3) == nil)
        #expect(StreamParsers.lines(of: Data("abc\n".utf8), inPiecesOf: 1, limit: 3) == ["abc"])
        #expect(StreamParsers.lines(of: Data("abc".utf8), inPiecesOf: 1, limit: -1) == nil)
    }

    @Test func `Endless records are refused within the limit`() {
        let piece = Data(repeating: UInt8(ascii: "x"), count: 1_000)
        for parser in [LineRecords(limit: 10_000), SequenceRecords(limit: 10_000)] as [any RecordParser] {
            var parser = parser
            var total = 0
            #expect(throws: StreamError.self) {
                while total < 1_000_000 {
                    try piece.withUnsafeBytes { try parser.feed($0) }
                    total += piece.count
                    #expect(try parser.next() == nil)
                }
            }
            #expect(total <= 12_000)
        }
    }

    @Test func `Places count lines and bytes`() throws {
        var parser = LineRecords(limit: 100)
        Data("1\n\n22\r\n333".utf8).withUnsafeBytes { parser.feed($0) }
        parser.finish()
        var places: [StreamPlace] = []
        while let record = try parser.next() { places.append(try record.get().place) }
        #expect(
            places == [
                StreamPlace(element: 1, line: 1, byte: 0), StreamPlace(element: 2, line: 3, byte: 3),
                StreamPlace(element: 3, line: 4, byte: 7),
            ])
        #expect(places[1].description == "element 2, line 3, byte 3")
    }
}
