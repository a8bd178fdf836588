public import Foundation

/// Decodes a body (RFC 9110 §8.4): accepts bytes as they arrive, and produces decoded pieces on demand.
///
///     var decoder = ContentDecoder([.gzip], host: "api.example.com")
///     decoder.give(bytes)
///     while case .piece(let data) = try decoder.next() { … }
///
/// A piece has at most 64 kB and is decoded when it is requested. No more than that is in memory per coding, even if a body expands
/// greatly. An empty body decodes to an empty body regardless of its codings, because `HEAD`, 204 and empty responses list their codings
/// too.
///
/// Public only for the fuzzer, which is a separate package.
@_spi(Fuzzing) public struct ContentDecoder {
    /// The result of a request for output.
    public enum Output: Sendable, Hashable {
        /// A nonempty piece of the body.
        case piece(Data)
        /// More input is needed.
        case needsInput
        /// The body is complete.
        case end
    }

    /// The stages, starting with the one that receives the input.
    private var stages: [DecodingStage]
    private let host: String
    private var failure: TransportError?

    /// Creates a decoder for codings in the order in which they were applied, as in `Content-Encoding`.
    ///
    /// - Parameter host: The origin of the body, for messages.
    public init(_ codings: [ContentCoding], host: String) {
        stages = codings.reversed().map { DecodingStage($0) }
        self.host = host
    }

    /// Adds input.
    public mutating func give(_ bytes: Data) {
        guard !stages.isEmpty else { return }
        stages[0].give(bytes)
    }

    /// Marks the input as complete.
    public mutating func completeInput() {
        guard !stages.isEmpty else { return }
        stages[0].completeInput()
    }

    /// Returns the next piece. Data decoded before a fault is returned before the error is thrown. Further calls throw the same error.
    ///
    /// - Throws: ``TransportError`` with `truncated` if the input is complete but the body isn't, with `unreadableResponse` if it can't be
    ///   decoded.
    public mutating func next() throws(TransportError) -> Output {
        if let failure { throw failure }
        guard !stages.isEmpty else { return .end }
        do {
            let output = try pull(stages.count - 1)
            // Releases the libraries' memory immediately.
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

    private static let remedy = "correct the server, or send Accept-Encoding: identity to get the body uncoded"

    private static func error(_ fault: DecodingStage.Fault, _ coding: ContentCoding, host: String) -> TransportError {
        switch fault {
        case .truncated:
            TransportError(.truncated, "The body from \(host) ended before its \(coding.name) coding was complete: repeat the call.")
        case .corrupt:
            TransportError(
                .unreadableResponse,
                "The body from \(host) isn't \(coding.name), as its Content-Encoding says, or it is damaged: \(remedy).")
        case .trailing:
            TransportError(
                .unreadableResponse, "The body from \(host) continues after the end of its \(coding.name) coding: \(remedy).")
        case .windowTooLarge:
            TransportError(
                .unreadableResponse,
                "The body from \(host) needs a \(coding.name) window of more than 8 MB (RFC 9659 §3): use a smaller one in the server.")
        case .noMemory:
            TransportError(.other, "Not enough memory to decode the body from \(host): make fewer calls at once.")
        }
    }
}
