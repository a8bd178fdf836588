import Foundation

/// Turns the value of an argument into an ordered list of names and values: query items, form fields or headers.
///
/// A struct gives its properties in order, a dictionary its keys sorted. An `Encodable` type encodes itself, which respects its
/// `CodingKeys`, wrapped and computed properties; a mirror reads any other type. Strings, numbers, Booleans, dates (ISO 8601), UUIDs,
/// URLs, decimals, raw-representable types and ``TextRepresentable`` types become texts. Sets are sorted by their text; an empty list or
/// structure gives no field.
///
/// For a type that isn't `Encodable`, only the stored name of a property wrapper (`_limit`) is known. It becomes `limit`, with the value
/// that the wrapper stores as `wrappedValue`, `value` or `storage`. If that guess is wrong, make the type `Encodable`.
public struct FieldReflection: Hashable, Sendable {
    /// How a list of values becomes fields. Lists and structures inside a list are always distinguished by index: `k[0][name]`.
    public enum ArrayStrategy: String, Hashable, Sendable, Codable, CaseIterable {
        /// `k=1&k=2`
        case repeatedKey
        /// `k[]=1&k[]=2`. A name that ends with `[]` already remains as it is.
        case brackets
        /// `k=1,2`, one field. The component encoding distinguishes a comma inside a value from a separator, see
        /// ``ReflectedField/members``; a receiver that decodes before it splits can't. Structures in the list are an error.
        case comma
        /// `k=1%202`, one field, in forms `k=1+2`. A receiver can't distinguish a space inside a value from a separator. Structures in the
        /// list are an error.
        case space
        /// `k=1%7C2`, one field. A receiver can't distinguish a bar inside a value from a separator. Structures in the list are an error.
        case pipe

        /// The character between the members of a list that becomes one field; `nil` if each member is a field.
        var separator: Character? {
            switch self {
            case .repeatedKey, .brackets: nil
            case .comma: ","
            case .space: " "
            case .pipe: "|"
            }
        }
    }

    /// How a structure or a dictionary that has a name becomes fields.
    public enum ObjectStrategy: String, Hashable, Sendable, Codable, CaseIterable {
        /// `k[a]=1&k[b]=2`, by the nesting strategy.
        case nested
        /// `a=1&b=2`, without the name.
        case spread
        /// `k=a,1,b,2`, one field, with the separator of the array strategy; a comma if that has none. Nested values are an error.
        case joined
    }

    /// How the name of a nested value is built.
    public enum NestingStrategy: String, Hashable, Sendable, Codable, CaseIterable {
        /// `outer[inner]`
        case brackets
        /// `outer.inner`
        case dots
    }

    /// How nil is written.
    public enum NilStrategy: String, Hashable, Sendable, Codable, CaseIterable {
        /// No field.
        case leftOut
        /// `name=`
        case empty
        /// `name`
        case nameOnly
    }

    /// How a list of values becomes fields.
    public var arrays: ArrayStrategy
    /// How a structure that has a name becomes fields. Structures inside it are always nested.
    public var objects = ObjectStrategy.nested
    /// How the name of a nested value is built.
    public var nesting: NestingStrategy
    /// How nil is written.
    public var missing: NilStrategy
    /// How the names of properties become names of fields.
    public var keys = KeyStrategy.asDeclared
    /// How dates are written.
    public var dates = DateStrategy.iso8601
    /// The maximum nesting depth of a value, 1 to 128; a reference cycle fails at this depth.
    public var depthLimit: Int {
        didSet { depthLimit = Self.bounded(depthLimit) }
    }

    /// Creates a reflection; a depth limit below 1 or above 128 is clamped to 1 or 128.
    public init(
        arrays: ArrayStrategy = .repeatedKey, nesting: NestingStrategy = .brackets, missing: NilStrategy = .leftOut, depthLimit: Int = 32,
        keys: KeyStrategy = .asDeclared, dates: DateStrategy = .iso8601, objects: ObjectStrategy = .nested
    ) {
        self.objects = objects
        self.keys = keys
        self.dates = dates
        self.arrays = arrays
        self.nesting = nesting
        self.missing = missing
        self.depthLimit = Self.bounded(depthLimit)
    }

