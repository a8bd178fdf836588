import OData
import ODataQueryParsing

/// The names of a service, so that the parser can distinguish functions from keys and types from properties.
struct SmallModel: QueryModel {
    func roles(of name: String) -> NameRoles { Self.names[name] ?? [] }

    private static let names: [String: NameRoles] = [
        "People": .entitySet, "Me": .singleton, "Trips": .entityCollection, "Friend": .entity, "Name": .primitive, "Age": .primitive,
        "Emails": .primitiveCollection, "Address": .complex, "Homes": .complexCollection, "Photo": .stream, "Person": .entityType,
        "Place": .complexType, "Reset": .actionImport, "Share": .action, "Near": .function(giving: .entityCollection),
        "Best": .functionImport(giving: .entity), "Sum": .functionImport(giving: .primitive),
    ]
}
