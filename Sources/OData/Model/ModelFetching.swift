import Foundation
public import ODataMetadata
import WebServiceClient

extension ODataClient {
    /// Returns the model of the service, as its `$metadata` document describes it (Protocol 4.01, section 11.1.2).
    ///
    /// The document is requested in CSDL XML, or in CSDL JSON if the service supports only that. It is fetched once: concurrent calls share
    /// the exchange and the model, and later calls return the same model. Revalidation sends `If-None-Match`, or `If-Modified-Since` if the
    /// service sent no entity tag; an unchanged document isn't sent or read again. The client keeps the model for its lifetime, for each
    /// service root and options.
    ///
    /// Documents that the metadata refers to aren't fetched, so their types are known by name only. `ServiceModel.diagnostics` contains
    /// what the reader repaired. Metadata can depend on the user's rights and language; revalidate the model after these change.
    ///
    /// - Parameters:
    ///   - freshness: Whether the client asks the service for changes of a model that it already has.
    ///   - options: Options of the request, such as `$schemaversion`, or the custom option `annotations=true` of Dataverse.
    /// - Throws: `ServiceError`; its cause is `ServiceModelError` if the document can't be read. `CancellationError` when the task was
    ///   cancelled. The client then keeps the model that it has.
    public func model(_ freshness: ModelFreshness = .cached, options: QueryOptions = QueryOptions()) async throws -> ServiceModel {
        let query = ODataQuery(ResourcePath(segments: [.metadata]), options: options)
        let operation = ODataOperation(query)
        let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(query) }
        let plain = call(operation, to: target, method: .get, for: Data?.self, at: .raw)
        return try await models.model(of: plain.url().absoluteString, freshness) { known in
            try await self.fetchModel(plain, operation, known)
        }
    }

    /// Fetches the metadata document, unless it is unchanged.
    private func fetchModel(
        _ plain: ServiceCall, _ operation: ODataOperation, _ known: ModelCache.Entry?
    ) async throws -> ModelCache.Entry {
        var call = plain.constantHeader(.accept, Self.metadataTypes)
        if printer.version != .v2 {
            // The document states the latest version that the service supports only if the client supports that version too.
            call = call.constantHeader("OData-MaxVersion", ODataVersion.v401.rawValue)
        }
        if let etag = known?.etag {
            call = call.header("If-None-Match", etag)
        } else if let date = known?.lastModified {
            call = call.header("If-Modified-Since", date)
        }
        let response: ServiceResponse<Data?> = try await self.response(call, operation, for: .readingIfChanged)
        if response.status == 304, let known { return known }
        guard let body = response.value else {
            throw error(
                operation, .decoding, .emptyBody,
                "The service answered with status \(response.status) and without a metadata document.",
                response: ResponseSummary(of: response))
        }
        do {
            return ModelCache.Entry(
                model: try ServiceModel(data: body), etag: response.headers["ETag"], lastModified: response.headers["Last-Modified"])
        } catch {
            throw self.error(
                operation, .decoding, .decoding,
                "The metadata document at \(NextLink.shown(response.url)) can't be read: \(error)", cause: error,
                response: ResponseSummary(of: response))
        }
    }

    /// XML first, because JSON is optional for services.
    private static let metadataTypes = "application/xml, application/json;q=0.9"

    /// Fetches the service document: the entity sets, singletons and function imports at the service's root.
    ///
    /// ``model(_:options:)`` also contains their types. A service may list fewer resources than its metadata.
    ///
    /// - Throws: `ServiceError`, also if the payload isn't a service document, or `CancellationError` when the task was cancelled.
    public func serviceDocument() async throws -> ServiceDocument {
        let operation = ODataOperation(route: "ServiceDocument")
        let root = try rootURL(operation)
        let response: ServiceResponse<DynamicEntity> = try await self.response(
            call(operation, link: root, isForeign: false), operation)
        do {
            return try ServiceDocument(response.value, url: root)
        } catch {
            throw self.error(
                operation, .decoding, .decoding, "The answer at \(NextLink.shown(response.url)) isn't a service document.", cause: error,
                response: ResponseSummary(of: response))
        }
    }
}
