import WebServiceClient

/// The server's documents, as a client of this library sees them.
final class Documents: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["document(_:)": .get("/%%0%%")]
    }

    func document(_ name: String) async throws -> Document { try await call(name) }
}

/// A document. It says how long it is, since nobody sees its bytes.
struct Document: Decodable {
    let length: Int
    let text: String
}
