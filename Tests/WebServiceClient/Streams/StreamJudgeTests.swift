#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import WebServiceClient

/// The parsers agree with independent ones on random streams: httpx-sse for events, jsonlines for NDJSON, Python's own `email` for
/// multipart.
@Suite struct StreamJudgeTests {
    private static func hex(_ data: Data) -> String { data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    private static func hex(_ text: String) -> String { hex(Data(text.utf8)) }

    private static func streams(_ count: Int, seed: UInt64, from tokens: [Data], upTo length: Int) -> [Data] {
        var random = SeededGenerator(seed: seed)
        return (0..<Sweep.rounds(ofAll: count)).map { _ in
            (0..<Int.random(in: 0...length, using: &random)).reduce(into: Data()) { stream, _ in
                stream += tokens.randomElement(using: &random) ?? Data()
            }
        }
    }

    private func check(_ streams: [Data], by judge: StreamJudge, _ read: (Data, _ size: Int) -> String) async throws {
        let verdicts = try await judge.verdicts(streams)
        try #require(verdicts.count == streams.count)
        for (number, (stream, verdict)) in zip(streams, verdicts).enumerated() where verdict != "?" {
            #expect(read(stream, 1 + number % 9) == verdict, "\(String(decoding: stream, as: UTF8.self).debugDescription)")
        }
        #expect(Set(verdicts).count > streams.count / 10)
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with httpx-sse") { await StreamJudge.events.isAvailable() })
    func `Events are those of httpx-sse`() async throws {
        let texts = [
            "data", "data:", "data: ", "event: ", "event:", "id: ", "id", "retry: 10", ":", " ", "a", "b", "ä", "🎈", "\u{FEFF}", "\u{2028}",
            "\u{85}", "\u{0}", "\t", "{}", "\n", "\n", "\n\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "data: x\n", "data:y\r\n\r\n",
        ]
        let tokens = texts.map { Data($0.utf8) } + [Data([0xFF]), Data([0xE2, 0x82]), Data([0xC3])]
        let streams = Self.streams(10_000, seed: 1, from: tokens, upTo: 30)
        try await check(streams, by: .events) { stream, size in
            guard let read = StreamParsers.events(of: stream, inPiecesOf: size, limit: 10_000) else { return "!" }
            return read.events.map { "\(Self.hex($0.type)),\(Self.hex($0.data)),\(Self.hex($0.id))" }.joined(separator: ";")
        }
    }

    @Test(.enabled("JUDGE_PYTHON names no Python with jsonlines") { await StreamJudge.lines.isAvailable() })
    func `NDJSON is that of jsonlines`() async throws {
        let texts = [
            "1", "[1]", "\"ä\u{2028}\"", "true", "{\"a\":[]}", "x", "[", "\"", "\n", "\n", "\n", "\r\n", " ", "\t", "\n\n", "\u{85}",
        ]
        let streams = Self.streams(4_000, seed: 2, from: texts.map { Data($0.utf8) }, upTo: 20)
        try await check(streams, by: .lines) { stream, size in
            guard let records = StreamParsers.records(of: stream, as: .jsonLines, inPiecesOf: size, limit: 10_000) else { return "!" }
            return records.map { record in
                guard let record, (try? JSONReader().decode(JSONAnything.self, from: record)) != nil else { return "!" }
                return Self.hex(String(decoding: record, as: UTF8.self).trimmingCharacters(in: CharacterSet(charactersIn: " \t\r")))
            }.joined(separator: ";")
        }
    }

    @Test(.enabled("JUDGE_PYTHON names no Python") { await StreamJudge.parts.isAvailable() })
    func `Parts are those of Python's email`() async throws {
        let texts = [
            "--b\r\n", "--b\r\n\r\n", "\r\n--b\r\n\r\n", "\r\n--b\r\nX: y\r\n\r\n", "--b  \r\n\r\n", "--b--\r\n", "--bb\r\n", "--b-\r\n",
            "\r\n",
            "\r\n", "\n", "a", "--", "-", "b", " ", "X: y\r\n",
        ]
        var streams = Self.streams(4_000, seed: 3, from: texts.map { Data($0.utf8) }, upTo: 14)
        streams = streams.map { Data("--b\r\n\r\n".utf8) + $0 + Data("\r\n--b--\r\n".utf8) }
        try await check(streams, by: .parts) { stream, size in
            guard let parts = StreamParsers.parts(of: stream, boundary: "b", inPiecesOf: size, fieldLimit: 10_000) else { return "!" }
            return parts.map { "\($0.fields.count):\(Self.hex($0.body))" }.joined(separator: ";")
        }
    }
}

/// A parser in Python. It receives a stream in hexadecimal on each line, and prints what it reads on a line.
private struct StreamJudge {
    let module: String
    let program: String

    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    func isAvailable() async -> Bool {
        (try? await ChildProcess.run([Self.python, "-c", "import \(module)"]))?.status == 0
    }

    func verdicts(_ streams: [Data]) async throws -> [String] {
        let input = streams.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }.joined(separator: "\n") + "\n"
        let result = try await ChildProcess.run([Self.python, "-c", program], input: Data(input.utf8))
        guard result.status == 0 else { throw SerializationError(.format, result.text) }
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    /// Unlike the standard, httpx-sse keeps a byte order mark, and yields events without data.
    static let events = StreamJudge(
        module: "httpx_sse",
        program: """
            import sys
            from httpx_sse._decoders import SSEDecoder, SSELineDecoder
            def told(text): return text.encode('utf-8').hex()
            for line in sys.stdin:
                text = bytes.fromhex(line).decode('utf-8', 'replace')
                lines, decoder, found = SSELineDecoder(), SSEDecoder(), []
                text = text[1:] if text.startswith('\\ufeff') else text
                for number in ([*lines.decode(text), *lines.flush()] if text else []):
                    has_data = bool(decoder._data)
                    event = decoder.decode(number)
                    if event is not None and has_data:
                        found.append(','.join([told(event.event or 'message'), told(event.data), told(event.id)]))
                print(';'.join(found))
            """)

    static let lines = StreamJudge(
        module: "jsonlines",
        program: """
            import io, json, sys, jsonlines
            for line in sys.stdin:
                stream = io.TextIOWrapper(io.BytesIO(bytes.fromhex(line)), encoding='utf-8', newline='\\n')
                texts = [text for text in stream]
                found = []
                for text in texts:
                    if not text.strip(' \\t\\r\\n'): continue
                    reader = jsonlines.Reader([text])
                    try:
                        reader.read()
                        found.append(text.strip(' \\t\\r\\n').encode('utf-8').hex())
                    except (jsonlines.InvalidLineError, EOFError): found.append('!')
                print(';'.join(found))
            """)

    static let parts = StreamJudge(
        module: "email",
        program: """
            import re, sys
            from email.parser import BytesFeedParser
            # Where it drops lines: a delimiter after a delimiter, and a folded line without a field.
            dropped = re.compile(rb'(^|\\n)--b[ \\t]*\\r?\\n(--b(--)?[ \\t]*\\r?\\n|[ \\t])')
            for line in sys.stdin:
                if dropped.search(bytes.fromhex(line)): print('?'); continue
                parser = BytesFeedParser()
                parser.feed(b'Content-Type: multipart/mixed; boundary=b\\r\\n\\r\\n')
                parser.feed(bytes.fromhex(line))
                message = parser.close()
                found = []
                for part in message.get_payload() if message.is_multipart() else []:
                    body = part.get_payload()
                    found.append('%d:%s' % (len(part.items()), body.encode('ascii', 'surrogateescape').hex()))
                print(';'.join(found))
            """)
}
#endif
