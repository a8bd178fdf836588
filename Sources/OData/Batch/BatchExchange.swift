import Foundation
import WebServiceClient

/// The exchange of one batch, which returns verdicts while the answer arrives.
///
/// A class, because a value would be copied with the readers' buffers.
final class BatchExchange {
    private var source: BatchSource
    private var reader: any BatchAnswerReading
    private var matcher: BatchMatcher
    private var chunks: ResponseBody.Iterator
    private var chunk = Data()
    private var ready: ArraySlice<(number: Int, verdict: BatchVerdict)> = []
    private var hasFed = false
    private var isOver = false
    private let client: ODataClient
    private let operation: ODataOperation
    /// Opens the rest of an answer that continues at a link.
    private let follow: (String, URL) async throws -> BatchSource
    /// The matcher's progress when the last link was followed: links without responses to further requests would never end.
    private var progressAtLink = -1

    init(
        _ source: BatchSource, _ matcher: BatchMatcher, client: ODataClient, operation: ODataOperation,
        follow: @escaping (String, URL) async throws -> BatchSource
    ) throws {
        self.source = source
        self.matcher = matcher
        self.client = client
        self.operation = operation
        self.follow = follow
        reader = try Self.reader(of: source, client, operation)
        chunks = source.response.value.makeAsyncIterator()
    }

    /// The reader for the answer's media type.
    private static func reader(
        of source: BatchSource, _ client: ODataClient, _ operation: ODataOperation
    ) throws -> any BatchAnswerReading {
        let type = source.mediaType
        do {
            if let type, type.type == "multipart" {
                return MultipartBatchReader(boundary: try type.multipartBoundary(), limit: source.errors.bodyLimit)
            }
            if let type, type.subtype == "json" || type.suffix == "json" { return JSONBatchReader(limit: source.errors.bodyLimit) }
        } catch {
            throw client.error(
                operation, .decoding, .format, ServiceError.text(of: error), cause: error, response: ResponseSummary(of: source.response))
        }
        source.response.value.cancel()
        throw client.error(
            operation, .decoding, .format,
            "The answer to the batch is \(type?.essence ?? "without a type"), neither multipart/mixed nor JSON: does the service support "
                + "batches, and this format (batching.format)?", response: ResponseSummary(of: source.response))
    }

    /// Returns the next verdict; `nil` when every request has one.
    ///
    /// - Throws: `CancellationError`; `ServiceError` if the call was cancelled, or if the answer is the service's error and has no
    ///   responses. Other failures are verdicts of the requests that have no response.
    func next() async throws -> (number: Int, verdict: BatchVerdict)? {
        while true {
            if let first = ready.popFirst() { return first }
            if isOver { return nil }
            do {
                if let step = try reader.next() {
                    ready = matcher.take(step)[...]
                } else if hasFed {
                    try await finish()
                } else {
                    try await feed()
                }
            } catch let body as ODataErrorBody where matcher.progress == 0 {
                isOver = true
                throw refusal(body)
            } catch {
                let reason = source.errors.receiving(error)
                if Task.isCancelled { throw CancellationError() }
                if let error = reason as? ServiceError, error.kind == .cancelled { throw error }
                end(cut: "the answer can't be read further: \(ServiceError.text(of: error))")
            }
        }
    }

    /// Returns the error of an answer that is the service's error although its status is a success.
    private func refusal(_ body: ODataErrorBody) -> ServiceError {
        var error = client.error(
            operation, .decoding, .refused, "The service answered the whole batch with an error: \(body.description)", cause: body,
            response: ResponseSummary(of: source.response))
        error.errorBody = body
        return error
    }

    private func feed() async throws {
        if chunk.isEmpty {
            guard let next = try await chunks.next() else {
                hasFed = true
                reader.finish()
                return
            }
            chunk = next
        }
        let piece = chunk.prefix(1 << 16)
        chunk = chunk.dropFirst(piece.count)
        try reader.feed(piece)
    }

    /// Ends the answer, or continues at its link.
    private func finish() async throws {
        do {
            try source.checkEnd()
        } catch {
            return end(cut: ServiceError.text(of: error))
        }
        guard let link = try reader.nextLink() else { return end(cut: nil) }
        guard matcher.progress > progressAtLink else { return end(cut: "the answer continues at a link without further responses") }
        progressAtLink = matcher.progress
        source = try await follow(link, source.response.url)
        reader = JSONBatchReader(limit: source.errors.bodyLimit)
        chunks = source.response.value.makeAsyncIterator()
        chunk = Data()
        hasFed = false
    }

    private func end(cut: String?) {
        isOver = true
        source.response.value.cancel()
        ready = matcher.end(cut: cut)[...]
    }
}
