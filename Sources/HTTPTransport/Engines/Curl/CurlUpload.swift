import CSystemLibraries
import Foundation

/// The body of a request between the task that reads it, from a file or a stream, and the loop that sends it: a bounded buffer.
final class CurlUpload: Sendable {
    /// What the loop gets.
    enum Reading: Equatable {
        /// So many bytes.
        case bytes(Int)
        /// Nothing yet: the loop is told when there is something.
        case wait
        /// The body is at its end.
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

    /// The most bytes that wait here, but for the last piece.
    private static let limit = 256 * 1024

    /// The number of bytes that must come; `nil` when it isn't known.
    let length: Int64?
    private let body: RequestBody
    private let state = Locked(State())

    init(_ body: RequestBody) {
        self.body = body
        length = body.length
    }

    /// The exchange's turn has come: the body is opened, which may take a descriptor.
    func begin() {
        let producer = state.withLock { state in
            state.hasBegun = true
            defer { state.producer = nil }
            return state.producer
        }
        producer?.resume()
    }

    /// Reads the body to its end, as fast as it is sent, from ``begin()`` on.
    ///
    /// - Parameter wake: called when the loop waits and can go on.
    /// - Throws: what the body throws; ``RequestBodyError`` when it isn't as long as it was declared.
    func feed(_ wake: @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            var total: Int64 = 0
            // With it the request is whole, and may be answered: it goes out when the body has ended there, and not before more has come.
            var last: Data?
            await room()
            try Task.checkCancellation()
            for try await piece in body.chunks(of: 128 * 1024) where !piece.isEmpty {
                total += Int64(piece.count)
                if let length, total > length {
                    throw RequestBodyError(message: "The request body is longer than the \(length) bytes that were declared for it.")
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
                throw RequestBodyError(message: "The request body ended after \(total) of the \(length) bytes that were declared for it.")
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

    /// The bytes that the loop has taken.
    var taken: Int64 { state.withLock { $0.taken } }

    /// - Returns: whether the loop waits for it.
    private func add(_ piece: Data) -> Bool {
        state.withLock { state in
            state.append(piece)
            defer { state.loopWaits = false }
            return state.loopWaits
        }
    }

    private func room() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                guard !state.hasBegun || state.waiting >= Self.limit, !state.isOver else { return true }
                state.producer = continuation
                return false
            }
            if goesOn { continuation.resume() }
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
