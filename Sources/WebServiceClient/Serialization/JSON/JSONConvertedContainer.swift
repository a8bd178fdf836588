/// The members of an object by names that a strategy has converted. Where two become one, the first is meant.
struct JSONConvertedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol, JSONMembers {
    let document: JSONDocument
    let node: Int
    private let names: JSONConvertedNames

    init(_ document: JSONDocument, _ node: Int) {
        self.document = document
        self.node = node
        names = JSONConvertedNames(document, node)
    }

    var allKeys: [Key] { names.unique.compactMap { Key(stringValue: $0) } }

    @inline(__always) func find(_ name: String) -> Int? { names.find(name) }
}

/// The converted names of one object.
private final class JSONConvertedNames {
    private var members: [(name: String, index: Int)] = []
    /// The names of an object that has many.
    private var table: [String: Int] = [:]

    init(_ document: JSONDocument, _ node: Int) {
        members.reserveCapacity(document.word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < document.word(node + 1).low {
            members.append((document.convertedName(document.string(document.word(index)), in: node), index))
            index = document.end(ofValueAt: index + 1)
        }
        if members.count > 16 { table = Dictionary(members.enumerated().map { ($1.name, $0) }) { first, _ in first } }
    }

    var unique: [String] {
        var seen: Set<String> = []
        return members.map(\.name).filter { seen.insert($0).inserted }
    }

    func find(_ name: String) -> Int? {
        guard table.isEmpty else { return table[name].map { members[$0].index } }
        return members.first { $0.name == name }?.index
    }
}
