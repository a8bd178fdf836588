/// Collects the progress of a call's transfers over all its attempts.
///
/// An attempt begins at zero again; only progress beyond that of the attempts before it is passed on, so that it never decreases.
final class CallProgress: Sendable {
    /// The direction of a transfer.
    enum Direction: Int, Sendable {
        case upload
        case download
    }

    private let last = Locked<(upload: TransferProgress?, download: TransferProgress?)>((nil, nil))
    private let report: @Sendable (Direction, TransferProgress) -> Void

    /// - Parameter report: Receives the progress in order. It must return at once.
    init(_ report: @escaping @Sendable (Direction, TransferProgress) -> Void) {
        self.report = report
    }

    /// The same request with its progress reported here as well.
    func observing(_ request: ServiceRequest) -> ServiceRequest {
        var request = request
        let (upload, download) = (request.uploadProgress, request.downloadProgress)
        if request.body != nil {
            request.uploadProgress = { progress in
                upload?(progress)
                self.note(progress, of: .upload)
            }
        }
        request.downloadProgress = { progress in
            download?(progress)
            self.note(progress, of: .download)
        }
        return request
    }

    /// Passes progress on if it exceeds what was reported before, or if the total has become known.
    func note(_ progress: TransferProgress, of direction: Direction) {
        var progress = progress
        // The length of another attempt's body can be smaller than what was already transferred.
        if let total = progress.total, total < progress.completed { progress.total = nil }
        let isNews = last.withLock { last in
            let before = direction == .upload ? last.upload : last.download
            if let before, progress.completed < before.completed || progress == before { return false }
            if direction == .upload { last.upload = progress } else { last.download = progress }
            return true
        }
        if isNews { report(direction, progress) }
    }
}
