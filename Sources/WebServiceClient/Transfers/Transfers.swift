public import Foundation

/// Transfers of a client that continue after interruptions and restarts of the program: ``ServiceClient/transfers``.
///
///     let file = try await github.transfers.download(to: archive) { try await $0.release(id: 7) }
///
/// The closure calls one method of the client. This call isn't sent itself: the transfer binds its arguments once, and makes as many
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
    /// The bytes go to a partial file in the destination's folder, with a record that describes them. If the download fails, is cancelled
    /// or its process ends, the next download to the same destination continues: it requests the missing range (RFC 9110 §14), on condition
    /// that the file is unchanged (`If-Range`). A changed file is downloaded from the beginning. ``PartialDownload`` describes and discards
    /// partial files.
    ///
    /// The call's ``RetryPolicy`` decides whether an interrupted body is continued; its limits count from the last progress. By default a
    /// client retries nothing: then the download throws the error of its request.
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

    /// Uploads a file in pieces, and continues an interrupted upload of it.
    ///
    ///     let video = try await drive.transfers.upload(file, by: .google, options: UploadOptions(sessionFile: kept)) {
    ///         try await $0.create(metadata)
    ///     }
    ///     print(video.value.id)
    ///
    /// The closure's call creates the session on the server; the pieces are sent to the URL in its response. After an interruption the
    /// upload asks the server for its position, and sends the rest. With ``UploadOptions/sessionFile`` or ``UploadOptions/session`` it
    /// continues after a restart of the program; then the closure's call isn't sent, unless the session has ended.
    ///
    /// Pieces carry the client's credentials if the session is on the service's origin, or on one of
    /// ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``; OneDrive's never do.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - rules: The service's protocol.
    ///   - options: How the upload continues.
    ///   - progress: Called with the number of bytes sent, in order. It never decreases.
    ///   - isolation: The caller's isolation, which the closure shares.
    ///   - call: Calls the method of the client that creates the session.
    /// - Returns: The response to the last piece, decoded as the method's value; its ``ServiceResponse/url`` is the session's.
    /// - Throws: ``ServiceError`` for a failed request; ``TransferError``; `CancellationError`.
    public func upload<Value: Decodable>(
        _ file: URL, by rules: UploadProtocol, options: UploadOptions = UploadOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil, isolation: isolated (any Actor)? = #isolation,
        _ call: (Client) async throws -> Value
    ) async throws -> ServiceResponse<Value> {
        let creation = try await captured(call)
        let end = try await ResumableUpload(client, creation, of: file, by: rules, options, progress: progress).run()
        return try await end.response(of: creation)
    }

    /// Uploads a file in pieces by a method without a value, as tus creates uploads. See ``upload(_:by:options:progress:isolation:_:)``.
    ///
    /// - Throws: ``ServiceError`` for a failed request; ``TransferError``; `CancellationError`.
    @discardableResult
    public func upload(
        _ file: URL, by rules: UploadProtocol, options: UploadOptions = UploadOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil, isolation: isolated (any Actor)? = #isolation,
        _ call: (Client) async throws -> Void
    ) async throws -> ServiceResponse<NoContent> {
        let creation = try await captured(call)
        let end = try await ResumableUpload(client, creation, of: file, by: rules, options, progress: progress).run()
        return try await end.response(of: creation)
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
    /// Transfers that continue after interruptions: see ``Transfers``.
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

extension ServiceCall {
    /// Uploads a file in pieces; the call creates the session. See ``Transfers/upload(_:by:options:progress:isolation:_:)``.
    ///
    ///     try await client.http.post("/files").upload(video, by: .tus)
    ///
    /// - Throws: ``ServiceError`` for a failed request; ``TransferError``; `CancellationError`.
    @discardableResult
    public func upload<Value: Decodable>(
        _ file: URL, by rules: UploadProtocol, options: UploadOptions = UploadOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil, as type: Value.Type = NoContent.self
    ) async throws -> ServiceResponse<Value> {
        let creation = try CapturedCall(self)
        let end = try await ResumableUpload(client, creation, of: file, by: rules, options, progress: progress).run()
        return try await end.response(of: creation)
    }
}
