import WebServiceClient

/// The names of the objects that were read from a payload, so that objects with the same names in the same order share them.
///
/// The names of an object are compared byte for byte in the payload: for known names, no text is made.
struct EntityNamesCache: Sendable {
    private var known: [UInt64: EntityNames] = [:]
    /// The size of the known names in bytes.
    private var size = 0

    /// The bounds of what is kept, because a payload may have any number of objects, each with other names.
    private static let greatestCount = 256
    private static let greatestSize = 1 << 18

    /// Returns the names of an object.
    ///
    /// - Throws: ``Repetition`` if the object has a name twice, spelled in two canonically equivalent forms.
    mutating func names(of object: JSONNode) throws(Repetition) -> EntityNames {
        guard object.count > 0 else { return EntityNames() }
        let mark = object.markOfNames
        if let names = known[mark], object.hasNames(names.list) { return names }
        let names = try Self.read(object)
        remember(names, mark)
        return names
    }

    private static func read(_ object: JSONNode) throws(Repetition) -> EntityNames {
        var names = EntityNames()
        names.reserve(object.count)
        for name in object.names {
            guard names.position(of: name) == nil else { throw Repetition(name: name) }
            names.append(name)
        }
        return names
    }

    private mutating func remember(_ names: EntityNames, _ mark: UInt64) {
        let length = names.list.reduce(0) { $0 + 16 + $1.utf8.count }
        guard length < Self.greatestSize else { return }
        if known.count >= Self.greatestCount || size + length > Self.greatestSize {
            known = [:]
            size = 0
        }
        // Different names seldom have the same mark, and then only the later ones are known.
        known[mark] = names
        size += length
    }

    /// A name that an object has twice.
    struct Repetition: Error {
        let name: String
    }
}

extension PayloadSettings {
    /// Returns the names of an object.
    func names(of object: JSONNode) -> [String] {
        names.withLock { names in (try? names.names(of: object))?.list } ?? object.names
    }

    /// Returns the tree of a value.
    ///
    /// - Throws: The errors of ``ODataValue/init(_:_:)``.
    func tree(_ node: JSONNode) throws -> ODataValue {
        guard node.isObject || node.isArray else {
            var none = EntityNamesCache()
            return try ODataValue(node, &none)
        }
        // Taken out, because a tree takes too long for the body of a lock. Concurrent calls begin without known names.
        var names = self.names.withLock { names in
            defer { names = EntityNamesCache() }
            return names
        }
        defer { self.names.withLock { [names] in $0 = names } }
        return try ODataValue(node, &names)
    }
}
