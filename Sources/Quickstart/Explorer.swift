import Foundation
import OData
import WebServiceClient

/// Shows the content of a real OData service: its entity sets, and the first rows of one of them. No types are declared for it.
struct Explorer {
    let root: String
    let set: String?

    func run() async throws {
        let client = ODataClient(serviceRoot: root) {
            $0.interceptors = [CallPrinter()]
            $0.timeouts.total = .seconds(30)
        }

        // The root of a service lists its entity sets.
        let entries = try await client.http.get("/").decoding(at: "value").value([ServiceEntry].self)
        let sets = entries.filter { $0.kind == nil || $0.kind == "EntitySet" }
        print("\n  entity sets: \(sets.map(\.name).joined(separator: ", "))\n")

        let name = set ?? sets.first?.name
        guard let entry = sets.first(where: { $0.name == name }) else {
            throw QuickstartError(set.map { "The service has no entity set \"\($0)\"." } ?? "The service has no entity sets.")
        }

        // Without a declared type, DynamicEntity holds whatever the service sends.
        let path = entry.url.contains("://") ? entry.name : entry.url
        let rows = try await client.fetch(FetchRequest<DynamicEntity>(from: path).top(10))
        print(rows.isEmpty ? "\n  \(entry.name) is empty." : "\n\(Table(rows))")
    }
}

/// An entry of a service document (OData JSON Format, section 5).
private struct ServiceEntry: Decodable, Sendable {
    let name: String
    let kind: String?
    let url: String
}

/// The package's folder `Fixtures`, found relative to this source file.
enum Fixtures {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// Decodes a JSON file.
    ///
    /// - Throws: ``QuickstartError`` that names the file.
    static func read<Value: Decodable>(_ type: Value.Type, from name: String) throws -> Value {
        let file = folder.appendingPathComponent(name)
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw QuickstartError("\(file.path) can't be read. Run Quickstart in the clone it was built in: swift run Quickstart")
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw QuickstartError("\(file.path) doesn't have the expected content: \(error)")
        }
    }
}
