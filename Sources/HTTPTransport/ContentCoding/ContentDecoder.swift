public import Foundation

/// Undoes the codings of a body (RFC 9110 §8.4): bytes go in as they come, and decoded pieces are pulled out one by one.
///
///     var decoder = ContentDecoder([.gzip], host: "api.example.com")
///     decoder.give(bytes)
///     while case .piece(let data) = try decoder.next() { … }
///
/// A piece has at most 64 kB and is made when it is pulled: however much a body grows, no more than that of it is in memory, for each
/// coding. A body of no bytes at all decodes to none, whatever its codings, since `HEAD`, 204 and an empty body name theirs too.
///
/// Public for the fuzzer only, which is a package of its own.
@_spi(Fuzzing) public struct ContentDecoder {
    /// What there is to pull.
    public enum Output: Sendable, Hashable {
        /// A piece of the body, not empty.
        case piece(Data)
        /// Nothing without more input.
        case needsInput
        /// The body is complete.
        case end
    }

    /// The one that meets the input first.
    private var stages: [DecodingStage]
    private let host: String
    private var failure: TransportError?

    /// A decoder for codings in the order in which they were applied, as `Content-Encoding` lists them.
    ///
    /// - Parameter host: where the body is from, for messages.
    public init(_ codings: [ContentCoding], host: String) {
        stages = codings.reversed().map { DecodingStage($0) }
        self.host = host
    }

    /// Adds input.
    public mutating func give(_ bytes: Data) {
        guard !stages.isEmpty else { return }
        stages[0].give(bytes)
    }

    /// Tells that the input is complete.
    public mutating func completeInput() {
        guard !stages.isEmpty else { return }
        stages[0].completeInput()
    }

    /// The next piece. What was decoded before a fault comes before its error; the error comes again at each further call.
    ///
    /// - Throws: ``TransportError`` with `truncated` when the input was complete and the body is not, with `unreadableResponse` when it
    ///   can't be decoded.
    public mutating func next() throws(TransportError) -> Output {
        if let failure { throw failure }
        guard !stages.isEmpty else { return .end }
        do {
            let output = try pull(stages.count - 1)
            // What the libraries hold is given back at once.
            if case .end = output { stages = [] }
            return output
        } catch {
            failure = error
            stages = []
            throw error
        }
    }

    private mutating func pull(_ index: Int) throws(TransportError) -> Output {
        while true {
            switch try output(index) {
            case .piece(let piece): return .piece(piece)
            case .end: return .end
            case .needsInput where index == 0: return .needsInput
            case .needsInput: break
            }
            switch try pull(index - 1) {
            case .piece(let piece): stages[index].give(piece)
            case .end: stages[index].completeInput()
            case .needsInput: return .needsInput
            }
        }
    }

    private mutating func output(_ index: Int) throws(TransportError) -> DecodingStage.Output {
        do {
            return try stages[index].next()
        } catch {
            throw Self.error(error, stages[index].coding, host: host)
        }
    }

    private static func error(_ fault: DecodingStage.Fault, _ coding: ContentCoding, host: String) -> TransportError {
        switch fault {
        case .truncated:
            TransportError(.truncated, "The body from \(host) ended before its \(coding.name) coding was complete.")
        case .corrupt:
            TransportError(
                .unreadableResponse, "The body from \(host) isn't \(coding.name), as its Content-Encoding says, or it is damaged.")
        case .trailing:
            TransportError(.unreadableResponse, "The body from \(host) goes on behind the end of its \(coding.name) coding.")
        case .windowTooLarge:
            TransportError(
                .unreadableResponse,
                "The body from \(host) needs a \(coding.name) window of more than 8 MB (RFC 9659 §3): let the server compress with less.")
        case .noMemory:
            TransportError(.other, "There is no memory to decode the body from \(host).")
        }
    }
}
