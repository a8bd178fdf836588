import Foundation

/// Tells of a response body's arrival while it is read, and once more at its end where the total wasn't known.
final class DownloadMeter: Sendable {
    private let total: Int64?
    private let report: @Sendable (TransferProgress) -> Void
    private let state = Locked((completed: Int64(0), isFinished: false))

    /// A meter for a body of that length, if it is known.
    init(total: Int64?, report: @escaping @Sendable (TransferProgress) -> Void) {
        self.total = total
        self.report = report
    }

    /// A piece was read, or the end.
    func passed(_ piece: Data?) {
        let progress: TransferProgress? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.completed += Int64(piece?.count ?? 0)
            state.isFinished = piece == nil || state.completed == total
            return TransferProgress(completed: state.completed, total: state.isFinished ? state.completed : total)
        }
        if let progress { report(progress) }
    }
}
