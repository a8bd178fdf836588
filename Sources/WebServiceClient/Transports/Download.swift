public import Foundation

extension TransportResponse {
    /// Writes the body to a file while it arrives; see ``ResponseBody/write(to:replacing:progress:)``.
    ///
    /// The status is the caller's to check: the body of a 404 is written as well.
    @discardableResult
    public func write(
        to destination: URL, replacing: Bool = false, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Int64 {
        try await body.write(to: destination, replacing: replacing, progress: progress)
    }
}

extension ResponseBody {
    /// Writes the body to a file while it arrives.
    ///
    /// The bytes go to a temporary file in the destination's folder, which takes the destination's place in one step when the last byte is
    /// there. When anything fails, or the task is cancelled, that file is removed and the destination is what it was.
    ///
    /// - Parameters:
    ///   - destination: the file; its folder must exist.
    ///   - replacing: whether a file that is there already is replaced. Otherwise it is refused, before anything of the body is read.
    ///   - progress: told of the bytes written, in order.
    /// - Returns: the number of bytes written.
    /// - Throws: ``DownloadError``, `CancellationError`, and what the transfer throws when it breaks.
    @discardableResult
    public func write(
        to destination: URL, replacing: Bool = false, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Int64 {
        let file = try DownloadFile(destination: destination, replacing: replacing)
        let meter = progress.map { DownloadMeter(total: expectedLength, report: $0) }
        do {
            var written: Int64 = 0
            for try await piece in self {
                try file.write(piece)
                written += Int64(piece.count)
                meter?.passed(piece)
            }
            try Task.checkCancellation()
            try file.moveInPlace()
            meter?.passed(nil)
            return written
        } catch {
            file.discard()
            cancel()
            throw error
        }
    }
}
