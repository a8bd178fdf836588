import CSystemLibraries
import Foundation

/// A system library's decoder for one encoded stream, with its output buffer.
final class SystemDecoder {
    private enum Handle {
        case inflater(OpaquePointer)
        case brotli(OpaquePointer)
        case zstd(OpaquePointer)
    }

    /// The maximum size of an output piece in bytes.
    static let pieceSize = 64 * 1024
    /// Pieces of up to this many bytes are copied, so that a small piece doesn't retain a large buffer.
    private static let copied = 16 * 1024
    /// Zstandard windows are limited to 8 MB, as required for HTTP (RFC 9659 §3).
    private static let windowLog: CInt = 23

    private let handle: Handle
    private var room: UnsafeMutableRawPointer?

    /// Creates a decoder; `nil` if there isn't enough memory, or no library.
    init?(_ coding: ContentCoding) {
        switch coding {
        case .gzip, .deflate:
            guard let inflater = csl_inflater_new(coding == .gzip ? CSL_INFLATER_GZIP : CSL_INFLATER_DEFLATE) else { return nil }
            handle = .inflater(inflater)
        case .brotli:
            guard let decoder = csl_brotli_decoder_new() else { return nil }
            handle = .brotli(decoder)
        case .zstd:
            guard let decoder = csl_zstd_decoder_new(Self.windowLog) else { return nil }
            handle = .zstd(decoder)
        }
    }

    deinit {
        switch handle {
        case .inflater(let inflater): csl_inflater_free(inflater)
        case .brotli(let decoder): csl_brotli_decoder_free(decoder)
        case .zstd(let decoder): csl_zstd_decoder_free(decoder)
        }
        free(room)
    }

    /// Whether a deflate stream is raw.
    var isRaw: Bool {
        if case .inflater(let inflater) = handle { csl_inflater_is_raw(inflater) } else { false }
    }

    /// Prepares the decoder for the next stream of the same body, if the coding supports it.
    func beginNext() -> Bool {
        switch handle {
        case .inflater(let inflater): csl_inflater_reset(inflater)
        case .brotli: false
        case .zstd: true
        }
    }

    /// Decodes until the input is used up or one output piece is full.
    ///
    /// - Returns: The decoder's state, the number of bytes consumed, and the output.
    func step(_ input: UnsafeRawBufferPointer) -> (result: csl_decoding, used: Int, output: Data) {
        guard let room = room ?? malloc(Self.pieceSize) else { return (CSL_DECODING_NO_MEMORY, 0, Data()) }
        self.room = room
        var bytes = csl_decoding_bytes(
            input: input.baseAddress?.assumingMemoryBound(to: UInt8.self), input_count: input.count,
            output: room.assumingMemoryBound(to: UInt8.self), output_room: Self.pieceSize)
        let result =
            switch handle {
            case .inflater(let inflater): csl_inflater_step(inflater, &bytes)
            case .brotli(let decoder): csl_brotli_decoder_step(decoder, &bytes)
            case .zstd(let decoder): csl_zstd_decoder_step(decoder, &bytes)
            }
        return (result, input.count - bytes.input_count, take(Self.pieceSize - bytes.output_room, of: room))
    }

    private func take(_ count: Int, of room: UnsafeMutableRawPointer) -> Data {
        guard count > Self.copied else { return Data(bytes: room, count: count) }
        self.room = nil
        return Data(bytesNoCopy: room, count: count, deallocator: .free)
    }
}
