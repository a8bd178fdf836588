import CSystemLibraries
import Foundation

/// Encodes a stream of bytes in a content coding.
///
/// Equal input gives equal output if it arrives in equal pieces, so that a body can be sent again and its digest can be sent ahead.
final class ContentEncoder {
    private enum Handle {
        case deflater(OpaquePointer)
        case brotli(OpaquePointer)
        case zstd(OpaquePointer)
    }

    /// The levels that the libraries, or servers, use for content that is coded while it is sent. Higher ones cost many times as much time
    /// for a few percent.
    private enum Level {
        static let deflate: CInt = 6
        static let brotli: CInt = 5
        static let zstd: CInt = 3
    }

    /// The window of zstd's level 3, and so below the 8 MB that receivers accept (RFC 9659 §3).
    private static let windowLog: CInt = 21
    private static let roomSize = 64 * 1024

    private let coding: ContentCoding
    private let handle: Handle
    private let room: UnsafeMutableRawPointer

    /// Creates an encoder.
    ///
    /// - Throws: ``RequestBodyError`` if the library is missing or memory is exhausted.
    init(_ coding: ContentCoding) throws(RequestBodyError) {
        guard coding.canEncode else { throw Self.missing(coding) }
        let made: Handle? =
            switch coding {
            case .gzip: csl_deflater_new(CSL_INFLATER_GZIP, Level.deflate).map(Handle.deflater)
            case .deflate: csl_deflater_new(CSL_INFLATER_DEFLATE, Level.deflate).map(Handle.deflater)
            case .brotli: csl_brotli_encoder_new(Level.brotli).map(Handle.brotli)
            case .zstd: csl_zstd_encoder_new(Level.zstd, Self.windowLog).map(Handle.zstd)
            }
        guard let made, let room = malloc(Self.roomSize) else { throw Self.failed(coding) }
        self.coding = coding
        handle = made
        self.room = room
    }

    deinit {
        switch handle {
        case .deflater(let encoder): csl_deflater_free(encoder)
        case .brotli(let encoder): csl_brotli_encoder_free(encoder)
        case .zstd(let encoder): csl_zstd_encoder_free(encoder)
        }
        free(room)
    }

    /// Encodes the next bytes.
    ///
    /// - Parameter isLast: Whether the stream ends with them.
    /// - Returns: The output so far. An encoder holds back output until it has enough input.
    func encode(_ input: Data, isLast: Bool) throws(RequestBodyError) -> Data {
        var output = Data()
        let result = input.withUnsafeBytes { input in
            var bytes = csl_decoding_bytes(
                input: input.baseAddress?.assumingMemoryBound(to: UInt8.self), input_count: input.count, output: nil, output_room: 0)
            while true {
                bytes.output = room.assumingMemoryBound(to: UInt8.self)
                bytes.output_room = Self.roomSize
                let result = step(&bytes, isLast)
                output.append(
                    UnsafeBufferPointer(start: room.assumingMemoryBound(to: UInt8.self), count: Self.roomSize - bytes.output_room))
                if result != CSL_ENCODING_OUTPUT_FULL { return result }
            }
        }
        guard result == (isLast ? CSL_ENCODING_FINISHED : CSL_ENCODING_NEEDS_INPUT) else { throw Self.failed(coding) }
        return output
    }

    private func step(_ bytes: inout csl_decoding_bytes, _ isLast: Bool) -> csl_encoding {
        switch handle {
        case .deflater(let encoder): csl_deflater_step(encoder, &bytes, isLast)
        case .brotli(let encoder): csl_brotli_encoder_step(encoder, &bytes, isLast)
        case .zstd(let encoder): csl_zstd_encoder_step(encoder, &bytes, isLast)
        }
    }

    private static func missing(_ coding: ContentCoding) -> RequestBodyError {
        RequestBodyError(message: "The body can't be coded in \(coding.name): \(coding.encoderFix).")
    }

    private static func failed(_ coding: ContentCoding) -> RequestBodyError {
        RequestBodyError(message: "The body can't be coded in \(coding.name): the system's library failed, or memory is exhausted.")
    }
}

extension ContentCoding {
    /// The fix for a coding that the system lacks.
    package var encoderFix: String {
        let library =
            switch self {
            case .gzip, .deflate: "zlib"
            case .brotli: "libbrotlienc"
            case .zstd: "libzstd 1.4 or later"
            }
        return "install \(library), or use another coding"
    }
}

extension RequestBody {
    /// Returns the body in a content coding; the caller sets `Content-Encoding`.
    ///
    /// A body in memory is coded at once, and its length is known. Files and streams are coded while they are sent, in blocks of 64 kB, so
    /// that the coded bytes don't depend on the pieces of the stream; the length is unknown.
    ///
    /// - Throws: ``RequestBodyError`` if the coding's library is missing or memory is exhausted; `CancellationError`.
    package func coded(in coding: ContentCoding) throws -> RequestBody {
        var coded: RequestBody
        if let data {
            let encoder = try ContentEncoder(coding)
            var output = Data()
            var rest = data[...]
            while rest.count > CodedPieces.blockSize {
                try Task.checkCancellation()
                output.append(try encoder.encode(Data(rest.prefix(CodedPieces.blockSize)), isLast: false))
                rest = rest.dropFirst(CodedPieces.blockSize)
            }
            output.append(try encoder.encode(Data(rest), isLast: true))
            coded = RequestBody(output, contentType: contentType)
        } else {
            guard coding.canEncode else { _ = try ContentEncoder(coding); return self }
            let plain = self
            coded = RequestBody(isReplayable: isReplayable, contentType: contentType) {
                let pieces = CodedPieces(plain, coding)
                return AsyncThrowingStream { try await pieces.next() }
            }
        }
        coded.contentTypeIsBinding = contentTypeIsBinding
        return coded
    }
}

/// The coded pieces of a body.
///
/// `@unchecked Sendable`: only one task at a time uses it, because a body has one reader, which waits for each piece.
private final class CodedPieces: @unchecked Sendable {
    /// The number of bytes that are coded together.
    static let blockSize = 64 * 1024

    private let source: PieceReader<AsyncThrowingStream<Data, any Error>>
    private let coding: ContentCoding
    private var encoder: ContentEncoder?
    private var waiting = Data()
    private var hasEnded = false

    init(_ body: RequestBody, _ coding: ContentCoding) {
        source = PieceReader(body.chunks(of: Self.blockSize))
        self.coding = coding
    }

    /// The next piece, `nil` at the end.
    func next() async throws -> Data? {
        while !hasEnded {
            let encoder = try encoder ?? ContentEncoder(coding)
            self.encoder = encoder
            if waiting.count >= Self.blockSize {
                try Task.checkCancellation()
                let block = Data(waiting.prefix(Self.blockSize))
                waiting = waiting.dropFirst(Self.blockSize)
                let output = try encoder.encode(block, isLast: false)
                if !output.isEmpty { return output }
            } else if let piece = try await source.next() {
                // A copy of the rest, which is less than a block, once per large piece.
                if waiting.startIndex > 0 { waiting = Data(waiting) }
                waiting.append(piece)
            } else {
                hasEnded = true
                defer { self.encoder = nil }
                return try encoder.encode(Data(waiting), isLast: true)
            }
        }
        return nil
    }
}
