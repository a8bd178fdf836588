extension JSONDocument {
    /// The place to which names, as they stand in the text, and indices lead.
    ///
    /// - Throws: ``SerializationError`` that tells how far they led, and what there is instead.
    func place(at path: [String]) throws -> JSONPlace {
        var place = JSONPlace.root
        for (depth, name) in path.enumerated() {
            guard let next = try child(name, of: place.index, path, depth) else {
                throw Self.missing(path, depth, found: "there are \(SerializationError.list(ofKeys: rawNames(ofObjectAt: place.index)))")
            }
            place = next
        }
        return place
    }

    private func child(_ name: String, of node: Int, _ path: [String], _ depth: Int) throws -> JSONPlace? {
        switch word(node).kind {
        case .object:
            return findRaw(name, inObjectAt: node).map { JSONPlace(node: $0 + 1, container: node) }
        case .array:
            let count = word(node + 1).high
            guard let index = Int(name) else {
                throw Self.missing(path, depth, found: "there is an array of \(count): use an index, such as 0")
            }
            guard index >= 0, index < count else { throw Self.missing(path, depth, found: "there is an array of \(count), counted from 0") }
            var element = node + JSONWord.arrayHead
            for _ in 0..<index { element = end(ofValueAt: element) }
            return JSONPlace(node: element, container: node, number: index)
        case let kind:
            let found = kind == .null ? "null" : "a simple value"
            throw Self.missing(path, depth, found: "there is \(found), neither an object nor an array")
        }
    }

    private static func missing(_ path: [String], _ depth: Int, found: String) -> SerializationError {
        .missingRoot(path, after: depth, found: found)
    }
}
