/// Metadata in a form that Elasticsearch accepts: it reads a name as a path in which each dot begins an object, and rejects a document in
/// which one field is both a value and an object.
///
/// The first pass over the metadata builds a tree of all fields, the second gives each value its name. Both take linear time.
struct ElasticsearchFields {
    /// A field, identified by its parent and its name.
    private struct Key: Hashable {
        let parent: Int
        let name: String
    }

    private struct Field {
        /// Whether other fields are below it.
        var isObject = false
        /// Whether a name that needs no change refers to it.
        var isNamed = false
        /// Whether a value has been written to it.
        var isWritten = false
        /// The number of other names that were derived from this one.
        var copies = 0

        var isTaken: Bool { isObject || isNamed || isWritten }
    }

    private var fields = [Field()]
    private var positions: [Key: Int] = [:]

    private init() {}

    /// Converts the metadata of a record.
    static func written(_ metadata: LogMetadata) -> LogMetadata {
        needsTree(metadata, depth: 0) ? document(metadata, depth: 0) : finite(metadata, depth: 0)
    }

    private static func document(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        var tree = ElasticsearchFields()
        tree.note(metadata, below: 0, depth: depth)
        return tree.placed(metadata, below: 0, depth: depth)
    }

    /// Renames metadata so that no name collides with the existing fields `own`, which keep their names.
    static func avoiding(_ own: LogMetadata, _ metadata: LogMetadata) -> LogMetadata {
        var tree = ElasticsearchFields()
        tree.note(own, below: 0, depth: 0)
        _ = tree.placed(own, below: 0, depth: 0)
        // JSON can't have the same object twice: values for an existing object are written with their full paths.
        let flat = metadata.flatMap { pair -> [(String, LogValue)] in
            guard own[pair.key] != nil, case .dictionary(let values) = pair.value else { return [(pair.key, pair.value)] }
            return FlatMetadata.pairs(of: values).map { ("\(pair.key).\($0.name)", $0.value) }
        }
        var names = UniqueNames()
        let rest = LogMetadata(flat.map { name, value in (names.name(for: tree.name(name, of: value, avoidingValuesBelow: 0)), value) })
        tree.note(rest, below: 0, depth: 0)
        return tree.placed(rest, below: 0, depth: 0)
    }

    // MARK: Names

    private static func isBlank(_ part: some StringProtocol) -> Bool { part.allSatisfy(\.isWhitespace) }

    /// Whether the name is the path of a single field: it has no dots and isn't blank. Most names pass the first check.
    private static func isPlain(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.first ?? 0x20 <= 0x20 || bytes.first ?? 0 >= 0x80 || bytes.contains(UInt8(ascii: ".")) else { return true }
        return !bytes.contains(UInt8(ascii: ".")) && !isBlank(name)
    }

    /// The parts of a name. Blank parts, which Elasticsearch rejects, become `_`.
    private static func parts(of name: String) -> (parts: [String], isChanged: Bool) {
        if isPlain(name) { return ([name], false) }
        var isChanged = false
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map { part in
            guard isBlank(part) else { return String(part) }
            isChanged = true
            return "_"
        }
        return (parts, isChanged)
    }

    private static func needsTree(_ metadata: LogMetadata, depth: Int) -> Bool {
        metadata.contains { !isPlain($0.key) || needsTree($0.value, depth: depth) }
    }

    private static func needsTree(_ value: LogValue, depth: Int) -> Bool {
        guard depth < LogValue.maximumDepth else { return false }
        return switch value {
        case .dictionary(let values): needsTree(values, depth: depth + 1)
        case .array(let values): values.contains { needsTree($0, depth: depth + 1) }
        default: false
        }
    }

    // MARK: Collecting the fields

    private mutating func position(of name: String, below parent: Int) -> Int {
        let key = Key(parent: parent, name: name)
        if let position = positions[key] { return position }
        positions[key] = fields.count
        fields.append(Field())
        return fields.count - 1
    }

    private mutating func note(_ metadata: LogMetadata, below parent: Int, depth: Int) {
        for pair in metadata {
            let (parts, isChanged) = Self.parts(of: pair.key)
            var position = parent
            for part in parts {
                fields[position].isObject = true
                position = self.position(of: part, below: position)
            }
            // Names that change are placed last.
            guard !isChanged else { continue }
            fields[position].isNamed = true
            switch pair.value {
            case .dictionary(let values) where depth < LogValue.maximumDepth:
                fields[position].isObject = true
                note(values, below: position, depth: depth + 1)
            case .array(let values) where Self.hasObject(values, depth: depth): fields[position].isObject = true
            default: break
            }
        }
    }

