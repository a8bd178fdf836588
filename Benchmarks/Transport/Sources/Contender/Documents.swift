import WebServiceClient

/// A client of this library for the server's documents.
final class Documents: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["document(_:)": .get("/%%0%%")]
    }

    func document(_ name: String) async throws -> Document { try await call(name) }
}

/// A document. It includes its length, because the comparison sees only decoded values.
struct Document: Decodable {
    let length: Int
    let text: String
}
