/// Names a call, so that the program can find it while it runs, share its result, or replace it.
///
/// An endpoint has a template with the call's arguments: ``EndpointDescriptor/identifier(_:_:)``. For single calls the attribute takes
/// precedence over the endpoint's template:
///
///     try await shop.with(CallIdentifier("search", .replace)) { try await $0.search(text: text) }
public struct CallIdentifier: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// What happens to a call if another with the same identifier is running.
    public enum Policy: String, Sendable, Hashable, Codable, CaseIterable {
        /// Both calls run: the identifier only serves to find them.
        case find
        /// The call waits for the response of the running one, and sends nothing. Each call decodes the response for itself. Cancelling one
        /// call leaves the others alone; the exchange ends when all are cancelled.
        case reuse
        /// The call cancels the running one, which ends with ``CallCancelled`` and the origin `replaced`.
        case replace
    }

    /// The identifier, which belongs to one client.
    public var text: String
    /// What happens if another call with the identifier is running.
    public var policy: Policy

    /// Creates an identifier. The text is used literally, without placeholders.
    public init(_ text: String, _ policy: Policy = .replace) {
        self.text = text
        self.policy = policy
    }

    /// The identifier and its policy.
    public var description: String { "\(text) (\(policy.rawValue))" }

    /// As an attribute, its text may look like that of any other one. An endpoint's identifier is a separate member of descriptions.
    package static let firstWords: [String] = []

    package init?(described text: String) {
        guard let policy = Policy.allCases.first(where: { text.hasSuffix(" (\($0.rawValue))") }) else { return nil }
        self.init(String(text.dropLast(policy.rawValue.count + 3)), policy)
    }
}

/// The stage that lets a call wait for the response of a running one with the same identifier: ``CallIdentifier/Policy/reuse``.
///
/// It is the first stage, because the calls that wait don't create a request: their interceptors and `prepare` don't run.
struct IdentifierReuse: SharingStage {
    let exchanges: SharedExchanges
    /// Separates the exchanges of environments and sessions.
    var partition = ""

    func stage(before next: @escaping NextInterceptor) -> NextInterceptor {
        { request, context in
            guard let identifier = context.record.identifier, identifier.policy == .reuse, context.dryRun == nil else {
                return try await next(request, context)
            }
            return try await reuse(identifier, request, context, next)
        }
    }

    private func reuse(
        _ identifier: CallIdentifier, _ request: ServiceRequest, _ context: CallContext, _ next: @escaping NextInterceptor
    ) async throws -> TransportResponse {
        guard !context.record.isStream else {
            throw InvalidRequest(
                message:
                    "The call's identifier \"\(identifier.text)\" has the policy .reuse, but a stream can't be shared: use .replace or "
                    + ".find for calls that read a stream.")
        }
        return try await exchanges.response(
            for: .identifier(identifier.text, context.serviceOrigin, partition: partition), request, context, next
        ) { running in
            guard Self.isSame(request, running.request),
                DecisiveAttributes(of: context.attributes) == DecisiveAttributes(of: running.record.attributes)
            else {
                throw InvalidRequest(
                    message:
                        "The running call with the identifier \"\(identifier.text)\" has another request or other settings, so its result "
                        + "can't be reused: add the arguments that differ to the identifier, or use .replace.")
            }
        }
    }

    private static func isSame(_ one: ServiceRequest, _ other: ServiceRequest) -> Bool {
        guard one.method == other.method, one.url == other.url, one.headers == other.headers else { return false }
        switch (one.body, other.body) {
        case (nil, nil): return true
        case (let one?, let other?):
            guard let data = one.data else { return one.file != nil && one.file == other.file }
            return data == other.data
        default: return false
        }
    }
}
