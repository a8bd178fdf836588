/// The names of one object, converted by a strategy. Where two become one, the first is meant.
struct JSONConvertedNames {
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
        if members.count > 16 { table = Dictionary(members.map { ($0.name, $0.index) }) { first, _ in first } }
    }

    /// Each name once.
    var unique: [String] {
        var seen: Set<String> = []
        return members.map(\.name).filter { seen.insert($0).inserted }
    }

    /// The index of a name on the tape.
    func find(_ name: String) -> Int? {
        table.isEmpty ? members.first { $0.name == name }?.index : table[name]
    }
}
