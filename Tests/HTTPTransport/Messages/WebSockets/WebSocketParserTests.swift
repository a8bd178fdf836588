import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct WebSocketParserTests {
    /// The events that a parser reads from bytes in pieces of one size. A protocol violation ends the list.
    private struct Reading: Equatable {
        var events: [WebSocketParser.Event] = []
        var code: WebSocketCloseCode?
    }

    private static func read(_ bytes: [UInt8], piece: Int = .max, client: Bool = false, limit: Int = 1 << 20) -> Reading {
        var parser = WebSocketParser(readsClient: client, limit: limit)
        var reading = Reading()
        var start = 0
        while start < bytes.count {
            let end = piece < bytes.count - start ? start + piece : bytes.count
            Array(bytes[start..<end]).withUnsafeBytes { parser.feed($0) }
            start = end
            do throws(WebSocketParser.Violation) {
                while let event = try parser.next() { reading.events.append(event) }
            } catch {
                reading.code = error.code
                return reading
            }
        }
        return reading
    }

    private static func hex(_ text: String) -> [UInt8] {
        text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    // RFC 6455 §5.7.
    @Test(arguments: [
        ("81 05 48 65 6c 6c 6f", false, WebSocketParser.Event.message(.text("Hello"))),
        ("81 85 37 fa 21 3d 7f 9f 4d 51 58", true, .message(.text("Hello"))),
        ("01 03 48 65 6c 80 02 6c 6f", false, .message(.text("Hello"))),
        ("89 05 48 65 6c 6c 6f", false, .ping(Array("Hello".utf8))),
        ("8a 85 37 fa 21 3d 7f 9f 4d 51 58", true, .pong(Array("Hello".utf8))),
    ])
    func `The RFC's examples are read at every split`(bytes: String, client: Bool, event: WebSocketParser.Event) {
        let bytes = Self.hex(bytes)
        for piece in 1...bytes.count { #expect(Self.read(bytes, piece: piece, client: client).events == [event]) }
    }

    @Test func `The RFC's lengths are written and read`() {
        let heads = [
            (125, "82 7d"), (126, "82 7e 00 7e"), (256, "82 7e 01 00"), (65_535, "82 7e ff ff"), (65_536, "82 7f 00 00 00 00 00 01 00 00"),
        ]
        for (count, head) in heads {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let bytes = WebSocketFrame(.binary, payload).bytes(mask: nil)
            #expect(bytes == Self.hex(head) + payload)
            #expect(Self.read(bytes).events == [.message(.binary(Data(payload)))])
        }
        #expect(WebSocketFrame(.text, Array("Hello".utf8)).bytes(mask: 0x37fa_213d) == Self.hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"))
    }

    @Test func `Control frames are read between fragments`() {
        let bytes = Self.hex("01 01 41 89 01 70 00 01 42 8a 00 80 01 43")
        for piece in 1...bytes.count {
            #expect(Self.read(bytes, piece: piece).events == [.ping([0x70]), .pong([]), .message(.text("ABC"))])
        }
    }

    @Test(arguments: [
        ("c1 00", 1002), ("a1 00", 1002), ("91 00", 1002),  // reserved bits
        ("83 00", 1002), ("87 00", 1002), ("8b 00", 1002), ("8f 00", 1002),  // reserved opcodes
        ("81 80 00 00 00 00", 1002),  // masked
        ("80 00", 1002), ("00 00", 1002),  // nothing to continue
        ("01 00 81 00", 1002), ("01 00 02 00", 1002),  // a message within another
        ("09 00", 1002), ("0a 00", 1002), ("08 00", 1002),  // fragmented control frames
        ("89 7e 00 7e", 1002), ("88 7f", 1002),  // long control frames
        ("82 7e 00 7d", 1002), ("82 7f 00 00 00 00 00 00 ff ff", 1002),  // lengths with more bytes than needed
        ("82 7f 80 00 00 00 00 00 00 00", 1002),  // the highest bit
        ("82 7f 7f ff ff ff ff ff ff ff", 1009), ("82 7f 00 00 00 00 00 10 00 01", 1009),  // too large
        ("88 01 03", 1002),  // a Close frame with one byte
        ("88 02 03 e7", 1002), ("88 02 03 ec", 1002), ("88 02 03 ed", 1002), ("88 02 03 ee", 1002), ("88 02 03 f7", 1002),
        ("88 02 00 00", 1002), ("88 02 07 d0", 1002), ("88 02 0b b7", 1002), ("88 02 13 88", 1002), ("88 02 ff ff", 1002),
        ("88 03 03 e8 ff", 1007), ("88 04 03 e8 c3 28", 1007), ("88 03 03 e8 c3", 1007),  // reasons that aren't UTF-8
        ("81 01 ff", 1007), ("81 01 80", 1007), ("81 02 c0 80", 1007), ("81 03 ed a0 80", 1007), ("81 04 f4 90 80 80", 1007),
        ("81 02 c3 28", 1007), ("81 01 c3", 1007), ("01 01 c3 80 01 28", 1007), ("01 01 c3 80 00", 1007), ("81 05 ce ba e1 bd ff", 1007),
    ])
    func `Hostile frames are refused at every split`(bytes: String, code: UInt16) {
        let bytes = Self.hex(bytes)
        for piece in 1...bytes.count {
            #expect(Self.read(bytes, piece: piece).code?.rawValue == code, "\(bytes) in pieces of \(piece)")
        }
    }

    @Test func `A client's frames must be masked`() {
        #expect(Self.read(Self.hex("81 00"), client: true).code == .protocolError)
        #expect(Self.read(Self.hex("88 00"), client: true).code == .protocolError)
    }

    @Test func `Text that isn't UTF-8 fails before its frame is complete`() {
        #expect(Self.read(Self.hex("81 7d 41 ff")).code == .invalidData)
        // A character may be split between fragments.
        #expect(Self.read(Self.hex("01 01 c3 80 01 a4")).events == [.message(.text("ä"))])
    }

    @Test func `The limit holds for a message, not only for a frame`() {
        #expect(Self.read(Self.hex("02 02 01 02 80 02 03 04"), limit: 4).events == [.message(.binary(Data([1, 2, 3, 4])))])
        #expect(Self.read(Self.hex("02 02 01 02 80 03"), limit: 4).code == .messageTooBig)
        #expect(Self.read(Self.hex("82 00"), limit: 0).events == [.message(.binary(Data()))])
        #expect(Self.read(Self.hex("82 01"), limit: -5).code == .messageTooBig)
    }

    @Test func `A Close frame ends everything, with or without its code`() {
        #expect(Self.read(Self.hex("88 00 81 01 41")).events == [.close(WebSocketClosure(.noStatus))])
        let frame = WebSocketFrame.close(.goingAway, reason: "Tschüß")
        #expect(Self.read(frame.bytes(mask: nil)).events == [.close(WebSocketClosure(.goingAway, reason: "Tschüß"))])
        for code in [1000, 1003, 1007, 1014, 3000, 4999] as [UInt16] {
            let code = WebSocketCloseCode(rawValue: code)
            #expect(Self.read(WebSocketFrame.close(code).bytes(mask: nil)).events == [.close(WebSocketClosure(code))])
        }
        let long = WebSocketFrame.close(.normal, reason: String(repeating: "漢", count: 100))
        #expect(long.payload.count == 2 + 41 * 3)
        #expect(WebSocketFrame.close(.abnormal).payload.isEmpty && WebSocketFrame.close(nil).payload.isEmpty)
    }

    @Test func `Random messages come back from random fragments and pieces`() {
        var random = SeededGenerator(seed: 6_455)
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            var bytes: [UInt8] = []
            var expected: [WebSocketParser.Event] = []
            let isClient = Bool.random(using: &random)
            func mask(_ random: inout SeededGenerator) -> UInt32? { isClient ? .random(in: .min ... .max, using: &random) : nil }
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let isText = Bool.random(using: &random)
                let size = [0, 1, 7, 125, 126, 200, 70_000].randomElement(using: &random) ?? 0
                let text = String((0..<size / (isText ? 3 : 1)).map { _ in isText ? "漢" : "x" })
                let payload = Array(text.utf8)
                var start = 0
                var opcode: WebSocketFrame.Opcode = isText ? .text : .binary
                repeat {
                    let end = Bool.random(using: &random) ? payload.count : Int.random(in: start...payload.count, using: &random)
                    let frame = WebSocketFrame(opcode, Array(payload[start..<end]), isFinal: end == payload.count)
                    bytes += frame.bytes(mask: mask(&random))
                    if !frame.isFinal, Bool.random(using: &random) {
                        bytes += WebSocketFrame(.ping, [1, 2]).bytes(mask: mask(&random))
                        expected.append(.ping([1, 2]))
                    }
                    (start, opcode) = (end, .continuation)
                    if frame.isFinal { break }
                } while true
                expected.append(.message(isText ? .text(text) : .binary(Data(payload))))
            }
            let piece = [1, 2, 3, 14, 1_000, 100_000].randomElement(using: &random) ?? 1
            #expect(Self.read(bytes, piece: bytes.count > 10_000 ? max(piece, 500) : piece, client: isClient).events == expected)
        }
    }

    @Test func `Damaged frames never trap, and pieces make no difference`() {
        var random = SeededGenerator(seed: 13)
        let seeds = [
            "81 05 48 65 6c 6c 6f 89 01 70", "01 03 48 65 6c 80 02 6c 6f", "82 7e 00 7e 01", "82 7f 00 00 00 00 00 01 00 00",
            "88 04 03 e8 6f 6b",
        ]
        for _ in 0..<Sweep.rounds(ofAll: 20_000) {
            var bytes = seeds.flatMap { Bool.random(using: &random) ? Self.hex($0) : [] }
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            let whole = Self.read(bytes, limit: 200)
            #expect(Self.read(bytes, piece: Int.random(in: 1...4, using: &random), limit: 200) == whole)
        }
    }
}