    /// Whether the elements include an object. Elasticsearch flattens nested arrays.
    private static func hasObject(_ values: [LogValue], depth: Int) -> Bool {
        guard depth < LogValue.maximumDepth else { return false }
        return values.contains { value in
            switch value {
            case .dictionary: depth + 1 < LogValue.maximumDepth
            case .array(let values): hasObject(values, depth: depth + 1)
            default: false
            }
        }
    }

    // MARK: Naming the values

    private mutating func placed(_ metadata: LogMetadata, below parent: Int, depth: Int) -> LogMetadata {
        LogMetadata(
            metadata.map { pair -> (String, LogValue) in
                var (parts, isChanged) = Self.parts(of: pair.key)
                var above = parent
                for part in parts.dropLast() { above = position(of: part, below: above) }
                let last = parts.last ?? "_"
                var field = position(of: last, below: above)
                if isChanged, fields[field].isTaken {
                    parts[parts.count - 1] = copy(of: field, last, below: above)
                    field = position(of: parts[parts.count - 1], below: above)
                }
                switch pair.value {
                case .dictionary(let values) where depth < LogValue.maximumDepth:
                    fields[field].isWritten = true
                    fields[field].isObject = true
                    if isChanged { note(values, below: field, depth: depth + 1) }
                    return (parts.joined(separator: "."), .dictionary(placed(values, below: field, depth: depth + 1)))
                case .array(let values) where Self.hasObject(values, depth: depth): break
                default:
                    if fields[field].isObject {
                        let value = position(of: "value", below: field)
                        parts.append(fields[value].isTaken ? copy(of: value, "value", below: field) : "value")
                        fields[position(of: parts[parts.count - 1], below: field)].isWritten = true
                    } else if fields[field].isWritten, !isChanged {
                        parts[parts.count - 1] = copy(of: field, last, below: above)
                    }
                }
                fields[field].isWritten = true
                return (parts.joined(separator: "."), Self.finite(pair.value, depth: depth))
            })
    }

    /// Derives a new name from a field's name and reserves it.
    private mutating func copy(of field: Int, _ name: String, below parent: Int) -> String {
        while true {
            fields[field].copies += 1
            let count = fields[field].copies
            let candidate = count < 9 ? name + String(repeating: "_", count: count) : "\(name)_\(count)"
            guard positions[Key(parent: parent, name: candidate)] == nil else { continue }
            _ = position(of: candidate, below: parent)
            return candidate
        }
    }

    /// The name with `_` added to the first part of its path that is already a value, since a value has no fields. Also to the last part if
    /// the value is an array of objects and the field is already written, since JSON can't have it twice.
    private mutating func name(_ name: String, of value: LogValue, avoidingValuesBelow parent: Int) -> String {
        var (parts, _) = Self.parts(of: name)
        var position = parent
        for index in parts.indices {
            position = self.position(of: parts[index], below: position)
            guard fields[position].isWritten else { continue }
            let collides =
                if index < parts.count - 1 {
                    !fields[position].isObject
                } else {
                    switch value {
                    case .dictionary: !fields[position].isObject
                    case .array(let values): Self.hasObject(values, depth: 0)
                    default: false
                    }
                }
            guard collides else { continue }
            parts[index] += "_"
            break
        }
        return parts.joined(separator: ".")
    }

    /// Replaces NaN and the infinities with null: a numeric field accepts nulls but no texts.
    private static func finite(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        LogMetadata(metadata.map { ($0.key, finite($0.value, depth: depth)) })
    }

    private static func finite(_ value: LogValue, depth: Int) -> LogValue {
        switch value {
        case .double(let number) where !number.isFinite: .null
        case .array(let values) where depth < LogValue.maximumDepth: .array(values.map { finite($0, depth: depth + 1) })
        // An object in an array is renamed by itself.
        case .dictionary(let values) where depth < LogValue.maximumDepth:
            .dictionary(needsTree(values, depth: depth + 1) ? document(values, depth: depth + 1) : finite(values, depth: depth + 1))
        default: value
        }
    }
}
