import Foundation
import OData
import ODataQueryParsing
import Testing

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
}
