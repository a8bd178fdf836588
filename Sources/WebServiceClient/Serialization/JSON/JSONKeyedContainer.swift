/// The members of an object by their names as they stand in the text.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol, JSONMembers {
    let document: JSONDocument
    let node: Int

    init(_ document: JSONDocument, _ node: Int) {
        self.document = document
        self.node = node
    }

    var allKeys: [Key] {
        var keys: [Key] = []
        var index = node + JSONWord.objectHead
        while index < document.word(node + 1).low {
            if let key = Key(stringValue: document.string(document.word(index))) { keys.append(key) }
            index = document.end(ofValueAt: index + 1)
        }
        return keys
    }

    @inline(__always) func find(_ name: String) -> Int? { document.find(name, inObjectAt: node) }
}
