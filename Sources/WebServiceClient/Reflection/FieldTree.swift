import Foundation

/// The structure of an argument's value, independent of how names and lists are written.
indirect enum FieldTree {
    /// `nil`.
    case missing
    /// One text.
    case text(String)
    /// Bytes, for a form whose parts can have them.
    case bytes(Data)
    /// Ordered values.
    case list([FieldTree])
    /// Ordered names and values.
    case record([(name: String, value: FieldTree)])

    /// Whether the tree is nil.
    var isMissing: Bool { if case .missing = self { true } else { false } }

    /// Whether the tree is one text, bytes or nil.
    var isSingle: Bool {
        switch self {
        case .missing, .text, .bytes: true
        case .list, .record: false
        }
    }

    /// Whether the tree is a single name without a value, which is how an enum case without payload is encoded.
    var isBareCase: Bool {
        guard case .record(let entries) = self, entries.count == 1, case .record(let inner)? = entries.first?.value else { return false }
        return inner.isEmpty
    }

    /// A text that sorts trees identically in every run.
    var sortKey: String {
        switch self {
        case .missing: ""
        case .text(let text): text
        case .bytes(let data): data.base64EncodedString()
        case .list(let elements): elements.map(\.sortKey).joined(separator: "\u{1F}")
        case .record(let entries): entries.map { $0.name + "\u{1E}" + $0.value.sortKey }.joined(separator: "\u{1F}")
        }
    }
}

/// Walks a value and returns its structure.
struct FieldTreeBuilder {
    let depthLimit: Int
    var keys = FieldReflection.KeyStrategy.asDeclared
    var dates = FieldReflection.DateStrategy.iso8601
    /// Whether `Data` is read as bytes; otherwise it is an error, since it has no text.
    var readsBytes = false

    /// The name of a property's field.
    func name(_ name: String, at path: FieldPath) -> String {
        keys.isIdentity ? name : keys.name(name, at: path.codingPath)
    }

    func tree(of value: Any, at path: FieldPath, depth: Int) throws -> FieldTree {
        if let text = value as? String { return .text(text) }
        guard depth <= depthLimit else { throw ReflectionError(.tooDeep(limit: depthLimit), at: path, type: type(of: value)) }
        if readsBytes, let data = value as? Data { return .bytes(data) }
        if !dates.isDefault, let date = value as? Date { return try dates.tree(of: date, at: path, depth: depth, by: self) }
        switch TypePlan.plan(for: value) {
        case .leaf(let text):
            do {
                return .text(try text(value))
            } catch {
                throw ReflectionError(error, at: path, type: type(of: value))
            }
        case .wrapper(let unwrap):
            guard let inner = unwrap(value) else { return .missing }
            return try tree(of: inner, at: path, depth: depth + 1)
        case .list(let elements): return try list(elements(value), at: path, depth: depth)
        case .set(let elements): return try set(elements(value), at: path, depth: depth)
        case .pairs(let pairs, let areOrdered): return try record(pairs(value), areOrdered: areOrdered, at: path, depth: depth)
        case .encodable(let isEnum):
            guard let encodable = value as? any Encodable else { throw ReflectionError(.noText, at: path, type: type(of: value)) }
            let tree = try FieldEncoder.tree(of: encodable, at: path, depth: depth, by: self)
            if isEnum, tree.isBareCase { throw ReflectionError(.enumWithoutRawValue, at: path, type: type(of: value)) }
            return tree
        case .mirrored(let labels): return try mirrored(value, labels: labels, at: path, depth: depth)
        case .refused(let problem): throw ReflectionError(problem, at: path, type: type(of: value))
        }
    }

    private func list(_ elements: [Any], at path: FieldPath, depth: Int) throws -> FieldTree {
        var trees: [FieldTree] = []
        trees.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            trees.append(try tree(of: element, at: .index(index, path), depth: depth + 1))
        }
        return .list(trees)
    }

    private func set(_ elements: [Any], at path: FieldPath, depth: Int) throws -> FieldTree {
        guard case .list(let trees) = try list(elements, at: path, depth: depth) else { return .list([]) }
        return .list(trees.map { (key: $0.sortKey, tree: $0) }.sorted { $0.key < $1.key }.map(\.tree))
    }

    private func record(_ pairs: [(key: Any, value: Any)], areOrdered: Bool, at path: FieldPath, depth: Int) throws -> FieldTree {
        var entries: [(name: String, value: FieldTree)] = []
        entries.reserveCapacity(pairs.count)
        for pair in pairs {
            guard case .text(let name) = try tree(of: pair.key, at: path, depth: depth + 1) else {
                throw ReflectionError(.noText, at: path, type: type(of: pair.key))
            }
            entries.append((name, try tree(of: pair.value, at: .key(name, path), depth: depth + 1)))
        }
        return .record(areOrdered ? entries : entries.sorted { $0.name < $1.name })
    }
}

extension FieldTreeBuilder {
    private func mirrored(_ value: Any, labels: [PropertyLabel]?, at path: FieldPath, depth: Int) throws -> FieldTree {
        let mirror = Mirror(reflecting: value)
        let properties = mirror.properties
        switch mirror.displayStyle {
        case .collection: return try list(properties.map(\.value), at: path, depth: depth)
        case .set: return try set(properties.map(\.value), at: path, depth: depth)
        case .dictionary:
            let pairs = properties.compactMap { property -> (key: Any, value: Any)? in
                let halves = Array(Mirror(reflecting: property.value).children)
                return halves.count == 2 ? (halves[0].value, halves[1].value) : nil
            }
            return try record(pairs, areOrdered: false, at: path, depth: depth)
        default: break
        }
        var entries: [(name: String, value: FieldTree)] = []
        entries.reserveCapacity(properties.count)
        for (index, property) in properties.enumerated() {
            let label = labels.flatMap { $0.count == properties.count ? $0[index] : nil } ?? PropertyLabel(property.label)
            entries.append(try entry(label, property.value, at: path, depth: depth + 1))
        }
        return .record(entries)
    }

    private func entry(_ label: PropertyLabel, _ value: Any, at path: FieldPath, depth: Int) throws -> (name: String, value: FieldTree) {
        let inner = FieldPath.key(label.name, path)
        switch label.kind {
        case .plain: break
        case .unlabelled: throw ReflectionError(.unlabelledElement, at: inner, type: type(of: value))
        case .lazy:
            if (value as? any OptionalValue)?.wrapped == nil { throw ReflectionError(.lazyNotComputed, at: inner, type: type(of: value)) }
        case .underscored:
            let name = String(label.name.dropFirst())
            switch TypePlan.plan(for: value) {
            case .mirrored:
                guard let wrapped = Mirror(reflecting: value).wrappedValue else { break }
                return (self.name(name, at: path), try tree(of: wrapped, at: .key(name, path), depth: depth))
            case .encodable:
                if Mirror(reflecting: value).wrappedValue == nil { break }
                return (self.name(name, at: path), try tree(of: value, at: .key(name, path), depth: depth))
            default: break
            }
        }
        return (name(label.name, at: path), try tree(of: value, at: inner, depth: depth))
    }
}
