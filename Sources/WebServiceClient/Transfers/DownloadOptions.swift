public import Foundation

/// How a file is downloaded.
public struct DownloadOptions: Sendable {
    /// Whether an existing file is replaced, atomically at the end. With `false`, the default, an existing file is an error before any
    /// request is sent.
    public var replacing: Bool
    /// The number of requests that fetch different ranges of the file at the same time, 1 to 16. Default 1.
    ///
    /// Several requests are used only if the server has sent a range and a strong validator, and if the file is large enough: no range is
    /// shorter than 1 MiB.
    public var segments: Int
    /// The digest that the file must have, such as `.sha256("e3b0c442…")`. The server's `Repr-Digest` (RFC 9530) and `Content-MD5` (RFC
    /// 1864) are verified in any case.
    public var checksum: ContentDigest?
    /// Whether and when an interrupted download continues; `nil`, the default, for the policy of the call. The number of attempts and the
    /// total time count from the last progress.
    public var retry: RetryPolicy?

    /// Creates options.
    public init(replacing: Bool = false, segments: Int = 1, checksum: ContentDigest? = nil, retry: RetryPolicy? = nil) {
        self.replacing = replacing
        self.segments = segments
        self.checksum = checksum
        self.retry = retry
    }

    /// - Throws: ``TransferError`` for options that make no sense.
    func check() throws(TransferError) {
        guard (1...DownloadRecord.segmentLimit).contains(segments) else {
            throw TransferError(.unusable, "DownloadOptions.segments is \(segments): use 1 to \(DownloadRecord.segmentLimit).")
        }
        if let checksum, !checksum.isValid {
            throw TransferError(
                .unusable,
                "DownloadOptions.checksum isn't a digest by \(checksum.algorithm): it needs \(2 * checksum.algorithm.length) hexadecimal "
                    + "digits.")
        }
        if let problem = retry?.problems.first {
            throw TransferError(.unusable, "DownloadOptions.retry: \(problem.problem); \(problem.fix).")
        }
    }
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// The file.
    public let file: URL
    /// The number of bytes of the file.
    public let length: Int64
    /// The number of bytes that this download received. It is less than ``length`` if an earlier download had begun, and more if the file
    /// changed in between or the server has no ranges.
    public let received: Int64
    /// The number of requests, without redirects and the retries of single requests.
    public let requests: Int
    /// The reasons why the download began again from the first byte, in order.
    public let restarts: [String]
    /// The header fields of the last response.
    public let headers: HTTPFields
}

/// A download that has begun and isn't complete. The next ``Transfers/download(to:options:progress:isolation:_:)`` to the same destination
/// continues it.
///
///     if let partial = PartialDownload(to: file) { print(partial.completed, "of", partial.total ?? 0) }
public struct PartialDownload: Sendable {
    /// The number of bytes that are in the partial file.
    public let completed: Int64
    /// The length of the whole file; `nil` if it is unknown.
    public let total: Int64?
    /// The URL of the file, with secrets masked.
    public let url: String
    private let destination: URL

    /// Reads the state of a download, even while it runs; `nil` if none has begun, or it can't be continued.
    public init?(to destination: URL) {
        guard let place = try? PartialFile.Place(destination), let found = PartialFile.stored(place) else { return nil }
        completed = found.done
        total = found.length
        url = found.url
        self.destination = destination
    }

    /// Removes the partial file and its record. The next download starts over.
    ///
    /// - Throws: ``TransferError`` if a transfer uses them.
    public func discard() throws(TransferError) { try Self.discard(to: destination) }

    /// Removes the partial file of a destination and its record, if they exist. The next download starts over.
    ///
    /// - Throws: ``TransferError`` if a transfer uses them.
    public static func discard(to destination: URL) throws(TransferError) {
        // This locks the file. The destination may exist.
        try PartialFile(destination, replacing: true).discard()
    }
}
