public import Foundation
public import WebServiceClient

// Upload sessions of Microsoft Graph, for files that are too large for a single request.
extension ODataClient {
    /// Uploads a file in pieces, by a session that an action creates, and continues an interrupted upload
    /// (``/WebServiceClient/ServiceCall/upload(_:by:options:progress:as:)``).
    ///
    ///     let item = try await graph.upload(
    ///         video, inSessionOf: ODataQuery(folder.action("createUploadSession")),
    ///         ["item": ["@microsoft.graph.conflictBehavior": "rename"] as DynamicEntity], as: DriveItem.self)
    ///
    /// The service's answer to the action contains the `uploadUrl`. The pieces are sent there in order, each with its `Content-Range`, and
    /// without credentials, because the URL is signed and usually on another origin. After an interruption the upload asks this URL which
    /// bytes are missing. With ``/WebServiceClient/UploadOptions/sessionFile`` it continues after a restart of the program.
    ///
    /// - Parameters:
    ///   - file: The file, which must not be empty; use ``setContent(of:to:contentType:if:)`` for an empty file.
    ///   - action: The action that creates the session.
    ///   - parameters: The parameters of the action, by name.
    ///   - type: The type of the entity that the upload creates or replaces.
    ///   - pieces: The number of bytes of a piece, a multiple of 327,680 and less than 60 MiB.
    ///   - options: How the upload continues.
    ///   - progress: Called with the number of bytes sent, in order.
    /// - Returns: The entity, or only its location if the service doesn't send it.
    /// - Throws: `ServiceError`; `TransferError`; `CancellationError`.
    public func upload<Entity: Decodable & Sendable>(
        _ file: URL, inSessionOf action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:],
        as type: Entity.Type, pieces: Int = 10 << 20, options: UploadOptions = UploadOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> WriteResult<Entity> {
        let operation = try operation(action, parameters, .none)
        do {
            return WriteResult(
                try await call(operation).upload(
                    file, by: .oneDrive(pieces: pieces), options: options, progress: progress, as: ODataEntity<Entity>?.self))
        } catch {
            throw Self.withErrorBody(error)
        }
    }
}
