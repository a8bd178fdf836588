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

    var model: ConstrainedNames {
        ConstrainedNames(constraints)
    }
}

/// A model of the names that the cases' constraints allow.
struct ConstrainedNames: QueryModel {
    private var names: [String: NameRoles] = [:]
    /// The roles of all other names, for roles without a constraint.
    private var anyName: NameRoles = []

    init(_ constraints: [String: [String]]) {
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
        for (rule, spellings) in constraints {
            guard let role = roles[rule] else { continue }
            for name in spellings { names[name, default: []].formUnion(role) }
        }
        if constraints["primitiveFunctionImport"] == nil { anyName = .functionImport(giving: .primitive) }
    }

    func roles(of name: String) -> NameRoles {
        names[name] ?? anyName
    }
}
