public import Foundation

/// Transfers of a client that survive interruptions, and the end of the program: ``ServiceClient/transfers``.
///
///     let file = try await github.transfers.download(to: archive) { try await $0.release(id: 7) }
///
/// The closure names the call: it calls one method of the client, which isn't sent. The transfer binds the arguments once, and makes as many
/// requests as it needs. Each passes through the client's whole chain: interceptors, redirects, retries, authentication and the rest.
public struct Transfers<Client: WebServiceClient>: Sendable {
    let client: Client

    /// Downloads a file, and continues an interrupted download of it.
    ///
    ///     let call = github.start { github in
    ///         try await github.transfers.download(to: archive, options: DownloadOptions(segments: 4)) { try await $0.release(id: 7) }
    ///     }
    ///     for await progress in call.downloadProgress { show(progress.fraction) }
    ///     let file = try await call.value
    ///
    /// The bytes go to a partial file beside the destination, with a record of what they are. If the download fails, is cancelled or its
    /// process ends, the next download to the same destination continues: it requests the missing range (RFC 9110 §14), on condition that
    /// the file is unchanged (`If-Range`). A changed file is downloaded anew. ``PartialDownload`` describes and discards partial files.
    ///
    /// A body that is interrupted goes on by the call's ``RetryPolicy``, whose limits count from the last progress. By default a client
    /// retries nothing: then the download ends with the error of its request.
    ///
    /// - Parameters:
    ///   - destination: The file; its folder must exist.
    ///   - options: How the file is downloaded.
    ///   - progress: Called with the number of bytes in the file, in order. It never decreases.
    ///   - isolation: The caller's isolation, which the closure shares.
    ///   - call: Calls a method of the client whose endpoint is a GET.
    /// - Throws: ``ServiceError`` for a failed request; ``TransferError``; `CancellationError`.
    public func download<Result>(
        to destination: URL, options: DownloadOptions = DownloadOptions(), progress: (@Sendable (TransferProgress) -> Void)? = nil,
        isolation: isolated (any Actor)? = #isolation, _ call: (Client) async throws -> Result
    ) async throws -> DownloadedFile {
        try await ResumableDownload(captured(call), to: destination, options, progress: progress).run()
    }

    func captured<Result>(
        isolation: isolated (any Actor)? = #isolation, _ call: (Client) async throws -> Result
    ) async throws -> CapturedCall {
        guard let captured = try await CapturedCall.of(client, call) else {
            throw TransferError(.unusable, "The transfer's closure made no call of its client: call one method in it.")
        }
        return captured
    }
}

extension ServiceClient {
    /// Transfers that survive interruptions: see ``Transfers``.
    public var transfers: Transfers<Self> { Transfers(client: self) }
}

extension ServiceCall {
    /// Downloads a file, and continues an interrupted download of it: see ``Transfers/download(to:options:progress:isolation:_:)``.
    ///
    ///     let file = try await client.http.get("/archives/%%0%%", name).download(to: archive)
    ///
    /// - Throws: ``ServiceError`` for a failed request; ``TransferError``; `CancellationError`.
    public func download(
        to destination: URL, options: DownloadOptions = DownloadOptions(), progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> DownloadedFile {
        try await ResumableDownload(CapturedCall(self), to: destination, options, progress: progress).run()
    }
}
