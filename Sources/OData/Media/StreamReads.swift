public import Foundation
public import WebServiceClient

/// The bytes of a stream, or a range of them.
public struct StreamContent: Sendable {
    /// The bytes.
    public let data: Data
    /// The media type, such as `image/jpeg`; `nil` if the service didn't send one.
    public let contentType: String?
    /// The version of the whole stream, for conditional requests; `nil` if the service didn't send one.
    public let etag: String?
    /// The position of the first byte in the stream: 0 unless a range was read.
    public let offset: Int64
    /// The number of bytes of the whole stream; `nil` if the service doesn't know it.
    public let length: Int64?
    /// The header fields of the response, such as `Content-Disposition` with the name of a file.
    public let headers: HTTPFields

    fileprivate init(_ data: Data, _ headers: HTTPFields, offset: Int64 = 0, of length: Int64?) {
        self.data = data
        contentType = headers[.contentType]
        etag = headers["ETag"]
        self.headers = headers
        self.offset = offset
        self.length = length
    }
}

// The bytes of media entities and stream properties (Protocol, sections 11.2.4.1 and 11.1.2).
extension ODataClient {
    /// Returns the bytes of a stream.
    ///
    ///     let photo = try await client.content(of: StreamReference(\.photo, of: client.users.key("ada")))
    ///
    /// The bytes are in memory as a whole, so the limit for bodies applies. For larger streams use ``openContent(of:)`` or
    /// ``download(_:to:options:progress:)``.
    ///
    /// - Throws: `ServiceError`, also when the stream is null (204) or missing (404), or `CancellationError` when the task was cancelled.
    public func content(of stream: StreamReference) async throws -> StreamContent {
        guard let content = try await content(of: stream, unlessVersion: nil) else {
            throw error(
                stream.operation, .decoding, .emptyBody,
                "The stream is null (204): it has no bytes. If that is valid, use contentIfPresent(of:).")
        }
        return content
    }

    /// Returns the bytes of a stream, or `nil` if it is null (204) or missing (404).
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func contentIfPresent(of stream: StreamReference) async throws -> StreamContent? {
        try await ifPresent(unlessMissing: true) { try await self.content(of: stream, unlessVersion: nil) } ?? nil
    }

    /// Returns the bytes of a stream if they have another version than the given one, or `nil` if they are unchanged (`If-None-Match`) or
    /// the stream is null.
    ///
    /// - Parameter etag: The known version: ``StreamContent/etag`` or ``EdmStream/etag``. `nil` reads the stream in any case.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func content(of stream: StreamReference, unlessVersion etag: String?) async throws -> StreamContent? {
        var call = try reading(stream)
        if let etag { call = call.header("If-None-Match", etag) }
        let response: ServiceResponse<Data?> = try await self.response(call, stream.operation, for: .readingBytes)
        switch response.status {
        case 204, 304: return nil
        case 206: throw error(stream.operation, response, "The service answered with a part of the stream (206), which wasn't requested.")
        default:
            let data = response.value ?? Data()
            return StreamContent(data, response.headers, of: Int64(data.count))
        }
    }

    /// Returns a range of a stream's bytes (`Range`: RFC 9110, section 14.2). Positions begin at 0. The result is shorter than the range if
    /// the stream ends within it.
    ///
    /// If the reference has a version, the service must still have it; otherwise the error has the status 412. Services that don't support
    /// ranges send the whole stream, which is in memory until the range is cut out of it.
    ///
    /// - Throws: `ServiceError`, with the status 416 for a range after the end, or `CancellationError` when the task was cancelled.
    public func content(of stream: StreamReference, in range: Range<Int64>) async throws -> StreamContent {
        let operation = stream.operation
        guard range.lowerBound >= 0, !range.isEmpty else {
            throw error(operation, .binding, .encoding, "The range \(range) has no bytes of a stream: give positions from 0 on.")
        }
        var call = try reading(stream).header("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
        // A range of compressed bytes can't be decompressed.
        call = call.header("Accept-Encoding", "identity")
        if let etag = stream.etag { call = call.header("If-Match", etag) }
        let response: ServiceResponse<Data?> = try await self.response(call, operation, for: .readingBytes)
        let data = response.value ?? Data()
        switch response.status {
        case 206:
            guard let part = ContentRange(response.headers["Content-Range"]), let bytes = part.bytes, bytes.lowerBound == range.lowerBound,
                bytes.upperBound < range.upperBound, part.count == Int64(data.count)
            else { throw error(operation, response, "The service answered with another range than the requested one.") }
            return StreamContent(data, response.headers, offset: range.lowerBound, of: part.total)
        case 204, 304:
            throw error(operation, response, "The service answered with status \(response.status) and without bytes.")
        default:
            let length = Int64(data.count)
            guard range.lowerBound < length else {
                throw error(operation, response, "The range begins after the end of the stream, which has \(length) bytes.")
            }
            let part = data.dropFirst(Int(range.lowerBound)).prefix(Int(min(range.upperBound, length) - range.lowerBound))
            return StreamContent(Data(part), response.headers, offset: range.lowerBound, of: length)
        }
    }

    /// Opens a stream whose bytes are read while they arrive, in constant memory.
    ///
    ///     let video = try await client.openContent(of: reference)
    ///     for try await piece in video.value { player.append(piece) }
    ///
    /// - Returns: The response, with the media type and the entity tag in its header fields.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled. Reading the bytes throws the same errors.
    public func openContent(of stream: StreamReference) async throws -> ServiceResponse<ResponseBody> {
        let operation = stream.operation
        do {
            let response = try await reading(stream).stream()
            do {
                try check(
                    response.status, for: .reading, operation, response: ResponseSummary(of: response),
                    url: response.url.absoluteString, location: response.headers[.location])
                try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
                return response
            } catch {
                response.value.cancel()
                throw error
            }
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// Downloads a stream to a file, and continues an interrupted download of it, also after a restart of the program
    /// (``/WebServiceClient/ServiceCall/download(to:options:progress:)``).
    ///
    /// - Parameters:
    ///   - destination: The file; its folder must exist.
    ///   - options: How the file is downloaded.
    ///   - progress: Called with the number of bytes in the file, in order.
    /// - Throws: `ServiceError`; `TransferError`; `CancellationError`.
    public func download(
        _ stream: StreamReference, to destination: URL, options: DownloadOptions = DownloadOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> DownloadedFile {
        do {
            return try await reading(stream).download(to: destination, options: options, progress: progress)
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    private func error(_ operation: ODataOperation, _ response: ServiceResponse<Data?>, _ message: String) -> ServiceError {
        error(operation, .status, .status, message, response: ResponseSummary(of: response))
    }
}
