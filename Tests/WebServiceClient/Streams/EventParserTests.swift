import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import WebServiceClient

/// The examples of WHATWG HTML §9.2.6, each read whole, cut at every place, and byte by byte.
@Suite struct EventParserTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let stream: String
        let events: [ServerEvent]
        var lastID = ""
        var testDescription: String { stream.debugDescription }
    }

    static let examples: [Example] = [
        // The examples of the specification.
        Example(stream: "data: YHOO\ndata: +2\ndata: 10\n\n", events: [ServerEvent(data: "YHOO\n+2\n10")]),
        Example(
            stream: ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            events: [ServerEvent(data: "first event", id: "1"), ServerEvent(data: "second event"), ServerEvent(data: " third event")]),
        Example(stream: "data\n\ndata\ndata\n\ndata:", events: [ServerEvent(data: ""), ServerEvent(data: "\n")]),
        Example(stream: "data:test\n\ndata: test\n\n", events: [ServerEvent(data: "test"), ServerEvent(data: "test")]),
        Example(
            stream: "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
            events: [
                ServerEvent(type: "add", data: "73857293"), ServerEvent(type: "remove", data: "2153"),
                ServerEvent(type: "add", data: "113411"),
            ]),
        // Ends of lines.
        Example(
            stream: "data:a\r\ndata:b\r\n\r\ndata:c\rdata:d\r\rdata:e\n\r", events: ["a\nb", "c\nd", "e"].map { ServerEvent(data: $0) }),
        Example(
            stream: "data:a\r\n\n\r\ndata:b\n\ndata:c\u{2028}\u{85}\u{C}d\n\n",
            events: ["a", "b", "c\u{2028}\u{85}\u{C}d"].map { ServerEvent(data: $0) }),
        // Byte order marks: only the first is skipped.
        Example(
            stream: "\u{FEFF}data:a\n\n\u{FEFF}data:b\n\ndata:\u{FEFF}c\n\n",
            events: [ServerEvent(data: "a"), ServerEvent(data: "\u{FEFF}c")]),
        Example(stream: "\u{FEFF}\u{FEFF}data:a\n\ndata:b\n\n", events: [ServerEvent(data: "b")]),
        // Names of fields.
        Example(
            stream: "Data:a\n data:b\ndata :c\ndatas:d\ndat:e\nevent:x\nevent\ndata:f\n\n", events: [ServerEvent(data: "f")]),
        Example(
            stream: "event:x\n\ndata:a\n\nevent:y\ndata:b\nevent: z \n\n",
            events: [ServerEvent(data: "a"), ServerEvent(type: "z ", data: "b")]),
        Example(stream: ":\n:data:a\ndata::b\ndata:\tc\n\n", events: [ServerEvent(data: ":b\n\tc")]),
        // IDs.
        Example(
            stream: "id: 1\ndata:a\n\nid: 2\u{0}\ndata:b\n\nid: 3\n\ndata:c\n\nid:4",
            events: [
                ServerEvent(data: "a", id: "1"), ServerEvent(data: "b", id: "1"), ServerEvent(data: "c", id: "3"),
            ], lastID: "3"),
        Example(stream: "id: 1\ndata:a\n\nid:2\ndata:b\n", events: [ServerEvent(data: "a", id: "1")], lastID: "1"),
        Example(stream: "id:ü🎈\ndata:ä🎈\n\n", events: [ServerEvent(data: "ä🎈", id: "ü🎈")], lastID: "ü🎈"),
        Example(stream: "", events: []),
        Example(stream: "\n\r\n\r\r", events: []),
        Example(stream: "data:a", events: []),
    ]

    @Test(arguments: examples) func `An example is read the same however it is cut`(_ example: Example) throws {
        let stream = Data(example.stream.utf8)
        for size in Array(1...max(1, stream.count)) {
            let read = try #require(StreamParsers.events(of: stream, inPiecesOf: size, limit: 1_000))
            #expect(read.events == example.events && read.lastID == example.lastID, "in pieces of \(size)")
        }
        for cut in 0...stream.count {
            var parser = EventParser(limit: 1_000)
            var events: [ServerEvent] = []
            for piece in [stream.prefix(cut), stream.dropFirst(cut)] {
                piece.withUnsafeBytes { parser.feed($0) }
                while let event = try parser.next() { events.append(event) }
            }
            #expect(events == example.events && parser.lastID == example.lastID, "cut at \(cut)")
        }
    }

    private func parser(_ stream: String, limit: Int = 1_000) throws -> EventParser {
        var parser = EventParser(limit: limit)
        Data(stream.utf8).withUnsafeBytes { parser.feed($0) }
        return parser
    }

    @Test func `Only digits set the reconnection time`() throws {
        for (text, time) in [
            ("10", 10), ("0", 0), ("007", 7), ("", nil), ("-1", nil), ("1s", nil), ("1.5", nil), (" 1", nil), ("+1", nil),
            ("99999999999999999999999", Int.max),
        ] as [(String, Int?)] {
            var parser = try parser("retry: \(text)\n\n")
            #expect(try parser.next() == nil)
            #expect(parser.reconnectionTime == time, "\(text)")
        }
        var kept = try parser("retry: 5\nretry: x\n\n")
        #expect(try kept.next() == nil && kept.reconnectionTime == 5)
    }

    @Test func `Bytes that aren't UTF-8 become replacement characters`() throws {
        let stream = Data("data: a".utf8) + [0xFF, 0xC3] + Data("\ndata: b".utf8) + [0xE2, 0x82] + Data("\n\n".utf8)
        for size in [1, 2, 100] {
            let read = StreamParsers.events(of: stream, inPiecesOf: size, limit: 100)
            #expect(read?.events == [ServerEvent(data: "a\u{FFFD}\u{FFFD}\nb\u{FFFD}")])
        }
    }

    @Test func `A CR completes an event at once, and the LF after it is skipped`() throws {
        var parser = try parser("data: a\r\n\r")
        #expect(try parser.next()?.data == "a")
        Data("\ndata: b\r\n\r\n".utf8).withUnsafeBytes { parser.feed($0) }
        #expect(try parser.next()?.data == "b")
        #expect(parser.place == StreamPlace(element: 2, line: 3, byte: 11, event: "message"))
    }

    @Test func `An endless line, an endless event and an endless ID are refused within the limit`() throws {
        for (head, repeated) in [("data: ", "x"), ("", "data: xxxxxxxx\n"), ("id: ", "x"), (": ", "x"), ("foo", "x")] {
            var parser = EventParser(limit: 10_000)
            var total = 0
            #expect(throws: StreamError.self) {
                Data(head.utf8).withUnsafeBytes { parser.feed($0) }
                let piece = Data(String(repeating: repeated, count: 100).utf8)
                while total < 1_000_000 {
                    piece.withUnsafeBytes { parser.feed($0) }
                    total += piece.count
                    let event = try parser.next()
                    #expect(event == nil)
                }
            }
            #expect(total < 20_000)
        }
        // Comments and unknown fields don't accumulate.
        var parser = EventParser(limit: 100)
        for _ in 0..<10_000 {
            Data(": ping\nfoo: bar\n".utf8).withUnsafeBytes { parser.feed($0) }
            #expect(try parser.next() == nil)
        }
    }

    @Test func `A cut event is dropped by the next connection, which keeps ID and time`() throws {
        var parser = try parser("id: 7\nretry: 3\ndata: a\n\nid: 8\ndata: cut")
        #expect(try parser.next() == ServerEvent(data: "a", id: "7"))
        #expect(try parser.next() == nil)
        parser.reconnect()
        Data("\u{FEFF}data: b\n\n".utf8).withUnsafeBytes { parser.feed($0) }
        #expect(try parser.next() == ServerEvent(data: "b", id: "7"))
        #expect(parser.reconnectionTime == 3 && parser.lastID == "7")
    }

    @Test func `What the encoder writes is read back`() throws {
        var random = SeededGenerator(seed: 33)
        let letters = Array("ab :\n\u{FEFF}\u{2028}ä🎈d\t\u{0}")
        func text(_ random: inout SeededGenerator, without left: String) -> String {
            let all = (0..<Int.random(in: 0...8, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" }
            return String(all.filter { !left.contains($0) })
        }
        for _ in 0..<Sweep.rounds(ofAll: 2_000) {
            var encoder = EventEncoder()
            var stream = Data()
            var events: [ServerEvent] = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let type = text(&random, without: "\n")
                let event = ServerEvent(
                    type: type.isEmpty ? "message" : type, data: text(&random, without: ""), id: text(&random, without: "\n\0"))
                events.append(event)
                stream += try encoder.encode(event)
                if Bool.random(using: &random) { stream += encoder.comment(text(&random, without: "")) }
            }
            let size = Int.random(in: 1...20, using: &random)
            let read = try #require(StreamParsers.events(of: stream, inPiecesOf: size, limit: 1_000))
            #expect(read.events == events)
        }
    }

    @Test func `The encoder refuses what the format can't carry`() throws {
        var encoder = EventEncoder()
        for event in [
            ServerEvent(data: "a\rb"), ServerEvent(type: "a\nb", data: ""), ServerEvent(data: "", id: "\0"),
            ServerEvent(data: "", id: "a\n"), ServerEvent(type: "\r", data: ""),
        ] {
            #expect(throws: EventEncodingError.self) { _ = try encoder.encode(event) }
        }
        #expect(String(decoding: try encoder.encode(ServerEvent(data: "a")), as: UTF8.self) == "data: a\n\n")
        for (duration, text) in [(Duration.milliseconds(1_500), "1500"), (.seconds(-1), "0"), (.zero, "0")] {
            #expect(String(decoding: encoder.reconnectionTime(duration), as: UTF8.self) == "retry: \(text)\n\n")
        }
        #expect(!encoder.reconnectionTime(Duration(secondsComponent: .max, attosecondsComponent: 0)).isEmpty)
        #expect(String(decoding: encoder.comment("a\nb"), as: UTF8.self) == ": a\n: b\n\n")
    }
}
