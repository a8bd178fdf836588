/// Where a value stands in an argument: keys and indices from the outside in, linked from the inside out.
indirect enum FieldPath: CustomStringConvertible {
    case root
    case key(String, FieldPath)
    case index(Int, FieldPath)

    /// The path as a person writes it: `filter.tags[2]`.
    var description: String {
        switch self {
        case .root: ""
        case .key(let name, .root): name
        case .key(let name, let parent): parent.description + "." + name
        case .index(let index, let parent): parent.description + "[\(index)]"
        }
    }

    /// The same as coding keys, for types that look at their encoder's path.
    var codingPath: [any CodingKey] {
        switch self {
        case .root: []
        case .key(let name, let parent): parent.codingPath + [FieldKey(stringValue: name)]
        case .index(let index, let parent): parent.codingPath + [FieldKey(intValue: index)]
        }
    }
}

/// A coding key of any name or index.
struct FieldKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
