import WebServiceClient

/// Where in a payload a value is.
indirect enum PayloadPlace {
    case top
    case key(any CodingKey, in: PayloadPlace)
    /// Where a reader of the text stands.
    case within(any Decoder)

    var path: [any CodingKey] {
        var path: [any CodingKey] = []
        var place = self
        while case .key(let key, let outer) = place {
            path.append(key)
            place = outer
        }
        if case .within(let decoder) = place { return decoder.codingPath + path.reversed() }
        return path.reversed()
    }

    /// The contexts of the objects around the place where a reader of the text stands.
    var contexts: [String] {
        var place = self
        while case .key(_, let outer) = place { place = outer }
        if case .within(let decoder) = place { return JSONNode(decoder)?.contexts(withOwn: false) ?? [] }
        return []
    }
}
