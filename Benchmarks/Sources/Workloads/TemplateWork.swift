public import WebServiceClient

/// Fills templates with values.
public struct TemplateWork: Sendable {
    private let template: URITemplate
    private let values: [String: URITemplate.Value] = ["text": "a & b", "page": "2", "tags": ["swift", "größe"]]
    private let client = DeclaredCalls(Engine(answering: Payloads.small))

    /// Parses the template.
    public init() throws {
        template = try URITemplate("/search{?text,page}{&tags*}")
    }

    /// Expands an RFC 6570 template with two strings and a list.
    public func expand() throws -> String {
        try template.expand(values)
    }

    /// Binds four arguments to `%%label%%` placeholders in path and query. The time includes a dry run: the chain down to the transport and
    /// the error that ends it.
    public func bind() async throws -> ServiceRequest {
        try await client.dryRun { try await $0.issues(owner: "swiftlang", name: "swift & more", state: "open", page: 3) }
    }
}
