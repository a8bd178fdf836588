import Foundation
import TestSupport
import Testing

@_spi(Fuzzing) @testable import HTTPTransport

/// Decodes various data encoded by other programs, if they are installed.
@Suite(.serialized) struct OtherEncoderTests {
    /// A program that encodes its standard input.
    struct Encoder: Sendable, CustomTestStringConvertible {
        let coding: ContentCoding
        let command: String
        var testDescription: String { "\(coding.name): \(command.prefix(60))" }

        static func python(_ coding: ContentCoding, _ code: String) -> Encoder {
            Encoder(coding: coding, command: "python3 -c 'import sys, zlib; i = sys.stdin.buffer.read(); sys.stdout.buffer.write(\(code))'")
        }

        static func node(_ options: String) -> Encoder {
            let code =
                "const z = require(\"zlib\"); process.stdout.write(z.brotliCompressSync(require(\"fs\").readFileSync(0), \(options)))"
            return Encoder(coding: .brotli, command: "node -e '\(code)'")
        }
    }

    private static let encoders =
        ["gzip -1", "gzip -9", "gzip -6n"].map { Encoder(coding: .gzip, command: $0) } + [
            .python(.deflate, "zlib.compress(i, 6)"), .python(.deflate, "zlib.compress(i, 0)"),
            .python(.deflate, "(lambda c: c.compress(i) + c.flush())(zlib.compressobj(6, 8, -15))"),
            .python(.deflate, "(lambda c: c.compress(i) + c.flush())(zlib.compressobj(9, 8, -9, 1, 4))"),
            .python(.deflate, "(lambda c: c.compress(i) + c.flush())(zlib.compressobj(9, 8, 9))"),
            .node("{}"), .node("{params: {[z.constants.BROTLI_PARAM_QUALITY]: 1}}"),
            .node("{params: {[z.constants.BROTLI_PARAM_QUALITY]: 4, [z.constants.BROTLI_PARAM_LGWIN]: 10}}"),
        ] + ["zstd -1", "zstd -19", "zstd --fast=5 --no-check", "zstd -3 --zstd=wlog=23"].map { Encoder(coding: .zstd, command: $0) }

    /// Empty, text, incompressible and highly compressible data.
    private static let plain: [Data] = [
        Data(),
        Data((0..<6_000).map { "{\"id\":\($0),\"name\":\"n\($0 * 7919 % 1_009)\"}" }.joined(separator: ",").utf8)
            + SeededGenerator.bytes(200_000) + Data(String(repeating: "compressed ", count: 20_000).utf8) + Data(count: 3_000_000),
    ]

    private static func exists(_ program: Substring) -> Bool {
        ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
            || (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
            }
    }

    private static func missing(_ encoder: Encoder) -> String? {
        let program = encoder.command.prefix { $0 != " " }
        guard encoder.coding.isAvailable else { return "the library for \(encoder.coding.name)" }
        return exists(program) ? nil : String(program)
    }

    @Test(arguments: encoders) func `comes back as it was`(encoder: Encoder) async throws {
        if let missing = Self.missing(encoder) {
            print("skipped: \(encoder.testDescription) needs \(missing)")
            return
        }
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "plain")
        for plain in Self.plain {
            try plain.write(to: file)
            let bytes = try await encode(file, with: encoder.command, in: folder)
            var decoder = ContentDecoder([encoder.coding], host: "a")
            var rest = bytes
            var decoded = Data()
            loop: while true {
                switch try decoder.next() {
                case .piece(let piece): decoded += piece
                case .end: break loop
                case .needsInput:
                    if rest.isEmpty { decoder.completeInput() }
                    decoder.give(rest.prefix(10_007))
                    rest = rest.dropFirst(10_007)
                }
            }
            #expect(decoded == plain, "\(plain.count) bytes")
        }
    }

    private func encode(_ file: URL, with command: String, in folder: TemporaryFolder) async throws -> Data {
        let coded = folder.url.appending(path: "coded")
        let words = ["sh", "-c", "\(command) < \"$0\" > \"$1\"", file.path(percentEncoded: false), coded.path(percentEncoded: false)]
        let program = try await ChildProcess.run(words)
        try #require(program.status == 0, "\(program.text)")
        return try Data(contentsOf: coded)
    }
}
