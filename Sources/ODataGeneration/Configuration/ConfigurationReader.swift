public import Foundation
import ODataMetadata

extension GenerationConfiguration {
    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - data: The JSON.
    ///   - file: The name of the file, for errors.
    /// - Throws: ``GenerationError`` with every fault: an unknown member, a value of a wrong kind, or a name that isn't valid in Swift.
    public init(json data: Data, file: String) throws(GenerationError) {
        var reader = ConfigurationReader(TextPositions(file: file, data))
        self = try reader.read(data)
    }
}

/// Reads a configuration and collects its faults.
private struct ConfigurationReader {
    private typealias Relations = GenerationConfiguration.Relations
    private typealias DerivedTypes = GenerationConfiguration.DerivedTypes

    private static let members = [
        "access", "document", "exclude", "files", "include", "names", "projections", "references", "service",
    ]

    private let positions: TextPositions
    private var faults: [GenerationDiagnostic] = []

    init(_ positions: TextPositions) {
        self.positions = positions
    }

    mutating func read(_ data: Data) throws(GenerationError) -> GenerationConfiguration {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: data)
        } catch {
            let detail = (error as NSError).userInfo["NSDebugDescription"] as? String ?? "\(error)"
            throw GenerationError([positions.error("this isn't JSON: \(detail)")])
        }
        guard let object = value as? [String: Any] else {
            throw GenerationError([positions.error("a configuration is a JSON object, such as {\"service\": \"Shop\"}")])
        }
        for member in RepeatedMembers.find(in: data) {
            faults.append(
                GenerationDiagnostic(
                    .error, file: positions.file, line: member.line, column: member.column,
                    "there are two members '\(member.name)' in one object; join them, or remove one"))
        }
        var result = GenerationConfiguration()
        check(object, Self.members, in: "a configuration")
        result.service = name(object["service"], "service")
        result.document = string(object["document"], "document")
        for (address, file) in dictionary(object["references"], "references") {
            if let file = string(file, address) { result.references[address] = file }
        }
        if let text = string(object["access"], "access") {
            if let access = GenerationConfiguration.Access(rawValue: text) {
                result.access = access
            } else {
                fault("'access' is internal, package or public, not '\(text)'", at: text)
            }
        }
        if let value = object["files"] {
            if let count = integer(value), (1...GenerationConfiguration.maximumFiles).contains(count) {
                result.files = count
            } else {
                fault("'files' is a number from 1 to \(GenerationConfiguration.maximumFiles)", at: "files")
            }
        }
        if let list = object["include"] { result.include = array(list, "include").compactMap { inclusion($0) } }
        result.exclude = strings(object["exclude"], "exclude")
        for (wire, swift) in dictionary(object["names"], "names") { result.names[wire] = name(swift, wire) }
        for (title, value) in dictionary(object["projections"], "projections").sorted(by: { $0.key < $1.key }) {
            if let projection = projection(title, value) { result.projections.append(projection) }
        }
        guard faults.isEmpty else { throw GenerationError(faults) }
        return result
    }

    // MARK: Entries

    private mutating func inclusion(_ value: Any) -> GenerationConfiguration.Inclusion? {
        if let text = value as? String { return .types(.init(text)) }
        guard let object = value as? [String: Any] else {
            fault("an entry of 'include' is the name of a type, or an object with 'type', 'sets' or 'operations'", at: "include")
            return nil
        }
        if let type = object["type"] {
            check(object, ["derived", "properties", "relations", "type"], in: "an entry with 'type'")
            guard let type = string(type, "type") else { return nil }
            let properties = object["properties"].map { strings($0, "properties") }
            return .types(
                .init(
                    type, properties: properties, relations: relations(object["relations"]), derived: derivedTypes(object["derived"])))
        }
        if let sets = object["sets"] {
            check(object, ["sets"], in: "an entry with 'sets'")
            return .sets(list(sets, "sets"))
        }
        if let operations = object["operations"] {
            check(object, ["operations"], in: "an entry with 'operations'")
            return .operations(list(operations, "operations"))
        }
        fault("an entry of 'include' needs 'type', 'sets' or 'operations'", at: object.keys.min())
        return nil
    }

    private mutating func relations(_ value: Any?) -> Relations {
        switch value {
        case nil: return .steps(0)
        case let text as String where text == "all": return .all
        case let names as [Any]: return .named(strings(names, "relations"))
        default:
            if let count = value.flatMap({ integer($0) }), (0...100).contains(count) { return .steps(count) }
            fault("'relations' is \"all\", a number of steps, or a list of names", at: "relations")
            return .steps(0)
        }
    }

    private mutating func derivedTypes(_ value: Any?) -> DerivedTypes {
        switch value {
        case nil: return .none
        case let text as String where text == "all": return .all
        case let names as [Any]: return .named(strings(names, "derived"))
        default:
            fault("'derived' is \"all\" or a list of names", at: "derived")
            return .none
        }
    }

    private mutating func projection(_ title: String, _ value: Any) -> GenerationConfiguration.Projection? {
        guard SwiftNames.isIdentifier(title), let object = value as? [String: Any] else {
            fault("a projection is a name in Swift with an object such as {\"of\": \"Ns.Type\", \"properties\": [\"Name\"]}", at: title)
            return nil
        }
        check(object, ["of", "properties"], in: "a projection")
        guard let type = string(object["of"], title), let list = object["properties"] else {
            fault("the projection '\(title)' needs 'of' and 'properties'", at: title)
            return nil
        }
        return .init(title, of: type, properties: projected(list, title, depth: 0))
    }

    private mutating func projected(_ value: Any, _ title: String, depth: Int) -> [GenerationConfiguration.ProjectedProperty] {
        guard depth < 16 else {
            fault("the projection '\(title)' nests more than 16 levels deep", at: title)
            return []
        }
        var result: [GenerationConfiguration.ProjectedProperty] = []
        for entry in array(value, title) {
            if let name = entry as? String {
                result.append(.init(name))
            } else if let object = entry as? [String: Any] {
                for (name, inner) in object.sorted(by: { $0.key < $1.key }) {
                    result.append(.init(name, properties: projected(inner, title, depth: depth + 1)))
                }
            } else {
                fault("a property of a projection is a name, or an object of a name and a list: {\"manager\": [\"id\"]}", at: title)
            }
        }
        if result.isEmpty { fault("the projection '\(title)' has no properties at one place", at: title) }
        return result
    }

    // MARK: Values

    private mutating func fault(_ message: String, at string: String?) {
        faults.append(positions.error(message, at: string))
    }

    private mutating func check(_ object: [String: Any], _ allowed: [String], in place: String) {
        for name in object.keys.sorted() where !allowed.contains(name) {
            let hint = NearestNames.hint(name, among: allowed)
            fault("\(place) has no '\(name)'" + (hint.isEmpty ? "; it can have \(allowed.joined(separator: ", "))" : hint), at: name)
        }
    }

    private mutating func string(_ value: Any?, _ place: String) -> String? {
        guard let value else { return nil }
        if let text = value as? String, !text.isEmpty { return text }
        fault("'\(place)' needs a text that isn't empty", at: place)
        return nil
    }

    private mutating func name(_ value: Any?, _ place: String) -> String? {
        guard let text = string(value, place) else { return nil }
        if SwiftNames.isIdentifier(text), !SwiftNames.unusable.contains(text) { return text }
        fault("'\(text)' can't be a name in Swift; use letters, digits and '_'", at: text)
        return nil
    }

    /// Returns a whole number; JSON's `true` isn't 1.
    private func integer(_ value: Any) -> Int? {
        if let number = value as? NSNumber, ["c", "B"].contains(String(cString: number.objCType)) { return nil }
        return value as? Int
    }

    private mutating func array(_ value: Any, _ place: String) -> [Any] {
        if let list = value as? [Any] { return list }
        fault("'\(place)' needs a list", at: place)
        return []
    }

    private mutating func dictionary(_ value: Any?, _ place: String) -> [String: Any] {
        guard let value else { return [:] }
        if let object = value as? [String: Any] { return object }
        fault("'\(place)' needs an object", at: place)
        return [:]
    }

    private mutating func strings(_ value: Any?, _ place: String) -> [String] {
        guard let value else { return [] }
        return array(value, place).compactMap { string($0, place) }
    }

    /// Returns a list of names, which can also be one text with commas between the names.
    private mutating func list(_ value: Any, _ place: String) -> [String] {
        guard let text = value as? String else { return strings(value, place) }
        return text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }
}
