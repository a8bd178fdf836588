import Foundation
import WebServiceClient

/// Compares an object with the properties that its model declares, including nested items.
///
/// Recursion is bounded because values nest at most 512 levels deep.
struct ItemCheck {
    private let schema: ItemSchema
    /// Whether one of the objects has a link in its control information.
    private(set) var hasLinks = false

    init(_ schema: ItemSchema) {
        self.schema = schema
    }

    /// Returns the table of an object: the table of the type that it names or, if the schema doesn't have that type, of the declared one.
    func table(of object: DynamicEntity, declaredAs declared: String) -> ItemTable? {
        guard let table = schema.table(of: declared) else { return nil }
        guard table.hasDerivedTypes, let name = ItemControl.typeName(of: object) else { return table }
        return derived(name, declared) ?? table
    }

    private func derived(_ name: String, _ declared: String) -> ItemTable? {
        name != declared && schema.type(name, isKindOf: declared) ? schema.table(of: name) : nil
    }

    /// Returns the first property of another kind than declared; `nil` if there is none.
    ///
    /// Null is always accepted: services send it for properties that a query didn't select or a user may not read.
    mutating func fault(in object: DynamicEntity, declaredAs declared: String) -> ItemFault? {
        guard let table = schema.table(of: declared) else { return nil }
        var plan = table.plan(for: object)
        if table.hasDerivedTypes, plan.typePosition != nil, let name = ItemControl.typeName(of: object),
            let derived = derived(name, declared)
        {
            plan = derived.plan(for: object)
        }
        if plan.hasLinks { hasLinks = true }
        for position in plan.declarations.indices {
            guard let declaration = plan.declarations[position], var fault = fault(in: object.value(at: position), declaration) else {
                continue
            }
            fault.path.append(JSONKey(object.name(at: position)))
            return fault
        }
        return nil
    }

    private mutating func fault(in value: ODataValue, _ property: ItemProperty) -> ItemFault? {
        switch value {
        case .null: return nil
        case .array(let elements) where property.isCollection:
            for (index, element) in elements.list.enumerated() {
                guard var fault = fault(inElement: element, property) else { continue }
                fault.path.append(JSONKey(index: index))
                return fault
            }
            return nil
        case .object(let object) where property.isCollection || property.isRelation:
            // Version 2 sends a link in place of a relation, and an envelope around a collection.
            if PayloadDecoder.deferredLink(object) != nil { return nil }
            guard property.isCollection else { return fault(inElement: value, property) }
            guard case .array? = object["results"], let results = object["results"] else { return ItemFault(wanted: "an array", value) }
            guard var fault = fault(in: results, property) else { return nil }
            fault.path.append(JSONKey("results"))
            return fault
        default:
            return property.isCollection ? ItemFault(wanted: "an array", value) : fault(inElement: value, property)
        }
    }

    private mutating func fault(inElement value: ODataValue, _ property: ItemProperty) -> ItemFault? {
        if value.isNull { return property.hasNullElements ? nil : ItemFault(wanted: property.kind.wanted, value) }
        guard property.kind.accepts(value) else { return ItemFault(wanted: property.kind.wanted, value) }
        guard case .structured(let type) = property.kind, case .object(let object) = value else { return nil }
        if isEnvelope(object, declaredAs: type), let elements = CollectionEnvelope.elements(in: object) {
            return ItemFault(wanted: property.kind.wanted, .array(elements))
        }
        return fault(in: object, declaredAs: type)
    }

    /// Returns whether an object in place of an item is version 2's envelope of a collection: its type has no property `results`.
    func isEnvelope(_ object: DynamicEntity, declaredAs declared: String) -> Bool {
        CollectionEnvelope.elements(in: object) != nil && table(of: object, declaredAs: declared)?.properties["results"] == nil
    }
}

/// A value of another kind than its property's declaration.
struct ItemFault {
    let wanted: String
    let value: ODataValue
    /// The place inside the item, innermost first.
    var path: [JSONKey] = []

    init(wanted: String, _ value: ODataValue) {
        self.wanted = wanted
        self.value = value
    }

    func error(inside outer: [any CodingKey]) -> DecodingError {
        let found = value.string.map { "'\($0.prefix(60))'" } ?? value.kind
        let context = DecodingError.Context(
            codingPath: outer + path.reversed(),
            debugDescription:
                "\(wanted) is declared here, not \(found). If the service breaks its own metadata, set the client's checksItems "
                + "to false.")
        return .typeMismatch(ODataValue.self, context)
    }
}

/// Resolves the relative links in an item's control information, since an item doesn't keep the URL of its payload.
struct ItemLinks {
    /// Returns an object with absolute links, or `nil` if no link changes or the base isn't known yet.
    static func resolved(_ object: DynamicEntity, _ payload: PayloadDecoder) -> DynamicEntity? {
        let context = payload.settings.context
        // The context may follow after the entities of a page.
        guard context.page != nil, context.text != nil || context.isBeforeVersion4 || !context.mayCome else { return nil }
        return resolved(object, payload.linkBase)
    }

    private static func resolved(_ object: DynamicEntity, _ outer: LinkBase) -> DynamicEntity? {
        var base = outer
        if let context = PageShape.context(of: object), context != outer.root?.text { base.inner.append(context) }
        var changed: DynamicEntity?
        for position in 0..<object.count {
            let name = object.name(at: position)
            let value: ODataValue?
            switch object.value(at: position) {
            case .string(let text): value = isLink(name) ? link(text, base) : nil
            case .object(let inner): value = resolved(inner, base).map { .object($0) }
            case .array(let elements): value = resolved(elements.list, base)
            default: value = nil
            }
            if let value {
                if changed == nil { changed = object }
                changed?[name] = value
            }
        }
        return changed
    }

    private static func resolved(_ elements: [ODataValue], _ base: LinkBase) -> ODataValue? {
        var changed: [ODataValue]?
        for (index, element) in elements.enumerated() {
            guard case .object(let object) = element, let found = resolved(object, base) else { continue }
            if changed == nil { changed = elements }
            changed?[index] = .object(found)
        }
        return changed.map { .array($0) }
    }

    private static func link(_ text: String, _ base: LinkBase) -> ODataValue? {
        guard URLText.Components(text).scheme == nil else { return nil }
        return base.url(of: text).map { .string($0.absoluteString) }
    }

    /// Returns whether a name is the name of a link in control information: `Trips@odata.navigationLink`, `@mediaReadLink`.
    static func isLink(_ name: String) -> Bool {
        // The last letter rules out nearly all names.
        guard name.utf8.last == UInt8(ascii: "k"), let mark = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return name.hasSuffix("Link") && ControlInformation.name(name[mark...]) != nil
    }
}
