import Foundation
import ODataMetadata

/// Metadata documents of real services, in the folder that `SHARED_DIRECTORY` names.
enum MetadataDocuments {
    static var folder: String? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/csdl/" }
            .flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }

    private static func names(in folder: String, _ ending: String) -> [String] {
        let all = self.folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0 + folder) } ?? []
        return all.filter { $0.hasSuffix(ending) }.sorted().map { folder + $0 }
    }

    /// The documents in XML.
    static var names: [String] { names(in: "", ".xml") }

    /// The documents that exist in XML and JSON, without the endings.
    static var pairs: [String] { names(in: "pairs/", ".json").map { String($0.dropLast(5)) } }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: (folder ?? "") + name))
    }

    static func model(_ name: String) throws -> ServiceModel { try ServiceModel(data: data(name)) }
}

extension ServiceModel {
    /// The model with another version.
    func with(version: Version) -> ServiceModel {
        ServiceModel(
            version: version, schemas: schemas, references: references, includedSchemas: includedSchemas, containerName: containerName,
            extensions: extensions)
    }
}

/// A document around the children of a schema `S`, whose first line is line 4 of the document.
func document(_ children: String, version: String = "4.0", attributes: String = "") -> Data {
    Data(
        """
        <edmx:Edmx Version="\(version)" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:DataServices>
        <Schema Namespace="S" \(attributes) xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(children)
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """.utf8)
}
