import CSystemLibraries
import Foundation

/// A bounded buffer for the body of a request, between the task that reads it from a file or a stream and the loop that sends it.
final class CurlUpload: Sendable {
    /// The result of a read by the loop.
    enum Reading: Equatable {
        /// A number of bytes.
        case bytes(Int)
        /// Nothing yet: the loop will be woken.
        case wait
        /// The end of the body.
        case end
    }

    private struct State {
        var hasBegun = false
        var pieces: ArraySlice<Data> = []
        var waiting = 0
        var taken: Int64 = 0
        var isComplete = false
        var loopWaits = false
        var producer: CheckedContinuation<Void, Never>?
        var isOver = false

        mutating func append(_ piece: Data) {
            pieces.append(piece)
            waiting += piece.count
        }
    }

    /// The maximum number of waiting bytes, without the last piece.
    private static let limit = 256 * 1024

    /// The declared number of bytes; `nil` if unknown.
    let length: Int64?
    private let body: RequestBody
    private let state = Locked(State())

    init(_ body: RequestBody) {
        self.body = body
        length = body.length
    }

    /// Opens the body, which may take a descriptor, when the exchange starts.
    func begin() {
        let producer = state.withLock { state in
            state.hasBegun = true
            defer { state.producer = nil }
            return state.producer
        }
        producer?.resume()
    }

    /// Reads the body to its end as fast as it is sent, starting at ``begin()``.
    ///
    /// - Parameter wake: Called when the loop waits and can continue.
    /// - Throws: Any error of the body; ``RequestBodyError`` if its length isn't the declared one.
    func feed(_ wake: @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            var total: Int64 = 0
            // The last piece completes the request, which may then be answered: it is sent only when the body has ended, or when more has
            // been read.
            var last: Data?
            await room()
            try Task.checkCancellation()
            for try await piece in body.chunks(of: 128 * 1024) where !piece.isEmpty {
                total += Int64(piece.count)
                if let length, total > length {
                    throw RequestBodyError(
                        message: "The request body is longer than the \(length) bytes declared for it: declare its exact length, or none.")
                }
                guard total != length else {
                    last = piece
                    continue
                }
                if add(piece) { wake() }
                await room()
                try Task.checkCancellation()
            }
            try Task.checkCancellation()
            if let length, total < length {
                throw RequestBodyError(
                    message:
                        "The request body ended after \(total) of the \(length) bytes declared for it: declare its exact length, or none.")
            }
            let loopWaits = state.withLock { [last] state in
                if let last { state.append(last) }
                state.isComplete = true
                defer { state.loopWaits = false }
                return state.loopWaits
            }
            if loopWaits { wake() }
        } onCancel: {
            stop()
        }
    }

    /// Fills the loop's buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        let (reading, producer) = state.withLock { state -> (Reading, CheckedContinuation<Void, Never>?) in
            var count = 0
            while count < buffer.count, let piece = state.pieces.first {
                let part = min(piece.count, buffer.count - count)
                piece.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + part]), count: part)
                count += part
                if part == piece.count {
                    state.pieces.removeFirst()
                } else {
                    state.pieces[state.pieces.startIndex] = piece.dropFirst(part)
                }
            }
            state.waiting -= count
            state.taken += Int64(count)
            let producer = state.waiting < Self.limit ? state.producer : nil
            if producer != nil { state.producer = nil }
            if count > 0 { return (.bytes(count), producer) }
            if state.isComplete { return (.end, producer) }
            state.loopWaits = true
            return (.wait, producer)
        }
        producer?.resume()
        return reading
    }

    /// The number of bytes that the loop has taken.
    var taken: Int64 { state.withLock { $0.taken } }

    /// - Returns: Whether the loop waits for the piece.
    private func add(_ piece: Data) -> Bool {
        state.withLock { state in
            state.append(piece)
            defer { state.loopWaits = false }
            return state.loopWaits
        }
    }

    private func room() async {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard !state.hasBegun || state.waiting >= Self.limit, !state.isOver else { return true }
                state.producer = continuation
                return false
            }
            if isWaiting { continuation.resume() }
        }
    }

    private func stop() {
        let producer = state.withLock { state in
            state.isOver = true
            defer { state.producer = nil }
            return state.producer
        }
        producer?.resume()
    }
}
