import Foundation

/// The key by which a server recognizes the repeats of a request, so that it performs the operation once. The field is described in
/// draft-ietf-httpapi-idempotency-key-header.
///
///     "pay(order:)": .post("/payments").idempotencyKey()
///     try await client.with(.idempotencyKey("order-7")) { try await $0.pay(order) }
///
/// Each call has one key, the same in all attempts and in redirects within the service's origin. It isn't sent to other origins. Requests
/// with safe methods, such as GET, have none. Set it only for services that honor keys: a policy with
/// ``RetryPolicy/UnsafeMethods/withIdempotencyKey`` repeats each POST that has one.
///
/// A key isn't secret. ``RequestSummary/idempotencyKey`` of an error has it, so that the program can repeat the call later.
public struct IdempotencyKey: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// How the field contains the key.
    public enum Format: String, Sendable, Hashable, Codable, CaseIterable {
        /// Without quotes. Most services, which are older than the draft, expect this form.
        case bare
        /// As a string of structured fields, in quotation marks (RFC 9651 §3.3.3), as the draft requires.
        case quoted
    }

    /// The field's name. Default `Idempotency-Key`.
    public var name: HTTPFields.Name
    /// How the field contains the key. Default ``Format/bare``.
    public var format: Format

    /// Creates the rule for an endpoint's keys. A key is generated, a random UUID, if the call doesn't have one.
    public init(named name: HTTPFields.Name = "Idempotency-Key", format: Format = .bare) {
        self.name = name
        self.format = format
    }

    /// The field's name and format.
    public var description: String { "idempotency key in \(name.rawName)\(format == .quoted ? ", quoted" : "")" }

    package static let firstWords = ["idempotency"]

    package init?(described text: String) {
        guard let rest = text.inside("idempotency key in ", "") else { return nil }
        let quoted = rest.inside("", ", quoted")
        self.init(named: HTTPFields.Name(String(quoted ?? rest)), format: quoted == nil ? .bare : .quoted)
        // Other names may contain the mark of a format.
        guard name.isValid else { return nil }
    }

    /// A profile can't choose the field, because it could change one that has another meaning.
    package var leastTrustedSource: AttributeSource { name == Self().name ? .profile : .exportedTable }

    /// The key of one call.
    public struct Given: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
        /// The key.
        public let key: String

        /// Creates the key of a call: 1 to 255 printable ASCII characters.
        public init(_ key: String) {
            self.key = key
        }

        /// The key.
        public var description: String { "idempotency key \(VisibleText.of(key))" }

        /// A key belongs to one call, so a stored call contains it. A table that contained it would give all calls the same.
        package static let firstWords: [String] = []
        package init?(described text: String) { nil }
    }

    /// The fault of the rule with its fix.
    var problem: (problem: String, fix: String)? {
        let isTaken = HeaderRules.standard.travels(name) || [.authorization, .proxyAuthorization, .cookie, .host].contains(name)
        guard isTaken || !name.isValid else { return nil }
        return (
            "\"\(name.rawName)\" can't be the field of an idempotency key",
            "use the name that the service documents, such as Idempotency-Key"
        )
    }

    /// Returns a field's value for a key.
    ///
    /// - Throws: ``InvalidRequest`` if the key isn't 1 to 255 printable ASCII characters.
    func value(_ key: String) throws -> String {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }),
            key.utf8.first != UInt8(ascii: " "), key.utf8.last != UInt8(ascii: " ")
        else {
            throw InvalidRequest(
                message: "The idempotency key for \(name.rawName) is invalid: it must have 1 to 255 printable ASCII characters, and no "
                    + "space at its ends.")
        }
        guard format == .quoted, !Self.isQuoted(key) else { return key }
        return "\"" + key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func isQuoted(_ key: String) -> Bool {
        key.utf8.count > 1 && key.utf8.first == UInt8(ascii: "\"") && key.utf8.last == UInt8(ascii: "\"")
    }

    /// Whether a request has a key, in the field of its endpoint's rule.
    static func isPresent(in request: ServiceRequest, _ attributes: EndpointAttributes) -> Bool {
        request.headers.contains(attributes[IdempotencyKey.self]?.name ?? "Idempotency-Key")
    }
}

extension EndpointAttribute where Self == IdempotencyKey {
    /// A generated key for each call.
    public static func idempotencyKey(named name: HTTPFields.Name = "Idempotency-Key", format: IdempotencyKey.Format = .bare) -> Self {
        IdempotencyKey(named: name, format: format)
    }
}

extension EndpointAttribute where Self == IdempotencyKey.Given {
    /// The key of one call. If a closure makes several calls, they must be repeats of one request: the server takes them for that.
    public static func idempotencyKey(_ key: String) -> Self { IdempotencyKey.Given(key) }
}

/// The stage that gives a call its idempotency key, before redirects and retries, so that all requests of the call have the same.
struct IdempotencyKeys: Interceptor {
    let boundary: OriginBoundary
    /// Makes a key.
    var generate: @Sendable () -> String = { UUID().uuidString.lowercased() }

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let isWithout = context.attributes.isEmpty || request.method.isSafe
        // A single call site for `next`, so that later stages can be inlined.
        return try await next(isWithout ? request : try keyed(request, context), context)
    }

    private func keyed(_ request: ServiceRequest, _ context: CallContext) throws -> ServiceRequest {
        let rule = context.attributes[IdempotencyKey.self]
        let given = context.attributes[IdempotencyKey.Given.self]
        guard rule != nil || given != nil, mayHaveKey(request, context) else { return request }
        let field = rule ?? IdempotencyKey()
        var request = request
        request.headers[field.name] = try field.value(given?.key ?? request.headers[field.name] ?? generate())
        return request
    }

    /// Keys are for the service, unless the call itself goes to another origin.
    private func mayHaveKey(_ request: ServiceRequest, _ context: CallContext) -> Bool {
        if let outside = context.record.outside { return request.origin == outside.origin }
        return context.serviceOrigin == nil || boundary.isService(request.origin, context)
    }
}