    /// Returns the fields of the value, in its order.
    ///
    /// - Parameter name: The name of a single value or list, and the prefix of the names of a structure's fields. Without it, a
    ///   structure's fields keep their names, and a single value is an error.
    /// - Throws: ``ReflectionError`` with the place and the type, or the error of the value's `encode(to:)`.
    public func fields(of value: Any, named name: String? = nil) throws -> [ReflectedField] {
        let path = name.map { FieldPath.key($0, .root) } ?? .root
        let builder = FieldTreeBuilder(depthLimit: depthLimit, keys: keys, dates: dates)
        return try fields(of: try builder.tree(of: value, at: path, depth: 0), named: name, type: type(of: value))
    }

    /// The fields of a structure that is known.
    func fields(of tree: FieldTree, named name: String?, type: Any.Type) throws(ReflectionError) -> [ReflectedField] {
        let path = name.map { FieldPath.key($0, .root) } ?? .root
        var fields: [ReflectedField] = []
        if let name, objects != .nested, case .record(let entries) = tree {
            try append(entries, of: name, at: path, type: type, to: &fields)
        } else {
            try append(tree, named: name, at: path, type: type, to: &fields)
        }
        return fields
    }

    private static func bounded(_ limit: Int) -> Int { min(max(limit, 1), 128) }
}

extension FieldReflection {
    private func append(
        _ tree: FieldTree, named name: String?, at path: FieldPath, type: Any.Type, to fields: inout [ReflectedField]
    ) throws(ReflectionError) {
        switch tree {
        case .missing:
            switch missing {
            case .leftOut: break
            case .empty: fields.append(ReflectedField(name: try checked(name, at: path, type: type), value: ""))
            case .nameOnly: fields.append(ReflectedField(name: try checked(name, at: path, type: type), value: nil))
            }
        case .text(let text):
            fields.append(ReflectedField(name: try checked(name, at: path, type: type), value: text))
        case .bytes: throw ReflectionError(.binary, at: path, type: Data.self)
        case .list(let elements):
            if elements.isEmpty { break }
            try append(elements, named: try checked(name, at: path, type: type), at: path, type: type, to: &fields)
        case .record(let entries):
            for entry in entries {
                let inner = name.map { nested(entry.name, in: $0) } ?? entry.name
                try append(entry.value, named: inner, at: .key(entry.name, path), type: type, to: &fields)
            }
        }
    }

    /// Appends the entries of the outermost structure, if they aren't nested.
    private func append(
        _ entries: [(name: String, value: FieldTree)], of name: String, at path: FieldPath, type: Any.Type,
        to fields: inout [ReflectedField]
    ) throws(ReflectionError) {
        guard objects == .joined else {
            return try append(.record(entries), named: nil, at: path, type: type, to: &fields)
        }
        var members: [String] = []
        for entry in entries {
            switch entry.value {
            case .text(let text): members += [entry.name, text]
            case .missing: if missing != .leftOut { members += [entry.name, ""] }
            case .bytes: throw ReflectionError(.binary, at: .key(entry.name, path), type: Data.self)
            case .list, .record: throw ReflectionError(.structureInCommaList, at: .key(entry.name, path), type: type)
            }
        }
        if !members.isEmpty { fields.append(ReflectedField(name: name, members: members, separator: arrays.separator ?? ",")) }
    }

    private func append(
        _ elements: [FieldTree], named name: String, at path: FieldPath, type: Any.Type, to fields: inout [ReflectedField]
    ) throws(ReflectionError) {
        if let separator = arrays.separator {
            var members: [String] = []
            for (index, element) in elements.enumerated() {
                switch element {
                case .text(let text): members.append(text)
                case .missing: if missing != .leftOut { members.append("") }
                case .bytes: throw ReflectionError(.binary, at: .index(index, path), type: Data.self)
                case .list, .record: throw ReflectionError(.structureInCommaList, at: .index(index, path), type: type)
                }
            }
            if !members.isEmpty { fields.append(ReflectedField(name: name, members: members, separator: separator)) }
            return
        }
        let isMarked = arrays == .brackets && name.hasSuffix("[]")
        let base = isMarked ? String(name.dropLast(2)) : name
        for (index, element) in elements.enumerated() {
            let inner =
                if element.isSingle { arrays == .brackets ? base + "[]" : name } else { nested(String(index), in: base) }
            try append(element, named: inner, at: .index(index, path), type: type, to: &fields)
        }
    }

    private func nested(_ inner: String, in outer: String) -> String {
        switch nesting {
        case .brackets: "\(outer)[\(inner)]"
        case .dots: "\(outer).\(inner)"
        }
    }

    private func checked(_ name: String?, at path: FieldPath, type: Any.Type) throws(ReflectionError) -> String {
        guard let name else { throw ReflectionError(.noName, at: path, type: type) }
        return name
    }
}
