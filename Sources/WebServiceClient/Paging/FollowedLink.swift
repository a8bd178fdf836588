public import Foundation

/// Sends one call to a link.
private struct FollowedLink: CallTurn {
    let url: URL

    func changed(
        _ bound: Dispatcher.BoundRequest, _ attributes: EndpointAttributes, allowedOrigins: Set<Origin>
    ) throws -> Dispatcher.BoundRequest {
        guard let origin = Origin(url) else { throw PagingError.malformedLink(url.absoluteString) }
        guard origin == bound.origin || allowedOrigins.contains(origin), !bound.isForeign else {
            throw PagingError.foreignOrigin(origin.description, service: bound.origin?.description ?? "the service's origin")
        }
        var bound = bound
        bound.request.url = url
        return bound
    }

    func note(_ body: Data, by reader: ResponseReader) {}
}

extension ServiceClient {
    /// Sends the first call that a closure makes with this client to a link from one of the service's responses. The call keeps all
    /// settings of its endpoint: headers, decoding, error handler and attributes. The link replaces only the URL, including the query.
    ///
    ///     let page = try await github.request(link: next) { try await $0.issues(owner: "swiftlang", name: "swift") }
    ///
    /// A link to another origin than the service's is an error, because a response must not decide where credentials go.
    ///
    /// - Parameters:
    ///   - link: The absolute URL.
    ///   - isolation: The caller's isolation, which the closure shares.
    ///   - body: Makes the call.
    public func request<Result>(
        link: URL, isolation: isolated (any Actor)? = #isolation, _ body: (Self) async throws -> Result
    ) async rethrows -> Result {
        let attributes = CallAttributes(client: self, [OfferedTurn(FollowedLink(url: link))])
        return try await CallAttributes.$current.withValue(attributes) { try await body(self) }
    }
}
