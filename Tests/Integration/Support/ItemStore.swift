import Foundation
import OData
import WebServiceClient

/// An item of the OData service over SQLite: `odata4` of the servers.
struct StoreItem: Codable, Equatable, Sendable, EntityType {
    static let entitySetName = "Items"
    /// `nil` if the service is to choose the key of a new item.
    var Key: Int64?
    var Name: String?
    var Count: Int64?
    var Price: EdmDecimal?
}

/// A database of that service. It begins with three items, whose keys and versions are 1 to 3, and each change makes the next version.
struct ItemStore: Sendable {
    /// The name, unlike all others.
    let name: String
    private let server: String
    private let control: WebServiceClient

    init() throws {
        name = UUID().uuidString
        server = try TestServer.named("odata4").url
        control = WebServiceClient(serviceRoot: server)
    }

    /// Returns a client of the database.
    ///
    /// - Parameter mode: What disturbs its batches; see the service.
    func client(_ version: ODataVersion = .v401, mode: String = "plain") -> ODataClient {
        let client = ODataClient(serviceRoot: "\(server)/\(mode)/\(name)")
        client.printer = QueryPrinter(version: version)
        return client
    }

    /// The rows as the service has them, with their versions.
    func state() async throws -> String {
        String(decoding: try await control.http.get("/state/%%0%%", name).response(Data.self).value, as: UTF8.self)
    }

    /// The number of batches that came.
    func batches() async throws -> Int {
        Int(String(decoding: try await control.http.get("/batches/%%0%%", name).response(Data.self).value, as: UTF8.self)) ?? -1
    }

    /// Performs requests and keeps all or none, as the service does with a change set.
    ///
    /// - Parameter body: Returns whether the changes are kept.
    func together(_ body: () async throws -> Bool) async throws {
        try await control.http.post("/state/%%0%%/savepoint", name).send()
        let isKept = try await body()
        try await control.http.post("/state/%%0%%/%%1%%", name, isKept ? "release" : "rollback").send()
    }

    /// Makes the service forget its changes, so that links to them are no longer valid.
    func forgetChanges() async throws { try await control.http.delete("/changes/%%0%%", name).send() }

    /// Removes the database.
    func remove() async throws { try await control.http.delete("/state/%%0%%", name).send() }
}
