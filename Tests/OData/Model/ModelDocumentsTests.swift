import Foundation
import OData
import ODataMetadata
import ODataQueryParsing
import Testing
import WebServiceTesting

/// Metadata documents of real services, in the folder that `SHARED_DIRECTORY` names.
enum ModelDocuments {
    static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/csdl/" }
        .flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }

    static var names: [String] {
        let all = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
        return all.filter { $0.hasSuffix(".xml") }.sorted()
    }

    static func read(_ name: String) throws -> ServiceModel {
        try ServiceModel(data: Data(contentsOf: URL(fileURLWithPath: (folder ?? "") + name)))
    }
}

/// Tests verification and parsing with all metadata documents.
@Suite(.enabled(if: ModelDocuments.folder != nil, "SHARED_DIRECTORY names no folder with metadata documents"))
struct ModelDocumentsTests {
    /// Kinds of faults that requests for all that a model has don't have.
    private func faults(_ query: ODataQuery, _ model: ServiceModel) -> [ModelFault] {
        query.verify(against: model).filter { $0.kind != .restriction }
    }

    @Test(arguments: ModelDocuments.names) func `requests for a document's elements fit its model and are parsed`(name: String) throws {
        let model = try ModelDocuments.read(name)
        let isOld = model.version < .v4
        let printer = QueryPrinter().adopting(model)
        let parser = QueryParser(version: printer.version, model: model)
        // Names that aren't identifiers can't be part of a query.
        func isSpelled(_ name: String) -> Bool { name.wholeMatch(of: /[A-Za-z_]\w*/) != nil }
        for set in model.entitySets.prefix(12) where isSpelled(set.name) {
            guard let type = model.entityType(set.entityType) else { continue }
            var options = QueryOptions()
            let properties = model.properties(of: type).filter { isSpelled($0.name) }
            options.selection = .properties(properties.map { QueryPath($0.name) })
            options.expansions = model.navigationProperties(of: type).filter { isSpelled($0.name) }.prefix(5).map {
                var inner = QueryOptions()
                if isOld { inner.selection = .items([]) }
                return Expansion(path: QueryPath($0.name), options: inner)
            }
            options.order = properties.filter { !$0.type.isCollection && $0.type.isPrimitive }.map { .init(.path(QueryPath($0.name))) }
            let query = ODataQuery(ResourcePath(entitySet: set.name), options: options)
            let found = faults(query, model)
            #expect(found.isEmpty, "\(set.name): \(found.prefix(3))")
            let text = try printer.text(of: query)
            #expect(try printer.text(of: parser.query(text)) == text, "\(set.name)")
            // An unknown type name is reported once, and the query isn't parsed.
            guard !model.isOpen(type) else { continue }
            let wrong = FetchRequest<DynamicEntity>(from: set.name).filter { $0["Nope_9"] == 1 }
            #expect(faults(wrong.query, model).map(\.kind) == [.unknownProperty])
        }
        for singleton in model.singletons.prefix(12) where isSpelled(singleton.name) {
            #expect(faults(ODataQuery(ResourcePath(singleton: singleton.name)), model).isEmpty)
        }
    }

    @Test(arguments: ModelDocuments.names) func `entities with a value of each property that can be set fit their types`(
        name: String
    ) async throws {
        let model = try ModelDocuments.read(name)
        let client = StubTransport().client()
        client.adopt(model)
        for set in model.entitySets.prefix(30) where set.name.wholeMatch(of: /[A-Za-z_]\w*/) != nil {
            guard let type = model.entityType(set.entityType), !type.isAbstract else { continue }
            let entity = SampleValues(model: model, isNew: true).object(type)
            var changes = SampleValues(model: model, isNew: false).object(type)
            for part in model.key(of: type) { changes[part.path] = nil }
            let collection = FetchRequest<DynamicEntity>(from: set.name)
            let created = try await client.verify(against: model) { try await $0.create(entity, in: collection) }
            let updated = try await client.verify(against: model) { [changes] in
                try await $0.update(EntityRequest<DynamicEntity>(at: set.name + "('1')"), setting: changes)
            }
            let found = (created + updated).filter { ![.restriction, .missingVersion].contains($0.kind) }
            #expect(found.isEmpty, "\(set.name): \(found.prefix(3))")
        }
    }
}

/// Values of the types of a model, as payloads have them.
private struct SampleValues {
    let model: ServiceModel
    let isNew: Bool

    private static let values: [String: ODataValue] = [
        "Edm.String": "x", "Edm.Boolean": true, "Edm.Byte": 1, "Edm.SByte": -1, "Edm.Int16": 1, "Edm.Int32": 1, "Edm.Int64": 1,
        "Edm.Decimal": 1, "Edm.Double": 1, "Edm.Single": 1, "Edm.Guid": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "Edm.Date": "2026-11-27",
        "Edm.DateTimeOffset": "2026-11-27T10:00:00Z", "Edm.DateTime": "/Date(0)/", "Edm.TimeOfDay": "10:00:00", "Edm.Time": "PT1H",
        "Edm.Duration": "PT1H", "Edm.Binary": "AAAA",
    ]

    /// Returns an object with the properties that can be set.
    func object(_ type: ServiceModel.StructuredType, depth: Int = 0) -> DynamicEntity {
        var object = DynamicEntity()
        for property in model.properties(of: type) {
            guard [nil, isNew ? .immutable : .notCreatable].contains(model.accessLimit(of: property)?.kind) else { continue }
            guard let value = value(property.type.name, depth) else { continue }
            object[property.name] = property.type.isCollection ? [value] : value
        }
        return object
    }

    /// A value in GeoJSON of a kind such as `LineString`.
    private static func shape(_ kind: String) -> ODataValue {
        switch kind {
        case "Collection": ["type": "GeometryCollection", "geometries": [["type": "Point", "coordinates": [1, 2]]]]
        case "LineString", "MultiPoint": ["type": .string(kind), "coordinates": [[1, 2], [3, 4]]]
        case "Polygon", "MultiLineString": ["type": .string(kind), "coordinates": [[[1, 2], [3, 4], [3, 2], [1, 2]]]]
        case "MultiPolygon": ["type": .string(kind), "coordinates": [[[[1, 2], [3, 4], [3, 2], [1, 2]]]]]
        default: ["type": "Point", "coordinates": [1, 2]]
        }
    }

    private func value(_ type: String, _ depth: Int) -> ODataValue? {
        if let value = Self.values[type] { return value }
        if type.hasPrefix("Edm.Geo") { return Self.shape(type.replacing(/Edm\.Geo(graphy|metry)/, with: "")) }
        switch model.type(type) {
        case .enumeration(let enumeration)?: return enumeration.members.first.map { .string($0.name) }
        case .definition(let definition)?: return value(definition.underlyingType.name, depth)
        case .structured(let type)?: return depth < 3 ? .object(object(type, depth: depth + 1)) : nil
        case nil: return nil
        }
    }
}
