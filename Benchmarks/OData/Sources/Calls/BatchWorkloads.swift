import Foundation
import OData
import WebServiceClient

/// Reads by batches beside single reads, and the answer to a large batch beside a page with the same entities.
enum BatchWorkloads {
    /// The number of reads, and of those in one batch.
    static let reads = 1_000
    static let readsPerBatch = 20
    /// The number of entities of a large answer. As parts of a batch they have about 29 MB.
    static let entities = 100_000

    static var all: [Workload] {
        let single = ODataClient(serviceRoot: "https://example.com/odata") { $0.transport = StubTransport(body: StubBody.entity) }
        let batched = client(answering: answer(to: readsPerBatch))
        batched.batching = BatchSettings(format: .multipart, limit: readsPerBatch)
        let parts = answer(to: entities)
        let large = client(answering: parts)
        let page = page(of: entities)
        let pages = ODataClient(serviceRoot: "https://example.com/odata") { $0.transport = StubTransport(body: page) }
        return [
            Workload(name: "reads", title: "\(reads) reads of one entity", repetitions: 1) {
                for id in 0..<reads { _ = try await single.fetch(FetchRequest<Product>().key(id)) }
            },
            Workload(name: "batches", title: "the same as \(reads / readsPerBatch) batches", repetitions: 1) {
                try await read(reads, by: batched)
            },
            Workload(name: "large-page", title: "page of \(entities) entities, as they arrive", repetitions: 1, bytes: page.count) {
                for try await _ in pages.entities(matching: FetchRequest<Product>()) {}
            },
            Workload(name: "large-batch", title: "the same as parts of one batch", repetitions: 1, bytes: parts.count) {
                try await read(entities, by: large)
            },
        ]
    }

    private static func client(answering body: Data) -> ODataClient {
        ODataClient(serviceRoot: "https://example.com/odata") { $0.transport = BatchTransport(body: body) }
    }

    private static func read(_ count: Int, by client: ODataClient) async throws {
        let products = client.responses(to: Array(0..<count)) { try await client.fetch(FetchRequest<Product>().key($0)) }
        for try await product in products { _ = try product.value }
    }

    private static func page(of count: Int) -> Data {
        var text = Data(#"{"@odata.context":"https://example.com/odata/$metadata#Products","value":["#.utf8)
        for index in 0..<count {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(StubBody.entity)
        }
        return text + Data("]}".utf8)
    }

    /// Returns the answer to a batch of reads: each is the same entity. The order tells the requests, so that all batches have this answer.
    private static func answer(to count: Int) -> Data {
        let head = "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 200 OK\r\n"
        let part = Data((head + "Content-Type: application/json\r\n\r\n").utf8) + StubBody.entity + Data("\r\n".utf8)
        var text = Data()
        for _ in 0..<count { text.append(part) }
        return text + Data("--b--\r\n".utf8)
    }
}

/// A transport that reads the body of each request, and answers a batch.
struct BatchTransport: Transport {
    let body: Data
    let capabilities: TransportCapabilities = []

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        if let body = request.body {
            for try await _ in body.chunks() {}
        }
        return TransportResponse(
            status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"], url: request.url, body: ResponseBody(body))
    }
}
