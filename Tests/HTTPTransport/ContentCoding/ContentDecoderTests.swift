import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import HTTPTransport

@Suite(.enabled("zlib isn't here") { ContentCoding.gzip.isAvailable })
struct ContentDecoderTests {
    private static let host = "api.example.com"

    /// Returns everything decoded from pieces of input.
    private func decode(_ pieces: some Sequence<Data>, _ codings: [ContentCoding]) throws -> Data {
        var decoder = ContentDecoder(codings, host: Self.host)
        var whole = Data()
        var rest = Array(pieces)[...]
        while true {
            switch try decoder.next() {
            case .piece(let piece):
                #expect(!piece.isEmpty && piece.count <= 64 * 1024)
                whole += piece
            case .needsInput:
                if let next = rest.popFirst() { decoder.give(next) } else { decoder.completeInput() }
            case .end:
                #expect(rest.isEmpty)
                return whole
            }
        }
    }

    private func code(_ bytes: Data, _ codings: [ContentCoding]) -> TransportError.Code? {
        do {
            _ = try decode([bytes], codings)
            return nil
        } catch {
            #expect((error as? TransportError)?.message.contains(Self.host) == true)
            return (error as? TransportError)?.code
        }
    }

    @Test(arguments: CodedSample.all) func `what others encoded is decoded`(sample: CodedSample) throws {
        #expect(try decode([sample.bytes], [sample.coding]) == CodedSample.plain)
    }

    @Test(arguments: CodedSample.all) func `how the input is split makes no difference`(sample: CodedSample) throws {
        let single = sample.bytes.map { Data([$0]) }
        #expect(try decode(single, [sample.coding]) == CodedSample.plain)
        for place in 0...sample.bytes.count {
            let halves = [sample.bytes.prefix(place), sample.bytes.dropFirst(place)]
            #expect(try decode(halves, [sample.coding]) == CodedSample.plain)
        }
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var rest = sample.bytes
            var pieces: [Data] = []
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(rest.count, 40), using: &random)
                pieces.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(try decode(pieces, [sample.coding]) == CodedSample.plain)
        }
    }

    @Test(arguments: CodedSample.single) func `bytes that end too early are an error, wherever they do`(sample: CodedSample) {
        for count in 1..<sample.bytes.count {
            #expect(code(sample.bytes.prefix(count), [sample.coding]) == .truncated, "\(count) of \(sample.bytes.count) bytes")
        }
        #expect(code(Data(), [sample.coding]) == nil)
    }

    /// Checksums detect every flipped bit in gzip, zlib and this Zstandard sample; raw deflate and brotli have no checksums.
    @Test(arguments: CodedSample.all) func `flipped bits are an error or decode to something, and nothing traps`(sample: CodedSample) {
        let isChecked = sample.encoder == "gzip -9" || sample.encoder == "Python's zlib" || sample.encoder == "zstd -19"
        for place in sample.bytes.indices {
            for bit in 0..<8 {
                var bytes = sample.bytes
                bytes[place] ^= 1 << bit
                guard let decoded = try? decode([bytes], [sample.coding]) else { continue }
                #expect(!isChecked || decoded == CodedSample.plain, "bit \(bit) of byte \(place)")
            }
            var bytes = sample.bytes
            bytes[place] ^= 0xFF
            _ = try? decode([bytes], [sample.coding])
        }
    }

    @Test func `bytes by chance are no trap`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            let bytes = Data((0..<Int.random(in: 1...80, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            for coding in ContentCoding.allCases where coding.isAvailable { _ = try? decode([bytes], [coding]) }
        }
    }

    @Test func `several codings are undone from the last to the first`() throws {
        for inner in CodedSample.all {
            let wrapped = CodedSample.stored(inner.bytes)
            #expect(try decode(wrapped.map { Data([$0]) }, [inner.coding, .gzip]) == CodedSample.plain)
            #expect(code(wrapped.dropLast(), [inner.coding, .gzip]) == .truncated)
            let cut = CodedSample.stored(inner.bytes.prefix(20))
            #expect(code(cut, [inner.coding, .gzip]) == .truncated)
        }
        #expect(try decode([CodedSample.stored(Data())], [.deflate, .gzip]).isEmpty)
        #expect(try decode([Data()], [.deflate, .gzip]).isEmpty)
        #expect(try decode([], [.deflate, .gzip]).isEmpty)
    }

    @Test func `zeros may follow gzip, also before a further member, and nothing else`() throws {
        let member = CodedSample.stored(Data("member".utf8))
        #expect(try decode([member, Data(count: 600)], [.gzip]) == Data("member".utf8))
        #expect(try decode([member + Data(count: 3) + member], [.gzip]) == Data("membermember".utf8))
        #expect(try decode(Array(repeating: member, count: 50), [.gzip]) == Data(String(repeating: "member", count: 50).utf8))
        for garbage in ["\r\n", "garbage", "\0\0garbage"] { #expect(code(member + Data(garbage.utf8), [.gzip]) == .unreadableResponse) }
        #expect(code(member + Data([0x1F, 0x8B, 9, 0]), [.gzip]) == .unreadableResponse)
        #expect(code(member + Data([0x1F]), [.gzip]) == .truncated)
    }

    @Test(arguments: CodedSample.single.filter { $0.coding != .gzip }) func `nothing follows the other codings`(sample: CodedSample) {
        #expect(code(sample.bytes + Data([10]), [sample.coding]) == (sample.encoder.contains("without") ? nil : .unreadableResponse))
        #expect(code(sample.bytes + Data("12345".utf8), [sample.coding]) == .unreadableResponse)
    }

    /// Some servers send zlib's checksum after deflate without zlib's header.
    @Test func `a stray checksum may follow raw deflate`() throws {
        for sample in CodedSample.single where sample.encoder.contains("without") {
            for count in 1...4 { #expect(try decode([sample.bytes, Data(count: count)], [.deflate]) == CodedSample.plain) }
        }
    }

    @Test func `plain text by the name of a coding is an error`() {
        for coding in ContentCoding.allCases where coding.isAvailable {
            let code = code(Data("{\"message\":\"not encoded at all\"}".utf8), [coding])
            #expect(code == .unreadableResponse || code == .truncated, "\(coding)")
        }
    }

    @Test func `an error comes again, and what was decoded comes before it`() throws {
        let sample = try #require(CodedSample.single.first)
        var decoder = ContentDecoder([sample.coding], host: Self.host)
        decoder.give(sample.bytes.dropLast(8) + Data(count: 8))
        guard case .piece(let piece) = try decoder.next() else {
            Issue.record("no piece")
            return
        }
        #expect(piece == CodedSample.plain)
        for _ in 0..<3 { #expect(throws: TransportError.self) { try decoder.next() } }
        decoder.give(sample.bytes)
        decoder.completeInput()
        #expect(throws: TransportError.self) { try decoder.next() }
    }

    @Test(.enabled("libzstd isn't here") { ContentCoding.zstd.isAvailable })
    func `a Zstandard window of more than 8 MB is refused`() {
        // Only a frame header (RFC 8878 §3.1.1): not a single segment, with a window of 2 to the power of 23 or 24.
        for (log, isRefused) in [(UInt8(23), false), (24, true), (31, true)] {
            let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0, (log - 10) << 3, 1, 0, 0])
            #expect((code(frame, [.zstd]) == .unreadableResponse) == isRefused, "\(log)")
        }
    }
}
