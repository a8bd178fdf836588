import Foundation
import WebServiceClient

// How many entities there are, without the entities.
extension ODataClient {
    /// The number of entities that match a query's filter and search, whatever its other options say; the service counts (`/$count`).
    ///
    /// Where a service doesn't know `/$count`, ask for ``QueryBuilding/count()`` and take it from the first ``page(_:)``. A query that is too
    /// long for a URL, as ``longQueries`` says, is posted so, for a page without entities.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func count<Entity>(of request: FetchRequest<Entity>) async throws -> Int64 {
        let counted = FetchRequest<Entity>(counting: request)
        let operation = ODataOperation(counted.query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try counted.relativeURL(using: printer) }
        if longQueries.isExceeded(by: target, version: printer.version) { return try await countByPage(request) }
        let response: ServiceResponse<String> = try await self.response(call(operation, to: target, for: String.self), operation)
        // Some services begin with a byte order mark.
        let text = response.value.filter { !$0.isWhitespace && $0 != "\u{FEFF}" }
        guard let count = Int64(text), count >= 0 else {
            throw error(
                operation, .decoding, .decoding, "The service's count is no whole number: '\(text.prefix(40))'.",
                response: ResponseSummary(of: response, body: Data(response.value.utf8)))
        }
        return count
    }

    /// Nothing can be posted to `/$count`.
    private func countByPage<Entity>(_ request: FetchRequest<Entity>) async throws -> Int64 {
        let counted = FetchRequest<DynamicEntity>(countingByPage: request)
        guard let count = try await page(counted).count else {
            throw error(
                ODataOperation(counted.resource), .decoding, .decoding, "The service's page has no count, although it was asked for.")
        }
        return count
    }
}

extension FetchRequest {
    /// The request for the number of what another one matches.
    init(counting other: FetchRequest) {
        self.init(resource: other.resource.appending(.count))
        options = other.options
        keepMatching()
    }

    /// The same as a page that has the number and nothing else.
    init<Other>(countingByPage other: FetchRequest<Other>) {
        self.init(resource: other.resource)
        options = other.options
        keepMatching()
        options.top = 0
        options.includesCount = true
    }

    /// Keeps of the options what says which entities are meant.
    private mutating func keepMatching() {
        options.selection = .all
        options.expansions = []
        options.order = []
        options.top = nil
        options.skip = nil
        options.includesCount = false
        options.levels = nil
        options.index = nil
    }
}
