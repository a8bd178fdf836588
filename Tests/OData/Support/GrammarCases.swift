import Foundation
import OData
import ODataQueryParsing

/// A file of the official grammar's cases, in the folder that `SHARED_DIRECTORY` names.
struct GrammarCases: Decodable {
    struct Case: Decodable {
        let name: String
        let rule: String
        let input: String
        let failAt: Int?
    }

    let constraints: [String: [String]]
    let testCases: [Case]

    static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/odata-abnf" }

    init(file: String) throws {
        let url = URL(fileURLWithPath: (Self.folder ?? "") + "/" + file)
        self = try JSONDecoder().decode(GrammarCases.self, from: Data(contentsOf: url))
    }

    /// The names that the cases' constraints allow.
    var names: ServiceNames {
        let kinds: [(String, NameRoles)] = [
            ("entityCol", .entityCollection), ("entity", .entity), ("complexCol", .complexCollection), ("complex", .complex),
            ("primitiveCol", .primitiveCollection), ("primitive", .primitive),
        ]
        var roles: [String: NameRoles] = [
            "entitySetName": .entitySet, "singletonEntity": .singleton, "entityTypeName": .entityType, "complexTypeName": .complexType,
            "action": .action, "actionImport": .actionImport, "primitiveKeyProperty": .primitive, "primitiveNonKeyProperty": .primitive,
            "streamProperty": .stream, "customAggregate": .primitive, "expressionAlias": .primitive,
            "entityColNavigationProperty": .entityCollection,
            "entityNavigationProperty": .entity, "complexColProperty": .complexCollection, "complexProperty": .complex,
            "primitiveColProperty": .primitiveCollection,
        ]
        for (kind, value) in kinds {
            roles[kind + "Function"] = .function(giving: value)
            roles[kind + "FunctionImport"] = .functionImport(giving: value)
        }
        var names: [String: NameRoles] = [:]
        for (rule, spellings) in constraints {
            guard let role = roles[rule] else { continue }
            for name in spellings { names[name, default: []].formUnion(role) }
        }
        // Without a constraint for a role, all other names have it.
        return ServiceNames(names, others: constraints["primitiveFunctionImport"] == nil ? .functionImport(giving: .primitive) : [])
    }
}
