import Foundation
import OData

/// Payloads of real services, in the folder that `SHARED_DIRECTORY` names.
enum Payloads {
    static var folder: String? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/payloads/" }
            .flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }

    static var names: [String] {
        let all = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
        return all.filter { $0.hasSuffix(".json") }.sorted()
    }

    static var validNames: [String] { names.filter { !$0.contains("invalid") } }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: (folder ?? "") + name))
    }

    static func page<Entity>(_ name: String, of type: Entity.Type = DynamicEntity.self) throws -> ODataPage<Entity> {
        try ODataDecoder().decode(ODataPage<Entity>.self, from: data(name))
    }

    static func entity<Entity: Decodable>(_ name: String, of type: Entity.Type = DynamicEntity.self) throws -> Entity {
        try ODataDecoder().decode(type, from: data(name))
    }
}
