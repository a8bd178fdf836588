import CSystemLibraries
import Foundation

/// Decodes one coding: accepts bytes as they arrive, and produces pieces on demand.
struct DecodingStage {
    /// The result of a request for output.
    enum Output {
        /// A nonempty piece of output.
        case piece(Data)
        /// More input is needed.
        case needsInput
        /// The end of the output.
        case end
    }

    /// A reason why a stream can't be decoded.
    enum Fault: Error, Hashable {
        case truncated, corrupt, trailing, windowTooLarge, noMemory
    }

    private enum Position {
        /// No byte has arrived yet. An empty body is valid.
        case before
        /// Within a stream.
        case inside
        /// After the end of a stream, with the number of bytes skipped since.
        case after(Int)
    }

    /// Some servers append zlib's checksum to a raw stream. libcurl ignores its four bytes, too.
    private static let checksumSize = 4

    let coding: ContentCoding
    private var decoder: SystemDecoder?
    private var input = Data()
    private var used = 0
    private var isInputComplete = false
    private var mayHaveOutput = false
    private var position = Position.before
    private var fault: Fault?

    init(_ coding: ContentCoding) {
        self.coding = coding
    }

    /// Adds input.
    mutating func give(_ bytes: Data) {
        if used == input.count {
            input = bytes
        } else {
            input = input.dropFirst(used) + bytes
        }
        used = 0
    }

    /// Marks the input as complete.
    mutating func completeInput() {
        isInputComplete = true
    }

    /// Returns the next piece. After an error, every call throws the same error.
    mutating func next() throws(Fault) -> Output {
        while true {
            if let fault { throw fault }
            switch position {
            case .before:
                guard used < input.count else { return isInputComplete ? .end : .needsInput }
                decoder = SystemDecoder(coding)
                position = .inside
            case .after(let passed):
                guard let byte = nextByte else { return isInputComplete ? .end : .needsInput }
                receiveTrailing(at: byte, passed: passed)
            case .inside:
                guard used < input.count || mayHaveOutput else {
                    guard isInputComplete else { return .needsInput }
                    fault = .truncated
                    continue
                }
                let piece = decode()
                if !piece.isEmpty { return .piece(piece) }
            }
        }
    }

    private var nextByte: UInt8? {
        used < input.count ? input[input.startIndex + used] : nil
    }

    private mutating func decode() -> Data {
        guard let decoder else {
            fault = .noMemory
            return Data()
        }
        let (result, count, output) = input.withUnsafeBytes { decoder.step(UnsafeRawBufferPointer(rebasing: $0[used...])) }
        used += count
        mayHaveOutput = result == CSL_DECODING_OUTPUT_FULL
        switch result {
        case CSL_DECODING_NEEDS_INPUT, CSL_DECODING_OUTPUT_FULL:
            // A library that neither consumes nor produces bytes would loop forever.
            let isStuck = count == 0 && output.isEmpty && (mayHaveOutput || used < input.count)
            if isStuck { fault = .corrupt }
        case CSL_DECODING_FINISHED: position = .after(0)
        case CSL_DECODING_TOO_LARGE: fault = .windowTooLarge
        case CSL_DECODING_NO_MEMORY: fault = .noMemory
        default: fault = .corrupt
        }
        return output
    }

    /// Handles data after the end of a stream: a further stream if the coding allows several, and data that other programs tolerate: zero
    /// padding after gzip, which gzip ignores, and the stray checksum. Anything else is an error, as in libcurl. Browsers drop it, but this
    /// library drops nothing silently.
    private mutating func receiveTrailing(at byte: UInt8, passed: Int) {
        switch coding {
        case .gzip where byte == 0:
            used += 1
            position = .after(passed + 1)
        case .gzip where byte == 0x1F, .zstd where byte == 0x28 || (0x50...0x5F).contains(byte):
            if decoder?.beginNext() == true { position = .inside } else { fault = .noMemory }
        case .deflate where decoder?.isRaw == true && passed < Self.checksumSize:
            used += 1
            position = .after(passed + 1)
        default:
            fault = .trailing
        }
    }
}