@Suite struct WebSocketHandshakeTests {
    @Test func `The RFC's key has the RFC's answer`() {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(WebSocketHandshake().key != WebSocketHandshake().key)
        #expect(Data(base64Encoded: WebSocketHandshake().key)?.count == 16)
    }

    private static func fields(_ changes: [HTTPFields.Name: String?] = [:]) -> HTTPFields {
        var fields: HTTPFields = [
            "Upgrade": "WebSocket", "Connection": "keep-alive, upgrade", "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ]
        for (name, value) in changes { fields[name] = value }
        return fields
    }

    @Test func `A response must answer the handshake`() throws {
        let handshake = WebSocketHandshake(key: "dGhlIHNhbXBsZSBub25jZQ==")
        func chosen(_ fields: HTTPFields, _ version: String = "HTTP/1.1") throws -> String? {
            try handshake.subprotocol(in: fields, version: version, offered: ["a", "b"], host: "h")
        }
        #expect(try chosen(Self.fields()) == nil)
        #expect(try chosen(Self.fields(["Sec-WebSocket-Protocol": " b "])) == "b")
        let wrong: [[HTTPFields.Name: String?]] = [
            ["Upgrade": nil], ["Upgrade": "h2c"], ["Connection": nil], ["Connection": "close"], ["Sec-WebSocket-Accept": nil],
            ["Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOO="], ["Sec-WebSocket-Extensions": "permessage-deflate"],
            ["Sec-WebSocket-Protocol": "c"], ["Sec-WebSocket-Protocol": "a, b"],
        ]
        for changes in wrong {
            let error = #expect(throws: TransportError.self) { try chosen(Self.fields(changes)) }
            #expect(error?.code == .unreadableResponse)
        }
        #expect(throws: TransportError.self) { try chosen(Self.fields(), "HTTP/1.0") }
    }

    @Test func `Only the transport sets the handshake's fields`() throws {
        let url = try #require(URL(string: "http://localhost/"))
        try WebSocketHandshake.check(ServiceRequest(url: url, headers: ["Sec-WebSocket-Protocol": "a"]))
        for name in ["Upgrade", "connection", "Sec-WebSocket-Key", "Sec-WebSocket-Extensions"] {
            #expect(throws: TransportError.self) {
                try WebSocketHandshake.check(ServiceRequest(url: url, headers: [HTTPFields.Name(name): "x"]))
            }
        }
        #expect(throws: TransportError.self) { try WebSocketHandshake.check(ServiceRequest(method: .post, url: url)) }
        #expect(throws: TransportError.self) { try WebSocketHandshake.check(ServiceRequest(url: url, body: RequestBody(Data([1])))) }
    }
}
