import Foundation
import WebServiceClient

/// The name of an operation in errors, logs and metrics: its resource without the keys, so that the number of names is small.
struct ODataOperation: Sendable {
    let route: String
    /// The header fields of the request itself.
    var headers = HTTPFields()

    init(_ resource: ResourcePath) {
        route = resource.route
    }

    init(_ query: ODataQuery) {
        route = query.resource.route
        headers = query.options.headers
    }

    /// The preferences of the request itself.
    var preferences: [String] { headers[values: "Prefer"] }

    init(route: String) {
        self.route = route
    }
}

/// The location of a resource's value in the response.
enum ResultPlace: String, Sendable, Codable {
    /// The body is JSON that contains the value.
    case payload
    /// The body is a number as text (Protocol 4.01, section 11.2.10).
    case count
    /// The body is the value itself, in any media type: a raw value, a media stream (Protocol 4.01, sections 11.2.4.1 and 11.1.2) or the
    /// metadata.
    case raw

    /// Creates the place for a URL from the last segment of its path.
    init(_ target: String) {
        // By bytes, because each call asks.
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let slash = UInt8(ascii: "/")
        let end = path.lastIndex { $0 != slash }.map { path.index(after: $0) } ?? path.startIndex
        let start = path[..<end].lastIndex(of: slash).map { path.index(after: $0) } ?? path.startIndex
        switch Substring(path[start..<end]) {
        case "$value", "$metadata": self = .raw
        case "$count": self = .count
        default: self = .payload
        }
    }
}

extension ODataClient {
    /// Returns the relative URL of an operation.
    func printed(
        _ operation: ODataOperation, _ print: (QueryPrinter) throws(ODataQueryError) -> String
    ) throws -> String {
        do throws(ODataQueryError) {
            return try BatchScope.resolved(try print(printer))
        } catch {
            throw self.error(operation, .binding, .query, error.description, cause: error)
        }
    }

    /// The policy for long queries. A request inside a batch may have any length (URL Conventions 4.01, section 4.17).
    var longQueryPolicy: LongQueryPolicy { BatchScope.current == nil ? longQueries : .get }

    /// Returns the call to a printed URL, with a result type.
    func call(_ operation: ODataOperation, to target: String, for result: Any.Type = Void.self) -> ServiceCall {
        let settings = callSettings
        let isInBatch = BatchScope.current != nil
        guard !isInBatch, let (path, options) = settings.longQueries.posted(target, version: settings.version) else {
            return prepared(http.request(encoded: target), settings, operation, ResultPlace(target), for: result)
        }
        let call = http.request(.post, encoded: path).body(Data(options.utf8)).constantHeader(.contentType, "text/plain")
        return prepared(
            call.constantHeader("OData-Version", settings.version.rawValue), settings, operation, .payload, for: result)
    }

    /// Returns the call to a printed URL, with any method.
    func call(
        _ operation: ODataOperation, to target: String, method: ServiceRequest.Method, for result: Any.Type = Void.self,
        at place: ResultPlace? = nil
    ) -> ServiceCall {
        prepared(http.request(method, encoded: target), callSettings, operation, place ?? ResultPlace(target), for: result)
    }

    /// Returns the call to a link of the service.
    func call(
        _ operation: ODataOperation, link: URL, isForeign: Bool, method: ServiceRequest.Method = .get, at place: ResultPlace? = nil
    ) -> ServiceCall {
        let place = place ?? ResultPlace(link.absoluteString)
        guard isForeign else { return prepared(http.request(method, link: link), callSettings, operation, place) }
        // The request's headers are meant for its own service, not for another origin.
        var anonymous = operation
        anonymous.headers = HTTPFields(operation.headers.filter { $0.name == "Prefer" })
        return prepared(http.request(method, outside: link), callSettings, anonymous, place)
    }

    /// Returns the call for a page, with the preferred page size.
    func paged(_ call: ServiceCall, _ operation: ODataOperation) -> ServiceCall {
        let isGiven = operation.preferences.contains { $0.lowercased().contains("maxpagesize") }
        guard let size = maxPageSize, size > 0, printer.version != .v2, !isGiven else { return call }
        let preference = printer.version > .v4 ? "maxpagesize=\(size)" : "odata.maxpagesize=\(size)"
        return preferring(call, operation.preferences, behind: preference)
    }

    /// Adds preferences to the client's own: before them, since the first of two equal preferences applies (RFC 7240 §2), or, for `last`,
    /// after them.
    func preferring(_ call: ServiceCall, _ preferences: [String], behind last: String? = nil) -> ServiceCall {
        guard !preferences.isEmpty || last != nil else { return call }
        return call.prepare { request in
            // The request for a token isn't the call's own: with `respond-async`, its answer would be 202 without a token.
            if CSRFToken.isFetched(by: request) { return }
            // One field line: some services read only one of several.
            let all = preferences + request.headers[values: "Prefer"] + [last].compactMap { $0 }
            request.headers["Prefer"] = all.joined(separator: ", ")
        }
    }

    /// Returns the call with the settings of the client and the request. It is named by the operation, so that calls which differ only in
    /// their URLs are compiled once.
    private func prepared(
        _ call: ServiceCall, _ settings: CallSettings, _ operation: ODataOperation, _ place: ResultPlace,
        for result: any Any.Type = Void.self
    ) -> ServiceCall {
        var call = settings.applied(to: call.named(operation.route, route: operation.route), place, for: result)
        call = preferring(call, operation.preferences)
        for field in operation.headers where field.name != "Prefer" { call = call.header(field.name, operation.headers[field.name]) }
        return call
    }

    /// Returns the service's root, the base of relative links: with a trailing slash and without a query.
    func rootURL(_ operation: ODataOperation) throws -> URL {
        let url = try call(operation, to: "").url()
        let path = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
        return path.hasSuffix("/") ? url : URL(string: path + "/") ?? url
    }

    /// The root that relative links without a context are relative to in version 2, as in its Atom payloads (`xml:base`); `nil` in later
    /// versions, whose links are relative to the payload's URL.
    var linkRoot: URL? { printer.version == .v2 ? try? rootURL(ODataOperation(route: "link")) : nil }

    /// Returns an error of an operation outside of its exchange.
    func error(
        _ operation: ODataOperation, _ stage: ServiceError.Stage, _ kind: ServiceError.Kind, _ message: String, cause: (any Error)? = nil,
        response: ResponseSummary? = nil
    ) -> ServiceError {
        let identity = CallIdentity(client: String(describing: type(of: self)), key: operation.route, route: operation.route)
        return ServiceError(call: identity, stage: stage, kind: kind, message: message, response: response, cause: cause)
    }
}
