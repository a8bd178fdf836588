import Foundation
import RemoteLogger

/// A clock that advances only by explicit calls.
///
/// Unchecked, since the state is used only under the lock.
final class HurriedClock: LogClock, @unchecked Sendable {
    private struct Sleeper {
        let id: Int
        let end: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var elapsed: UInt64 = 1_000_000_000
    private var lastID = 0
    private var sleepers: [Sleeper] = []
    private var cancelled: Set<Int> = []
    private let origin = UInt64(Date().timeIntervalSince1970 * 1e9)

    var uptime: UInt64 { lock.withLock { elapsed } }
    var time: UInt64 { origin + uptime }

    func advance(by duration: Duration) {
        let due = lock.withLock {
            elapsed += Self.nanoseconds(of: duration)
            defer { sleepers.removeAll { $0.end <= elapsed } }
            return sleepers.filter { $0.end <= elapsed }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    func sleep(until end: UInt64) async throws {
        try Task.checkCancellation()
        let id = lock.withLock {
            lastID += 1
            return lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ended = lock.withLock { () -> Result<Void, any Error>? in
                    guard cancelled.remove(id) == nil else { return .failure(CancellationError()) }
                    guard end > elapsed else { return .success(()) }
                    sleepers.append(Sleeper(id: id, end: end, continuation: continuation))
                    return nil
                }
                if let ended { continuation.resume(with: ended) }
            }
        } onCancel: {
            let sleeper = lock.withLock { () -> Sleeper? in
                guard let index = sleepers.firstIndex(where: { $0.id == id }) else {
                    cancelled.insert(id)
                    return nil
                }
                return sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private static func nanoseconds(of duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(max(0, min(seconds, 1 << 30))) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
