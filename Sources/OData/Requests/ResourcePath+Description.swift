extension ResourcePath: CustomStringConvertible {
    /// The path for people, without keys and other values.
    public var description: String {
        route
    }

    /// What the resource is called in errors, logs and metrics: its path without values, so that there are few of them.
    var route: String {
        var text = ""
        for (index, segment) in segments.enumerated() {
            if index > 0, segment.isOwnStep { text += "/" }
            text += segment.route
        }
        return text
    }
}

extension ResourcePath.Segment {
    /// Whether a `/` stands before the segment, where it isn't the first.
    var isOwnStep: Bool {
        if case .key = self { false } else { true }
    }

    fileprivate var route: String {
        switch self {
        case .raw(let text): Self.withoutKeys(text)
        case .name(let name), .cast(let name), .operation(let name): name
        case .function(let name, let parameters): name + (parameters.isEmpty ? "()" : "(…)")
        case .key: "(…)"
        case .keySegment, .index: "…"
        case .filter: "$filter(…)"
        case .each: "$each"
        case .count: "$count"
        case .value: "$value"
        case .ref: "$ref"
        case .query: "$query"
        case .allEntities: "$all"
        case .crossjoin(let names): "$crossjoin(" + names.joined(separator: ",") + ")"
        case .entity: "$entity"
        case .metadata: "$metadata"
        case .batch: "$batch"
        case .invalid: "?"
        }
    }

    /// `People('ada')/Trips` as `People(…)/Trips`.
    private static func withoutKeys(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var depth = 0
        var isQuoted = false
        for character in text.unicodeScalars {
            if character == "'" { isQuoted.toggle() }
            let isSyntax = !isQuoted && character != "'"
            if isSyntax, character == ")" { depth = max(0, depth - 1) }
            if depth == 0, !isQuoted, character != "'" { result.append(character) }
            if isSyntax, character == "(" {
                if depth == 0 { result.append("…" as Unicode.Scalar) }
                depth += 1
            }
        }
        return String(result)
    }
}
